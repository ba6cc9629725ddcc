"""What is possible at the same time. The whole space of each choice is searched."""

from typing import Final

from delayer.series.rules.series import Overlap
from tests.model.net.state import Budget

SMALL: Final = {
    "events lost": Budget(lost=2, claims=2, minutes=5),
    "events lost, crashes": Budget(lost=1, claims=1, crashes=2, minutes=4),
    "two nets at a time": Budget(lost=1, claims=1, ticks=2, minutes=4),
    "overlap skip, events lost, crash": Budget(overlap=Overlap.SKIP, lost=1, claims=1, ends=1, crashes=1, minutes=4),
    "overlap skip, paused and resumed": Budget(
        overlap=Overlap.SKIP, lost=1, claims=1, ends=1, pauses=1, resumes=1, minutes=3
    ),
    "deleted": Budget(lost=1, claims=1, deletes=1, crashes=1, minutes=3),
}
BIG: Final = {
    "overlap skip, events lost, crash, longer": Budget(
        overlap=Overlap.SKIP, lost=1, claims=1, ends=1, crashes=1, minutes=5
    ),
    "paused and resumed": Budget(lost=1, claims=1, pauses=1, resumes=1, minutes=4),
    "overlap skip, paused and resumed, longer": Budget(
        overlap=Overlap.SKIP, lost=1, claims=1, ends=1, pauses=1, resumes=1, minutes=4
    ),
    "deleted, longer": Budget(lost=1, claims=2, deletes=1, crashes=1, minutes=4),
}
