"""The commands of operator-flow: show waiting schedules and why, suspend, release, close, limit (ADR 0110, 0114)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import evolve, frozen

from delayer.actions.rules.model import ActionType
from delayer.engines.ports import Clock, Observer, Queue, Unavailable
from delayer.flow.ports import Blocks, Lines
from delayer.flow.rules.block import EVERY, Block, BlockKind, Party
from delayer.flow.rules.limit import CONNECTION, MICROS, line_of
from delayer.flow.words import (
    MOST,
    NoLimit,
    NoTarget,
    concurrency_written,
    limited,
    rate_shown,
    rate_written,
    suspended,
    target_written,
)
from delayer.schedule.instants import SECOND, Millis, format_instant

LIMIT_ROUNDS: Final = 5  # rows change under a command only if other commands are at work
USAGE: Final = (
    'give {"command": "list"} '
    'or {"command": "suspend", "owner": "", "target": "", "reason": "<its owners read it>", "by": "<who you are>"} '
    'or {"command": "release" | "close", "owner": "", "target": "", "by": "<who you are>"} '
    'or {"command": "limit", "owner": "", "target": "" or "connection": "", "rate": "10/s", "concurrency": "5", '
    '"by": "<who you are>"} '
    'or {"command": "unlimit", "owner": "", "target": "" or "connection": "", "by": "<who you are>"} '
    'or {"command": "discard", "block": "<as list shows it>", "by": "<who you are>"}'
)
FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "list": frozenset(),
    "suspend": frozenset({"owner", "target", "reason", "by"}),
    "release": frozenset({"owner", "target", "by"}),
    "close": frozenset({"owner", "target", "by"}),
    "limit": frozenset({"owner", "target", "connection", "rate", "concurrency", "by"}),
    "unlimit": frozenset({"owner", "target", "connection", "by"}),
    "discard": frozenset({"block", "by"}),
}
LONGEST: Final[Mapping[str, int]] = {
    "owner": 2_048,
    "target": 2_048,
    "connection": 200,
    "rate": 20,
    "concurrency": 20,
    "reason": 200,
    "by": 200,
    "block": 200,
}
MOST_SUSPENSIONS: Final = 200  # suspensions: whatever fires reads them all
ROUNDS: Final = 5  # rows change under a command only if probes or other commands are at work


@frozen(kw_only=True)
class OperateLimits:
    """Each change is a compare-and-set, and a repeat does no harm."""

    clock: Clock
    blocks: Blocks
    lines: Lines
    observer: Observer

    def list(self, blocks: Sequence[Block]) -> Sequence[dict[str, Any]]:
        """Lists the limits among the blocks, and how far ahead their lines are booked. Raises Unavailable."""
        limits = [block for block in blocks if block.kind is BlockKind.LIMIT]
        ends = self.lines.line_ends() if limits else {}
        return [limit_shown(limit, ends, self.clock.now()) for limit in limits]

    def limit(self, party: Party, rate: str, concurrency: str, by: str) -> dict[str, Any]:
        """Takes the place of the limit before, with all that it said. Raises NoLimit, Unavailable."""
        every, at_a_time = rate_written(rate), concurrency_written(concurrency)
        if not every and not at_a_time:
            raise NoLimit(
                "rate: say how many attempts there may be, like 10/s, 30/m or 100/h; or concurrency: how many at a time"
            )
        for _ in range(LIMIT_ROUNDS):
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
        for _ in range(LIMIT_ROUNDS):
            there = [block for block in self._all() if block.party == party]
            if all(self.blocks.remove(block) for block in there):
                for block in there:
                    self._note("limit removed", block, by)
                return {"removed": [self._shown(block) for block in there]}
        raise NoLimit("others change the same limit all the time: repeat the command")

    def _all(self) -> Sequence[Block]:
        return [block for block in self.blocks.rows(latest=True).blocks if block.kind is BlockKind.LIMIT]

    def _shown(self, block: Block) -> dict[str, Any]:
        return limit_shown(block, self.lines.line_ends(), self.clock.now())

    def _note(self, what: str, block: Block, by: str) -> None:
        self.observer.note(what, target=block.party.target, block=block.key, reason=block.reason, by=by)


def party_of_connection(owner: str, target: str, connection: str) -> Party:
    """The party that a limit of a connection is about. Raises NoLimit."""
    if target:
        raise NoLimit("give a target or a connection, not both: an attempt may be under a limit of each")
    if owner == EVERY:
        raise NoLimit("connection: give its owner, too")
    return Party(owner=owner, target=f"{CONNECTION} {connection}")


def limit_shown(block: Block, ends: Mapping[str, int], now: Millis) -> dict[str, Any]:
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


class WrongCommand(ValueError):
    """A command that cannot be carried out; the text says why, and what is allowed."""


@frozen(kw_only=True)
class OperateFlow:
    """Commands on the blocks. Each change is a compare-and-set, and a repeat does no harm."""

    clock: Clock
    blocks: Blocks
    actions: Mapping[str, ActionType]  # by type
    delayer_queue: Queue
    observer: Observer
    limits: OperateLimits

    def __call__(self, event: Any) -> dict[str, Any]:
        """{"ok": true, "result": …}, or {"ok": false, "error": a sentence}. Never raises for a wrong command."""
        try:
            return {"ok": True, "result": self._carry_out(admitted(event))}
        except (WrongCommand, NoTarget, NoLimit, Unavailable) as error:
            return {"ok": False, "error": str(error)}

    def _carry_out(self, given: Mapping[str, str]) -> dict[str, Any]:
        if given["command"] == "list":
            return self.list()
        if given["command"] == "discard":
            return self.discard(given["block"], given["by"])
        party = self._party(given)
        if party == Party(owner=EVERY, target=EVERY):
            raise WrongCommand("give an owner, a target, or both: nothing suspends, releases or limits all at once")
        match given["command"]:
            case "suspend":
                return self.suspend(party, given["reason"], given["by"])
            case "release":
                return self.release(party, given["by"])
            case "limit":
                return self.limits.limit(party, given["rate"], given["concurrency"], given["by"])
            case "unlimit":
                return self.limits.unlimit(party, given["by"])
            case _:
                return self.close(party, given["by"])

    def _party(self, given: Mapping[str, str]) -> Party:
        if connection := given.get("connection"):
            return party_of_connection(given["owner"], given["target"], connection)
        return Party(owner=given["owner"], target=self._target(given["target"]))

    def list(self) -> dict[str, Any]:
        """Lists all blocks, and counts the messages in the delayer queue: nobody counts for whom they wait there (ADR
        0110).
        """
        rows, now = self.blocks.rows(latest=True), self.clock.now()
        blocks = _sorted(rows.blocks)
        return {
            "suspensions": [shown(block, now) for block in blocks if block.kind is BlockKind.SUSPENSION],
            "circuits": [
                shown(block, now) for block in blocks if block.kind is BlockKind.CIRCUIT and not block.is_over(now)
            ],
            "limits": self.limits.list(blocks),
            "malformed": sorted(rows.malformed),
            "delayerQueue": {"ready": self.delayer_queue.visible(), "delayed": self.delayer_queue.delayed()},
        }

    def suspend(self, party: Party, reason: str, by: str) -> dict[str, Any]:
        """Another reason takes the place of the one before; the time stays. Raises WrongCommand, Unavailable."""
        if not reason:
            raise WrongCommand("reason: say why; the owners of what waits read it")

        def once() -> dict[str, Any] | None:
            there = self._of(BlockKind.SUSPENSION)
            current = next((block for block in there if block.party == party), None)
            if current and current.reason == reason:
                return {"changed": False, "suspension": shown(current, self.clock.now())}
            if current is None and len(there) >= MOST_SUSPENSIONS:
                raise WrongCommand(f"there are {len(there)} suspensions: release some, or suspend the target for all")
            block = (
                evolve(current, revision=current.revision + 1, reason=reason, by=by)
                if current
                else suspended(party, self.clock.now(), reason, by)
            )
            if not self.blocks.change(block):
                return None
            self._note("suspended", block, by)
            return {"changed": True, "suspension": shown(block, self.clock.now())}

        return _settled(once)

    def release(self, party: Party, by: str) -> dict[str, Any]:
        """Removes exactly this suspension, and shows others because of which some of the same schedules wait.

        Raises WrongCommand, Unavailable.
        """

        def once() -> dict[str, Any] | None:
            there = self._of(BlockKind.SUSPENSION)
            released = [block for block in there if block.party == party]
            if not all(self._removed("released", block, by) for block in released):
                return None
            others = [block for block in there if block not in released and _overlap(block.party, party)]
            now = self.clock.now()
            return {
                "released": [shown(block, now) for block in released],
                "stillSuspended": [shown(block, now) for block in others],
            }

        return _settled(once)

    def close(self, party: Party, by: str) -> dict[str, Any]:
        """All circuits that this is about: of one owner, of one target, or of both. Raises as release does."""
        closed: list[Block] = []

        def once() -> dict[str, Any] | None:
            there = [block for block in self._of(BlockKind.CIRCUIT) if party.covers(block.party)]
            closed.extend(block for block in there if self._removed("circuit closed by command", block, by))
            if not {block.key for block in there} <= {block.key for block in closed}:
                return None
            return {"closed": [shown(block, self.clock.now()) for block in closed]}

        return _settled(once)

    def discard(self, key: str, by: str) -> dict[str, Any]:
        """A row that cannot be read, and no other. Raises WrongCommand, Unavailable."""
        rows = self.blocks.rows(latest=True)
        if key not in rows.malformed and any(block.key == key for block in rows.blocks):
            raise WrongCommand(f"{key} can be read: release it, or close it")
        is_gone = self.blocks.discard(key)
        if is_gone:
            self.observer.note("discarded", block=key, by=by)
        return {"discarded": [key] * is_gone}

    def _target(self, text: str) -> str:
        """Understands a target as `list` shows it, also if its type is not registered any more."""
        known = (block.party.target for block in self.blocks.rows(latest=True).blocks)
        if text in known and not text.startswith(f"{CONNECTION} "):
            return text
        return target_written(text, {kind: self.actions[kind].fair_by for kind in self.actions})

    def _of(self, kind: BlockKind) -> Sequence[Block]:
        return _sorted(block for block in self.blocks.rows(latest=True).blocks if block.kind is kind)

    def _removed(self, what: str, block: Block, by: str) -> bool:
        is_gone = self.blocks.remove(block)
        if is_gone:
            self._note(what, block, by)
        return is_gone

    def _note(self, what: str, block: Block, by: str) -> None:
        self.observer.note(what, target=block.party.target, block=block.key, by=by)


def admitted(event: Any) -> dict[str, str]:
    """The command and its texts; a text that is not given, or is null, is empty. Raises WrongCommand."""
    given: dict[str, Any] = event if isinstance(event, dict) else {}
    command = given.get("command")
    if not isinstance(command, str) or command not in FIELDS:
        raise WrongCommand(USAGE)
    if unknown := sorted(set(given) - FIELDS[command] - {"command"}):
        raise WrongCommand(f"{', '.join(unknown)}: unknown to {command}; {USAGE}")
    return {"command": command} | {name: _text(given, name) for name in sorted(FIELDS[command])}


def _text(given: Mapping[str, Any], name: str) -> str:
    text = "" if given.get(name) is None else given[name]
    if not (isinstance(text, str) and text.isprintable() and len(text) <= LONGEST[name]):
        raise WrongCommand(f"{name}: give at most {LONGEST[name]} printable characters")
    return text.strip()


def _sorted(blocks: Iterable[Block]) -> Sequence[Block]:
    return sorted(blocks, key=lambda block: (block.party.owner, block.party.target))


def _settled(once: Callable[[], dict[str, Any] | None]) -> dict[str, Any]:
    """Tries again until nobody else was faster, and returns the result."""
    for _ in range(ROUNDS):
        if (result := once()) is not None:
            return result
    raise WrongCommand("others change the same rows all the time: repeat the command")


def _overlap(one: Party, other: Party) -> bool:
    """Whether some schedules are of both."""
    owners, targets = {one.owner, other.owner} - {EVERY}, {one.target, other.target} - {EVERY}
    return len(owners) < 2 and len(targets) < 2


def shown(block: Block, now: Millis) -> dict[str, Any]:
    """A suspension or a circuit. Without `owner` it is about all owners, without `target` about all targets."""
    party = {"owner": block.party.owner, "target": block.party.target}
    texts = {**party, "reason": block.reason, "by": block.by}
    body: dict[str, Any] = {name: text for name, text in texts.items() if text}
    body["since"] = format_instant(block.since)
    if block.kind is BlockKind.CIRCUIT:
        body |= {"state": state_of(block, now), "until": format_instant(block.until), "pauses": block.pauses}
    return body | {"block": block.key}


def state_of(block: Block, now: Millis) -> str:
    """Of a circuit."""
    if block.is_comeback:
        return "coming back"
    if now < block.until:
        return "open"
    return "probing" if block.probe and now < block.probe_until else "to be probed"
