"""Schedules the canary of each tick (ADR 0075)."""

from typing import Protocol

from attrs import frozen

from delayer.engines.ports import Clock, Observer
from delayer.records.ports import ScheduleTable
from delayer.recovery.rules import next_canary
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import SYSTEM_OWNER, Definition, Schedule


class IssuesSchedules(Protocol):
    """Gives a canary its id, as any other schedule gets one: the use case Ids."""

    def issue_for(self, point_in_time: Millis, definition: Definition, owner: str) -> Schedule:
        """As Ids."""
        ...


@frozen(kw_only=True)
class SendCanary:
    """One canary. It is put as the API puts a schedule; from there on it is treated like all the others."""

    clock: Clock
    ids: IssuesSchedules
    schedules: ScheduleTable
    observer: Observer
    period: Millis

    def __call__(self) -> None:
        """Raises nothing: a canary that is missing rings by itself, and the tick has schedules to sweep."""
        try:
            canary = next_canary(self.clock.now(), self.period)
            schedule = self.ids.issue_for(canary.point_in_time, canary.definition, SYSTEM_OWNER)
            self.schedules.put(schedule)
        except Exception as error:  # noqa: BLE001 - whatever it is, the tick must not fail because of it
            self.observer.warn("no canary", error=repr(error))
        else:
            self.observer.note("canary", schedule.id, path=canary.path, pointInTime=canary.point_in_time)
