"""Limits (ADR 0114, 0115): whom one is about, its line of turns, and what who is limited does."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from delayer.flow.rules.block import Block, BlockKind, Party, target_in
from delayer.schedule.instants import MAX_DELAY_SECONDS, SECOND, Millis
from delayer.schedule.messages import Slot
from delayer.schedule.schedule import Definition, Schedule

OF_A_HOST: Final = "http-request"  # what is meant by a host alone
CONNECTION: Final = "connection"  # before its name, in the place of a target; and the field that names it
MICROS: Final = 1_000  # in a millisecond
TOLERANCE: Final[Millis] = 100  # after its turn an attempt may begin so much later, and no more
PREPARE: Final[Millis] = 100  # before its turn: room in the function, and its row
MARGIN: Final[Millis] = SECOND  # by which a message that SQS delays is to come before its turn


def connection_in(definition: Definition) -> str:
    """The connection that its action names; empty if it names none."""
    return target_in(definition.action, CONNECTION) if definition.action_type == OF_A_HOST else ""


def parties_of(party: Party, schedule: Schedule) -> tuple[Party, ...]:
    """Returns the parties of its target and of its connection."""
    name = connection_in(schedule.definition)
    return (party, Party(owner=party.owner, target=f"{CONNECTION} {name}")) if name else (party,)


def of_connection(block: Block, party: Party, definition: Definition | None) -> Block:
    """A limit of the connection that a definition names, as one of this party; any other block as it is."""
    kind, _, name = block.party.target.partition(" ")
    is_its = kind == CONNECTION and block.kind is BlockKind.LIMIT and definition is not None
    return evolve(block, party=party) if is_its and definition and connection_in(definition) == name else block


def limits_about(blocks: Iterable[Block], parties: Iterable[Party]) -> tuple[Block, ...]:
    """The limits that count an attempt for one of these, the slowest first. A comeback is one, as long as it lasts."""
    known = tuple(parties)
    about = [
        block
        for block in blocks
        if (block.kind is BlockKind.LIMIT or block.is_comeback) and any(block.party.covers(party) for party in known)
    ]
    return tuple(sorted(about, key=lambda block: (-block.every, block.key)))


Micros = int  # since the epoch


@frozen(kw_only=True)
class Want:
    """A turn that is asked for."""

    earliest: Millis  # its schedule is not due before that
    latest: Millis  # after that it would be of no use


@frozen(kw_only=True)
class TurnPlan:
    """Which turns those who ask would have, if the line's next free turn were `base`."""

    base: Micros
    turns: tuple[Micros | None, ...]  # None: the line is longer than that one can wait
    end: Micros  # the line's next free turn then
    slack: Micros  # by how much later the line may begin, and all turns are of use still

    @property
    def first(self) -> Micros | None:
        """The first turn; None if nobody has one."""
        return next((turn for turn in self.turns if turn is not None), None)

    @property
    def at(self) -> list[Millis | None]:
        """The turns in whole milliseconds, never earlier than they are."""
        return [None if turn is None else -(-turn // MICROS) for turn in self.turns]


def plan(base: Micros, every: Micros, wants: Sequence[Want]) -> TurnPlan:
    """Each in order of `wants` takes the next turn that is not too early for it. Turns between them stay unused.

    If the line begins later than was thought, each turn comes later by at most that much. So whoever was refused
    nothing for an earlier `base` finds room in the same stretch of the line.
    """
    turns: list[Micros | None] = []
    cursor, slack = base, 10**18
    for want in wants:
        turn = max(cursor, want.earliest * MICROS)
        if turn > want.latest * MICROS:
            turns.append(None)
            continue
        turns.append(turn)
        slack = min(slack, want.latest * MICROS - turn)
        cursor = turn + every
    return TurnPlan(base=base, turns=tuple(turns), end=cursor, slack=slack)


def line_of(limit: Block) -> str:
    """Names its line. A limit that was changed, or set anew, begins another one."""
    return f"{limit.key}#{limit.since}.{limit.revision}"


@frozen(kw_only=True)
class Come:
    """Come again then: its turn is then, or nothing can be booked before."""

    at: Millis
    limit: Block
    has_turn: bool


@frozen(kw_only=True)
class Book:
    """Turns are to be booked on these, not before `earliest`."""

    limits: tuple[Block, ...]
    earliest: Millis


@frozen(kw_only=True)
class Near:
    """The turn of a message has come, on all lines."""


def held(slots: Sequence[Slot], limits: Sequence[Block], now: Millis) -> tuple[Slot, ...]:
    """The turns that may still be used: those of other limits, and those that were missed, are void."""
    lines = {line_of(limit) for limit in limits}
    return tuple(slot for slot in slots if slot.line in lines and slot.at + TOLERANCE >= now)


def turn_of(slots: Sequence[Slot], due: Millis) -> Millis:
    """When its attempt may be made, by the turns that it has."""
    return max([due, *(slot.at for slot in slots)])


def decide_turn(
    slots: Sequence[Slot], limits: Sequence[Block], ends: Mapping[str, int], due: Millis, now: Millis
) -> Come | Book | Near:
    """Decides the next step. `slots` are those that are held, `due` is when its attempt is due without any limit.

    `ends` are the ends of lines, as far as they are known.
    """
    turn = turn_of(slots, due)
    if slots and turn - now > PREPARE:
        return its_turn(slots, limits)
    fitting = {slot.line for slot in slots if slot.at + TOLERANCE >= turn}
    missing = tuple(limit for limit in limits if line_of(limit) not in fitting)
    if missing:
        return Book(limits=missing if fitting else (lead_of(limits, ends),), earliest=max(turn, now))
    return Near()


def lead_of(limits: Sequence[Block], ends: Mapping[str, int]) -> Block:
    """The one that is booked ahead: whose line is the longest as far as it is known, else the slowest."""
    return max(limits, key=lambda limit: (ends.get(line_of(limit), 0), limit.every))


def is_in_time(slots: Sequence[Slot], limits: Sequence[Block], now: Millis) -> bool:
    """Whether an attempt may begin now."""
    at = {slot.line: slot.at for slot in slots}
    return all(0 <= now - at.get(line_of(limit), now + 1) <= TOLERANCE for limit in limits)


def seconds_before(turn: Millis, now: Millis) -> int:
    """How long SQS is to delay the message of a turn: it comes before it, and waits for the rest."""
    return min(max((turn - now - MARGIN) // SECOND, 0), MAX_DELAY_SECONDS)


def its_turn(slots: Sequence[Slot], limits: Sequence[Block]) -> Come:
    """The last of its turns: it has one at least."""
    last = max(slots, key=lambda slot: slot.at)
    return Come(at=last.at, limit=next(limit for limit in limits if line_of(limit) == last.line), has_turn=True)
