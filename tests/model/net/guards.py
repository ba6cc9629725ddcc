"""Each rule of the net is taken out, one at a time. The search has to find what it prevents."""

from typing import Any, Final

from attrs import evolve

from delayer.series.rules import upkeep as net
from delayer.series.rules.series import Cursor, SeriesState
from delayer.series.rules.stepping import AT_AN_END, Happened
from tests.model.guard import Guard
from tests.model.net.configurations import BIG, SMALL
from tests.model.net.rules import REAL


def _drops_paused(schedule_id: str, cursor: Cursor | None, happened: Happened | None) -> Any:
    if cursor and cursor.state is SeriesState.PAUSED and happened and happened.kind in AT_AN_END:
        return net.Fate.FORGET
    return net.decide_look(schedule_id, cursor, happened)


def _forgets_what_has_happened(schedule_id: str, cursor: Cursor | None, happened: Happened | None) -> Any:
    return net.Fate.FORGET if happened else net.decide_look(schedule_id, cursor, happened)


GUARDS: Final = (
    Guard(
        name="closed-late",
        what="a minute is closed as soon as it is over",
        without=evolve(REAL, closable_after=0),
        possible=SMALL["events lost"],
    ),
    Guard(
        name="clock-before-query",
        what="the net queries, and then asks whether the minute may be closed",
        without=evolve(REAL, asks_the_clock_first=False),
        possible=SMALL["events lost"],
    ),
    Guard(
        name="unsettled-is-filed-again",
        what="what nothing has happened to is left in its minute",
        without=evolve(REAL, files_again=False),
        possible=SMALL["events lost"],
    ),
    Guard(
        name="filed-before-the-watermark",
        what="the watermark is moved before what is left is filed again",
        without=evolve(REAL, files_before_the_watermark=False),
        possible=SMALL["events lost, crashes"],
    ),
    Guard(
        name="filed-before-forgotten",
        what="the row of an earlier look is deleted before the next one is written",
        without=evolve(REAL, files_before_it_forgets=False),
        possible=BIG["overlap skip, events lost, crash, longer"],
    ),
    Guard(
        name="filed-in-a-minute-to-come",
        what="it is filed again in the minute that is looked at",
        without=evolve(REAL, again_in=0),
        possible=SMALL["events lost"],
    ),
    Guard(
        name="paused-is-kept",
        what="what is paused is dropped once its occurrence has ended",
        without=evolve(REAL, decide_look=_drops_paused),
        possible=SMALL["overlap skip, paused and resumed"],
    ),
    Guard(
        name="asks-the-cursor",
        what="what something has happened to is dropped after the step, whatever became of that",
        without=evolve(REAL, decide_look=_forgets_what_has_happened),
        possible=SMALL["overlap skip, events lost, crash"],
    ),
)
