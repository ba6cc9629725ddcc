"""A limit of the attempts at a target, of an owner, or with a connection (ADR 0114, ADR 0115)."""

import re
from collections.abc import Iterable
from typing import Final

from attrs import evolve

from delayer.core.flow.block import Block, Kind
from delayer.core.flow.party import EVERY, Party, target_in
from delayer.core.flow.target import OF_A_HOST
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule import Schedule

CONNECTION: Final = "connection"  # before its name, in the place of a target; and the field that names it
FASTEST: Final = 1_000  # a second
MOST_AT_A_TIME: Final = 1_000
MOST: Final = 200  # limits: whatever fires reads them all

_UNITS: Final = {"s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}  # microseconds
_NAMES: Final = {"s": "a second", "m": "a minute", "h": "an hour"}
_RATE: Final = re.compile(r"([1-9][0-9]{0,6})/([smh])")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,3}")


class NoLimit(ValueError):
    """The text says no rate, or no number of attempts. The message says what does."""


def rate_written(text: str) -> int:
    """Microseconds from one attempt to the next; 0 for an empty text. Raises NoLimit."""
    if not text:
        return 0
    found = _RATE.fullmatch(text)
    every = _UNITS[found[2]] // int(found[1]) if found else 0
    if every < _UNITS["s"] // FASTEST:
        raise NoLimit(f"rate: {text!r}: give one like 10/s, 30/m or 100/h, from 1/h to {FASTEST}/s")
    return every


def concurrency_written(text: str) -> int:
    """Attempts at a time; 0 for an empty text. Raises NoLimit."""
    number = int(text) if _NUMBER.fullmatch(text) else 0
    if text and not 0 < number <= MOST_AT_A_TIME:
        raise NoLimit(f"concurrency: {text!r}: give how many attempts there may be at a time, 1 to {MOST_AT_A_TIME}")
    return number


def rate_shown(every: int) -> str:
    """As it is written; the smallest unit that gives a whole number, as nearly as it was given."""
    if not every:
        return ""
    unit, number = min(
        ((unit, size / every) for unit, size in _UNITS.items() if size >= every),
        key=lambda one: (abs(one[1] - round(one[1])) > 0.002 * one[1], _UNITS[one[0]]),
    )
    return f"{round(number)}/{unit}"


def limited(
    party: Party, now: Millis, every: int, by: str, over: Block | None = None, *, concurrency: int = 0
) -> Block:
    """What an operator's command writes."""
    block = Block(
        kind=Kind.LIMIT,
        party=party,
        revision=1,
        since=now,
        reason=reason_of(party, every, concurrency),
        every=every,
        concurrency=concurrency,
        by=by,
    )
    return block if over is None else evolve(block, since=over.since, revision=over.revision + 1)


def reason_of(party: Party, every: int, concurrency: int = 0) -> str:
    """What its owners read."""
    number, _, unit = rate_shown(every).partition("/")
    if not concurrency:
        return f"at most {number} {_NAMES[unit]} reach {_shown(party)}"
    at_a_time = f"at most {concurrency} attempt{'s' if concurrency > 1 else ''} at a time"
    return f"{at_a_time}{f', and {number} {_NAMES[unit]},' if every else ''} reach {_shown(party)}"


def _shown(party: Party) -> str:
    """A host without its type; nobody reads here whose limit it is."""
    if party.target == EVERY:
        return "the targets of this owner"
    kind, _, resource = party.target.partition(" ")
    return f"the targets of {party.target}" if kind == CONNECTION else resource or kind


def connection_in(definition: Definition) -> str:
    """The connection that its action names; empty if it names none."""
    return target_in(definition.action, CONNECTION) if definition.action_type == OF_A_HOST else ""


def parties_of(party: Party, schedule: Schedule) -> tuple[Party, ...]:
    """Those of its target and of its connection."""
    name = connection_in(schedule.definition)
    return (party, Party(owner=party.owner, target=f"{CONNECTION} {name}")) if name else (party,)


def of_connection(block: Block, party: Party, definition: Definition | None) -> Block:
    """A limit of the connection that a definition names, as one of this party; any other block as it is."""
    kind, _, name = block.party.target.partition(" ")
    is_its = kind == CONNECTION and block.kind is Kind.LIMIT and definition is not None
    return evolve(block, party=party) if is_its and definition and connection_in(definition) == name else block


def limits_about(blocks: Iterable[Block], parties: Iterable[Party]) -> tuple[Block, ...]:
    """The limits that count an attempt for one of these, the slowest first. A comeback is one, as long as it lasts."""
    known = tuple(parties)
    about = [
        block
        for block in blocks
        if (block.kind is Kind.LIMIT or block.is_comeback) and any(block.party.covers(party) for party in known)
    ]
    return tuple(sorted(about, key=lambda block: (-block.every, block.key)))
