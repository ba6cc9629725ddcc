"""What the net goes by, so that a rule can be taken out."""

from collections.abc import Callable

from attrs import frozen

from delayer.series.rules import upkeep as net
from tests.model.net.state import CLOSABLE_AFTER


@frozen(kw_only=True)
class Rules:
    """What the model asks for: the decision of the rules, and the order of the calls."""

    decide_look: Callable[..., net.Fate] = net.decide_look
    closable_after: int = CLOSABLE_AFTER
    again_in: int = 1  # minutes from now; 0: in the minute that is looked at
    files_again: bool = True  # what is not settled
    files_before_the_watermark: bool = True
    files_before_it_forgets: bool = True  # the row that led to it
    asks_the_clock_first: bool = True  # whether the minute may be closed; then it queries


REAL = Rules()
