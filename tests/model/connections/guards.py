"""Each rule of a connection is taken out, one at a time. The search has to find what the rule prevents."""

from typing import Final

from tests.model.connections.rules import Rules
from tests.model.connections.state import Budget
from tests.model.guard import Guard

GUARDS: Final = (
    Guard(
        name="the row is the condition",
        what="the secret of a PUT that was overtaken is left over, as nobody noted it",
        without=Rules(conditional=False),
        possible=Budget(puts=2),
    ),
    Guard(
        name="the secret is of the condition",
        what="a PUT takes a row that was made again for the one that it has read, and leaves its secret over",
        without=Rules(by_secret=False),
        possible=Budget(puts=3, forced=1),
    ),
    Guard(
        name="a secret is noted before it is made",
        what="a PUT that dies leaves a secret that nobody knows",
        without=Rules(noted=False),
        possible=Budget(puts=1, crashes=1),
    ),
    Guard(
        name="a row names what is noted",
        what="a slow PUT names a secret that was swept",
        without=Rules(vouched=False),
        possible=Budget(puts=1),
    ),
    Guard(
        name="doomed before it is deleted",
        what="a PUT names the secret that a sweep is deleting",
        without=Rules(doomed_first=False),
        possible=Budget(puts=1),
    ),
    Guard(
        name="the new secret before the row",
        what="the row names a secret that is not there yet, or never",
        without=Rules(secret_first=False),
        possible=Budget(puts=1),
    ),
    Guard(
        name="the old secret after the row",
        what="the row names a secret that is not there any more",
        without=Rules(old_last=False),
        possible=Budget(puts=2),
    ),
    Guard(
        name="the old secret is noted with the row",
        what="a PUT that dies leaves the old secret, and nobody knows it",
        without=Rules(left_noted=False),
        possible=Budget(puts=2, crashes=1),
    ),
    Guard(
        name="a schedule is put together with the check",
        what="a schedule names a connection that was deleted since it was looked up",
        without=Rules(gate=False),
        possible=Budget(puts=1, deletes=1, posts=1),
    ),
    Guard(
        name="what replaces a schedule is checked, too",
        what="a DELETE sees the old schedule end, and not the new one",
        without=Rules(patched_too=False),
        possible=Budget(puts=1, deletes=1, posts=1, patches=1),
    ),
    Guard(
        name="closed before it is removed",
        what="a schedule that came after the look is without its connection",
        without=Rules(closes=False),
        possible=Budget(puts=1, deletes=1, posts=1),
    ),
    Guard(
        name="the row is read again",
        what="an attempt during a PUT finds no value, though there is one",
        without=Rules(reads_again=False),
        possible=Budget(puts=2, reads=1),
    ),
)
