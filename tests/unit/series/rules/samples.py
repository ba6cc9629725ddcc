"""A cursor, a definition and simple rules, to be changed by a test."""

from typing import Any

from attrs import evolve, frozen

from delayer.ledger.model import EventType
from delayer.schedule.instants import Millis
from delayer.series.rules.series import Cursor, RuleFailed, SeriesDefinition, SeriesState
from delayer.series.rules.stepping import Happened
from tests.samples import NOW, OWNER, a_definition, an_id

CURRENT = an_id()


@frozen
class Times:
    """A rule that is a list."""

    times: tuple[Millis, ...]

    def next_after(self, at: Millis) -> Millis | None:
        return next((one for one in self.times if one > at), None)


@frozen
class Every:
    """A rule without an end."""

    interval: Millis

    def next_after(self, at: Millis) -> Millis | None:
        return (at // self.interval + 1) * self.interval


class Broken:
    """A rule that fails."""

    def next_after(self, at: Millis) -> Millis | None:
        raise RuleFailed


def a_cursor(**changes: Any) -> Cursor:
    cursor = Cursor(series="s", owner=OWNER, state=SeriesState.ACTIVE, number=7, current=CURRENT, at=NOW)
    return evolve(cursor, **changes)


def a_series(**changes: Any) -> SeriesDefinition:
    return evolve(SeriesDefinition(owner=OWNER, repeat="{}", definition=a_definition()), **changes)


def happened(kind: EventType = EventType.CLAIMED, schedule_id: str = CURRENT) -> Happened:
    return Happened(schedule_id=schedule_id, kind=kind)
