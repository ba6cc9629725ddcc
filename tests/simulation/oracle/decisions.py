"""What is accepted without a time gets one, once, and none after a cancel."""

from typing import TYPE_CHECKING

from attrs import define, evolve, field

from delayer.ledger.model import LedgerRow, State
from delayer.schedule.schedule import Schedule
from tests.simulation.oracle.invariant import Invariant

if TYPE_CHECKING:
    from tests.simulation.oracle.watch import Watch


@define(eq=False)
class Decisions:
    """Of the schedules whose time a policy decides."""

    watch: "Watch"
    accepted_as: dict[str, str] = field(factory=dict)  # the id without a time, by the id of the one with its time

    def wrote(self, row: LedgerRow) -> None:
        """The ledger has changed: perhaps a time was decided. The schedule that has it is put after that."""
        if row.state is State.DECIDED:
            self.accepted_as[row.decided_as] = row.schedule_id

    def stored(self, schedule: Schedule) -> None:
        """It is in one of the tables."""
        watch, accepted_as = self.watch, self.accepted_as.get(schedule.id, "")
        asked = watch.accepted.get(accepted_as)
        if asked is None or schedule.id in watch.accepted:
            return
        name = watch.name(accepted_as)
        if accepted_as in watch.revoked:
            watch.fail(Invariant.CANCEL_TRUTH, f"{name} gets a time, though it was cancelled or replaced")
        if schedule.definition != evolve(asked.definition, when=""):
            watch.fail(Invariant.AS_ASKED, f"{name} has another definition since it has a time")
        chosen = getattr(watch.stack.choose(asked), "instant", 0)
        if schedule.point_in_time != chosen:
            watch.fail(Invariant.AS_ASKED, f"{name} has another time than its policy has chosen")
        watch.stack.log("policy", f"{name} has a time: {watch.name(schedule.id)}")
        watch.accepted[schedule.id], watch.accepted_at[schedule.id] = schedule, watch.stack.kernel.now
        for asked_for in (watch.asked, watch.stops.asked):
            if accepted_as in asked_for:
                asked_for.add(schedule.id)

    def ids_of(self, schedule_id: str) -> set[str]:
        """What a call with this id is about: also the schedule that has its time."""
        return {schedule_id, *(put for put, accepted in self.accepted_as.items() if accepted == schedule_id)}
