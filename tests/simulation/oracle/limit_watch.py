"""What limits of rate allow, as an all-seeing eye has it: it counts attempts, and knows nothing of lines and turns."""

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen
from greenlet import getcurrent

from delayer.flow.rules.block import Block, BlockKind, Party
from delayer.ledger.model import LedgerRow
from delayer.schedule.instants import Millis
from delayer.schedule.messages import ExecutorMessage
from delayer.schedule.schedule import Schedule
from tests.simulation.engine.kernel import Invocation, Thread, current
from tests.simulation.oracle.invariant import Invariant
from tests.world import LEAD

if TYPE_CHECKING:
    from tests.simulation.oracle.flow_watch import FlowWatch

TOLERANCE: Millis = 101  # an attempt may begin so much later than its turn; and its turn is a whole millisecond


@frozen
class Begun:
    """An attempt, when it began."""

    at: Millis
    what: Any  # which attempt of which schedule, in which turn of this limit: a message that comes twice makes it twice


@define(eq=False)
class LimitWatch:
    """Of each limit: the attempts since all had to know of it."""

    flow: "FlowWatch"
    _begun: dict[tuple[str, Millis, int], list[Begun]] = field(factory=lambda: defaultdict(list))
    _claimed_in: dict[str, Invocation] = field(factory=dict)  # by fencing token

    # ------------------------------------------------------------ what happens

    def tried(self, message: ExecutorMessage, party: Party) -> None:
        """An attempt begins."""
        for limit in self._in_force(party, self.flow.asked_since(current().invocation)):
            turn = [slot.at for slot in message.slots if slot.line.startswith(f"{limit.key}#")]
            self._count(limit, Begun(self._now, (message.schedule.id, message.attempt, turn)))

    def claimed(self, row: LedgerRow) -> None:
        """For the first time."""
        thread = getcurrent()
        if isinstance(thread, Thread) and thread.invocation.function == "delayer-relay":
            self._claimed_in[row.fence] = thread.invocation

    def handed_over(self, body: str, fence: str, schedule: Schedule, party: Party) -> None:
        """What waits for its turn is not claimed before: else it could not be cancelled."""
        thread = getcurrent()
        if not isinstance(thread, Thread) or self._claimed_in.get(fence) is not thread.invocation:
            return
        since = self.flow.asked_since(thread.invocation)
        limits = self._in_force(party, since)
        if any(self._is_too_old(schedule, one) for one in limits):
            return  # its age counts from the first of them for which it has waited
        if not limits or self.flow.lately(party, since, frozenset(BlockKind) - {BlockKind.LIMIT}):
            return
        name, turns = self.flow.watch.name(schedule.id), turns_in(body)
        if not turns:
            self._fail(Invariant.WAITS, f"{name} is claimed, and has no turn: {limits[0].reason}")
        elif max(turns) > self._now + thread.invocation.skew + LEAD:
            self._fail(Invariant.WAITS, f"{name} is claimed {max(turns) - self._now} ms before its turn")

    # ------------------------------------------------------------ checks

    def _count(self, limit: Block, begun: Begun) -> None:
        """Of any two attempts, the later one is as much later as those between them take, but for what is tolerated."""
        tolerated = TOLERANCE + 2 * self.flow.watch.stack.weather.skew
        before = self._begun[limit.key, limit.since, limit.revision]
        if any(one.what == begun.what and begun.at - one.at <= tolerated for one in before):
            return
        before.append(begun)
        for position, one in enumerate(before):
            number = len(before) - position
            if begun.at - one.at + tolerated < (number - 1) * limit.every / 1000:
                self._fail(Invariant.LIMITED, f"{number} attempts in {begun.at - one.at} ms: {limit.reason}")
                return

    def _in_force(self, party: Party, since: Millis) -> list[Block]:
        """The limits that were the same at each moment since then."""
        there = self.flow.unchanged(party, since)
        return [block for block in there if (block.kind is BlockKind.LIMIT and block.every) or self.flow.is_pace(block)]

    def _is_too_old(self, schedule: Schedule, limit: Block) -> bool:
        """It is claimed to be given up."""
        return self.flow.is_too_old(schedule, max(schedule.point_in_time, limit.since))

    def _fail(self, invariant: Invariant, what: str) -> None:
        self.flow.watch.fail(invariant, what)

    @property
    def _now(self) -> Millis:
        return self.flow.watch.stack.kernel.now


def turns_in(body: str) -> list[Millis]:
    """The times of the turns that a message has."""
    slots: list[dict[str, Any]] = json.loads(body).get("slots", [])
    return [int(slot["at"]) for slot in slots]
