"""Each rule of a turn is taken out, one at a time. The search has to find what it prevents."""

from typing import Final

from tests.model.guard import Guard
from tests.model.turns.rules import Rules
from tests.model.turns.state import Budget

GUARDS: Final = (
    Guard(
        name="calls are answered after the commit",
        what="an answer is heard of what never was",
        without=Rules(answers_last=False),
        possible=Budget(fails=1),
    ),
    Guard(
        name="what is taken up is on the disk",
        what="an attempt begins before its claim is committed",
        without=Rules(takes_what_is_there=False),
        possible=Budget(),
    ),
    Guard(
        name="claim and hand-over are one transaction",
        what="after a crash between them, nobody hands over",
        without=Rules(at_once=False),
        possible=Budget(crashes=1),
    ),
    Guard(
        name="memory changes after the commit",
        what="a message is taken up once more whose outcome was not committed",
        without=Rules(remembers_last=False),
        possible=Budget(fails=1),
    ),
    Guard(
        name="an outcome stays until it is written",
        what="one that was not committed is forgotten, and its message is somebody's for ever",
        without=Rules(outcome_stays=False),
        possible=Budget(fails=1),
    ),
    Guard(
        name="no attempt begins while nothing can be written",
        what="attempts are made whose outcomes nobody can write, and a crash repeats all of them",
        without=Rules(waits=False),
        possible=Budget(fails=1, cancels=True),
    ),
    Guard(
        name="a call has a key",
        what="a call whose answer was lost with the process makes a second schedule",
        without=Rules(is_keyed=False),
        possible=Budget(crashes=1),
    ),
    Guard(
        name="the next life takes up all messages",
        what="what a life had taken up that died is nobody's",
        without=Rules(begins_anew=False),
        possible=Budget(crashes=1),
    ),
    Guard(
        name="a message is deleted with its outcome",
        what="a crash in an attempt leaves a claim without a message",
        without=Rules(deletes_last=False),
        possible=Budget(crashes=1),
    ),
)
