"""What an idempotency key promises: one schedule, and always the same answer."""

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from attrs import define, field

from delayer.accept.ports import RequestRow
from delayer.accept.use_cases.replace import Replaced
from delayer.ledger.model import LedgerRow
from delayer.schedule.schedule import Schedule
from tests.simulation.oracle.invariant import Invariant
from tests.simulation.story.plan import CHANGE

if TYPE_CHECKING:
    from tests.simulation.oracle.watch import Watch


@define(eq=False)
class Keys:
    """Each payload that is posted with a key tells which key it is."""

    watch: "Watch"
    answered: dict[str, tuple[str, str]] = field(factory=dict)  # the id and the payload of the first answer to a key
    changes: dict[str, tuple[str, str]] = field(factory=dict)  # new and old id, by the key of a PATCH or PUT
    successors: set[str] = field(factory=set)  # ids that took the place of another: they came by no POST
    _stored: dict[str, set[str]] = field(factory=lambda: defaultdict(set))  # ids, by key

    def wrote(self, row: LedgerRow) -> None:
        """The ledger has changed."""
        if row.replaced_by:
            self.successors.add(row.replaced_by)

    def stored(self, schedule: Schedule) -> None:
        """It is in the table."""
        key = key_in(schedule.definition.payload)
        if key and (key.startswith(CHANGE) or schedule.id not in self.successors):
            self._stored[key].add(schedule.id)
            if len(self._stored[key]) > 1:
                self.watch.fail(Invariant.ONE_KEY, f"{key} has made {len(self._stored[key])} schedules")

    def answered_again(self, key: str, schedule_id: str, payload: str) -> None:
        """A POST with a key that was answered before is accepted."""
        if (schedule_id, payload) != self.answered[key]:
            self.watch.fail(Invariant.ONE_KEY, f"{key} is answered with another schedule, or for another body")

    def answered_change(self, key: str, answer: object) -> bool:
        """Whether a PATCH or PUT with a key was answered as done before. Then it has to be answered the same again."""
        before = self.changes.get(key)
        match answer:
            case Replaced(schedule=new, previous=previous):
                now = (new.id, previous or "")
            case RequestRow(schedule_id=new_id, replaces=previous):
                now = (new_id, previous)
            case _:
                now = ("", "")
        if before and now != before:
            self.watch.fail(Invariant.ONE_KEY, f"{key} is answered otherwise than before, or refused")
        if now[0]:
            self.changes[key] = now
        return before is not None

    def answered_reused(self, key: str, payload: str) -> None:
        """A client was told that it has used the key for another body."""
        if key in self.answered and self.answered[key][1] == payload:
            self.watch.fail(Invariant.ONE_KEY, f"{key} is reported as used for another body, and is not")


def key_in(payload: str) -> str:
    """Empty if it was posted without one."""
    if not payload.startswith("{"):
        return ""
    key: str = json.loads(payload).get("key", "")
    return key
