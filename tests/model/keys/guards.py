"""Each rule of an idempotency key is taken out, one at a time. The search has to find what the rule prevents."""

from typing import Final

from tests.model.guard import Guard
from tests.model.keys.rules import Rules
from tests.model.keys.state import Budget

GUARDS: Final = (
    Guard(
        name="the key in the same transaction",
        what="a PUT dies before it has written the key, and its repeat replaces once more",
        without=Rules(together=False),
        possible=Budget(route="PUT", calls=2, crashes=1),
    ),
    Guard(
        name="only if there is no such key",
        what="of two equal PUTs the second takes the place of the first",
        without=Rules(only_if_none=False),
        possible=Budget(route="PUT", calls=2),
    ),
    Guard(
        name="looked up again before a refusal",
        what="of two equal PATCHes the second is told that the schedule has ended: by the first",
        without=Rules(looks_again=False),
        possible=Budget(route="PATCH", calls=2),
    ),
    Guard(
        name="the row says which call",
        what="another body is answered as if it had been done",
        without=Rules(compares=False),
        possible=Budget(route="PATCH", calls=1, others=1),
    ),
    Guard(
        name="the row has the answer",
        what="a repeat is answered by what is there now: 201 in place of 200",
        without=Rules(keeps=False),
        possible=Budget(route="PUT", calls=2),
    ),
)
