"""How the attempts that one function makes at a time are shared among targets and owners (ADR 0113).

The rule is that of switches which share one buffer (dynamic thresholds, Choudhury and Hahne, 1998): whoever has much
may have no more than is still free. One target gets half at most, a second dead one a quarter, and so on, so that a
few of them leave room for all others. Nothing is shared with other functions for it, and nothing is written.
"""

from typing import Final

SLOTS: Final = 20  # attempts at a time: what a batch brings, and as many again while some of them take long
OWNER: Final = 4  # times the free slots: all targets of one owner together have four fifths at most


def has_room(of_party: int, of_owner: int, all_running: int) -> bool:
    """Whether one more attempt may begin, given how many of its target, of its owner and of all are under way."""
    free = SLOTS - all_running
    return of_party < free and of_owner < OWNER * free
