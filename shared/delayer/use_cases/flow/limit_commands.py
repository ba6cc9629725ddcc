"""The operator's commands on limits: sets, removes and shows them (ADR 0114, ADR 0115)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from delayer.core.flow.block import Block, Kind
from delayer.core.flow.party import EVERY, Party
from delayer.core.limits.limit import (
    CONNECTION,
    MOST,
    NoLimit,
    concurrency_written,
    limited,
    rate_shown,
    rate_written,
)
from delayer.core.limits.line import MICROS, line_of
from delayer.core.schedule.instants import SECOND, Millis, format_instant
from delayer.ports.clock import Clock
from delayer.ports.flow import Blocks
from delayer.ports.lines import ReadsLines
from delayer.ports.observer import Observer

ROUNDS: Final = 5  # rows change under a command only if other commands are at work


@frozen(kw_only=True)
class OperateLimits:
    """Each change is a compare-and-set, and a repeat does no harm."""

    clock: Clock
    blocks: Blocks
    lines: ReadsLines
    observer: Observer

    def list(self, blocks: Sequence[Block]) -> Sequence[dict[str, Any]]:
        """Those among the blocks, and how far ahead their lines are booked. Raises Unavailable."""
        limits = [block for block in blocks if block.kind is Kind.LIMIT]
        ends = self.lines.line_ends() if limits else {}
        return [shown(limit, ends, self.clock.now()) for limit in limits]

    def limit(self, party: Party, rate: str, concurrency: str, by: str) -> dict[str, Any]:
        """Takes the place of the limit before, with all that it said. Raises NoLimit, Unavailable."""
        every, at_a_time = rate_written(rate), concurrency_written(concurrency)
        if not every and not at_a_time:
            raise NoLimit(
                "rate: say how many attempts there may be, like 10/s, 30/m or 100/h; or concurrency: how many at a time"
            )
        for _ in range(ROUNDS):
            there = self._all()
            over = next((block for block in there if block.party == party), None)
            if over and (over.every, over.concurrency) == (every, at_a_time):
                return {"changed": False, "limit": self._shown(over)}
            if over is None and len(there) >= MOST:
                raise NoLimit(f"there are {len(there)} limits: remove some, or limit a target for all owners")
            block = limited(party, self.clock.now(), every, by, over, concurrency=at_a_time)
            if self.blocks.change(block):
                self._note("limited", block, by)
                return {"changed": True, "limit": self._shown(block)}
        raise NoLimit("others change the same limit all the time: repeat the command")

    def unlimit(self, party: Party, by: str) -> dict[str, Any]:
        """Exactly this limit. Raises NoLimit, Unavailable."""
        for _ in range(ROUNDS):
            there = [block for block in self._all() if block.party == party]
            if all(self.blocks.remove(block) for block in there):
                for block in there:
                    self._note("limit removed", block, by)
                return {"removed": [self._shown(block) for block in there]}
        raise NoLimit("others change the same limit all the time: repeat the command")

    def _all(self) -> Sequence[Block]:
        return [block for block in self.blocks.rows(latest=True).blocks if block.kind is Kind.LIMIT]

    def _shown(self, block: Block) -> dict[str, Any]:
        return shown(block, self.lines.line_ends(), self.clock.now())

    def _note(self, what: str, block: Block, by: str) -> None:
        self.observer.note(what, target=block.party.target, block=block.key, reason=block.reason, by=by)


def party_of_connection(owner: str, target: str, connection: str) -> Party:
    """Whom a limit of a connection is about. Raises NoLimit."""
    if target:
        raise NoLimit("give a target or a connection, not both: an attempt may be under a limit of each")
    if owner == EVERY:
        raise NoLimit("connection: give its owner, too")
    return Party(owner=owner, target=f"{CONNECTION} {connection}")


def shown(block: Block, ends: Mapping[str, int], now: Millis) -> dict[str, Any]:
    """Without `owner` it is about all owners, without `target` about all targets."""
    booked = max(ends.get(line_of(block), 0) - now * MICROS, 0)
    texts = {
        "owner": block.party.owner,
        "target": block.party.target,
        "rate": rate_shown(block.every),
        "reason": block.reason,
        "by": block.by,
    }
    body: dict[str, Any] = {name: text for name, text in texts.items() if text}
    if block.concurrency:
        body["concurrency"] = block.concurrency
    return body | {
        "since": format_instant(block.since),
        "bookedSeconds": -(-booked // (SECOND * MICROS)),
        "block": block.key,
    }
