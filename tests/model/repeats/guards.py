"""Each rule of a repeat is taken out, one at a time. The search has to find what the rule prevents."""

from typing import Final

from delayer_client.calls.call import Repeat
from tests.model.guard import Guard
from tests.model.repeats.rules import Rules
from tests.model.repeats.state import Budget

GUARDS: Final = (
    Guard(
        name="the id is kept over a lost answer",
        what="the name is looked up again, and a namesake is cancelled that somebody has made since",
        without=Rules(keeps=False),
        possible=Budget(route="cancel", tries=2, late=0, replaced=0),
    ),
    Guard(
        name="a DELETE by name is not repeated",
        what="its repeat cancels a namesake",
        without=Rules(by_name=Repeat.ALWAYS),
        possible=Budget(route="by name", tries=2, late=0, replaced=0),
    ),
    Guard(
        name="what can be turned back is not repeated",
        what="a series is paused again that somebody has resumed since",
        without=Rules(turned_back=Repeat.ALWAYS),
        possible=Budget(route="pause", tries=2, late=0, turned_back=1),
    ),
)
