"""What a stop and a rule for lateness promise: no attempt after the one, no claim after the other."""

import json
from typing import TYPE_CHECKING

from attrs import define, field

from delayer.ledger.model import LedgerRow, State
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.schedule import Schedule
from tests.simulation.oracle.invariant import Invariant

if TYPE_CHECKING:
    from tests.simulation.oracle.watch import Watch

AT_WORK: Millis = 85 * SECOND  # an executor that has read the ledger before the stop may still reach the target
BETWEEN: Millis = 15 * SECOND  # from the look at the rule for lateness to the claim, by a relay that is slow


@define(eq=False)
class Stops:
    """Of the schedules that somebody wants to stop, and of those that are too late by their own rule."""

    watch: "Watch"
    asked: set[str] = field(factory=set)  # a client has asked to stop them
    stopped: dict[str, Millis] = field(factory=dict)  # and was told so then
    redriven: set[str] = field(factory=set)  # after their time: from then on no rule drops them for being late

    def answered_stopped(self, schedule_id: str) -> None:
        """A client was told that no further attempt starts."""
        row = self._row(schedule_id)
        if row is None or not row.stopped_at:
            self._fail(schedule_id, "is reported as stopped, and is not")
        self.stopped.setdefault(row.schedule_id if row else schedule_id, self.watch.stack.kernel.now)

    def answered_too_early(self, schedule_id: str) -> None:
        """A client was told that it is not claimed yet."""
        row = self._row(schedule_id)
        if row is not None and row.state is not State.SCHEDULED:
            self._fail(schedule_id, "is reported as too early to be stopped, and is not")

    def reached(self, schedule_id: str, read: LedgerRow | None) -> None:
        """The target is reached by somebody who has read this row."""
        stopped_at = self.stopped.get(schedule_id)
        too_late = stopped_at is not None and self.watch.stack.kernel.now > stopped_at + AT_WORK
        if too_late or (read is not None and read.stopped_at):
            self._fail(schedule_id, "is attempted, though it was stopped")

    def wrote(self, old: LedgerRow | None, new: LedgerRow) -> None:
        """The ledger has changed."""
        if old is not None and old.stopped_at and not new.stopped_at:
            self._fail(new.schedule_id, "was stopped, and its row says so no more")
        schedule = self.watch.accepted.get(new.schedule_id)
        is_redriven = old is not None and old.ended and new.state is State.SCHEDULED
        if schedule and is_redriven and new.at >= schedule.point_in_time:
            self.redriven.add(new.schedule_id)

    def ended(self, schedule_id: str, row: LedgerRow) -> None:
        """Time has run out: what was stopped is not left to an operator."""
        if schedule_id in self.stopped and row.state is State.CANCELLED:
            self._fail(schedule_id, f"was stopped, and is {row.state}")

    def may_be_dropped(self, row: LedgerRow) -> bool:
        """Whether its owner, or the rule of its owner, is a reason for that."""
        schedule = self.watch.accepted[row.schedule_id]
        limit = self._limit_of(schedule)
        early = self.watch.stack.weather.skew
        return row.schedule_id in self.asked or (limit is not None and row.at + early > schedule.point_in_time + limit)

    def claimed(self, row: LedgerRow) -> None:
        """For the first time since it was put or redriven."""
        schedule = self.watch.accepted.get(row.schedule_id)
        limit = self._limit_of(schedule) if schedule else None
        if schedule and limit is not None and row.at > schedule.point_in_time + limit + BETWEEN:
            late = row.at - schedule.point_in_time
            name = self.watch.name(row.schedule_id)
            self.watch.fail(Invariant.DROPPED_WHEN_LATE, f"{name} is claimed {late} ms late, though it has a rule")

    def _limit_of(self, schedule: Schedule) -> Millis | None:
        return None if schedule.id in self.redriven else limit_of(schedule)

    def _row(self, schedule_id: str) -> LedgerRow | None:
        """Of one that was accepted without a time: that of the one which has it."""
        row = self.watch.stack.there.ledger.get(schedule_id)
        return self.watch.stack.there.ledger.get(row.decided_as) if row and row.decided_as else row

    def _fail(self, schedule_id: str, what: str) -> None:
        self.watch.fail(Invariant.STOPPED, f"{self.watch.name(schedule_id)} {what}")


def limit_of(schedule: Schedule) -> Millis | None:
    """How late it may be, as its client wrote it: read once more and by hand. None: as late as it gets."""
    if not schedule.definition.on_late:
        return None
    seconds: str = json.loads(schedule.definition.on_late)["after"]
    return int(seconds.removeprefix("PT").removesuffix("S")) * SECOND
