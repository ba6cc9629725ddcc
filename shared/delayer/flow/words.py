"""The words of operators' commands: whom a suspension or a limit is about, what it allows, and the row that says so."""

import re
from collections.abc import Mapping
from typing import Final

from attrs import evolve

from delayer.actions.rules.addresses import HOST, usual_resource
from delayer.flow.rules.block import EVERY, LONGEST_SHOWN, Block, BlockKind, Party, host_in, target_named
from delayer.flow.rules.limit import CONNECTION, OF_A_HOST
from delayer.schedule.instants import Millis

_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*)(:[0-9]{1,5})?")
_USUAL_PORTS: Final = re.compile(r":0*(80|443)\Z")
_SITE: Final = re.compile(r"[a-z]+://[^/?#@]*/?", re.IGNORECASE)  # a URL that has nothing but a host
_WRITTEN: Final = re.compile(r"(\[[^\]]*\]|[^/?#@:\s]+)(:[0-9]{1,5})?")
FASTEST: Final = 1_000  # a second
MOST_AT_A_TIME: Final = 1_000
MOST: Final = 200  # limits: whatever fires reads them all
_UNITS: Final = {"s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}  # microseconds
_NAMES: Final = {"s": "a second", "m": "a minute", "h": "an hour"}
_RATE: Final = re.compile(r"([1-9][0-9]{0,6})/([smh])")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,3}")


class NoTarget(ValueError):
    """The text names no target. The message says what does."""


def target_written(text: str, fair_by: Mapping[str, str]) -> str:
    """As rows have it; EVERY for an empty text. `fair_by` of each type as in ActionType. Raises NoTarget."""
    kind, _, resource = text.strip().partition(" ")
    if not kind:
        return EVERY
    if not resource:
        return _alone(kind, fair_by)
    if kind not in fair_by:
        raise NoTarget(f"there is no action type {kind!r}; the types are {_listed(fair_by)}")
    if not fair_by[kind]:
        raise NoTarget(f"all schedules of the type {kind} have one target: give {kind!r} alone")
    named = (_host if fair_by[kind].startswith(HOST) else _resource)(resource.strip())
    return target_named(kind, named[:LONGEST_SHOWN])


def _alone(word: str, fair_by: Mapping[str, str]) -> str:
    """A type whose schedules have one target, or a host; `:80` and `:443` behind a host say nothing."""
    if word not in fair_by:
        return target_named(OF_A_HOST, _host(word if "://" in word else _USUAL_PORTS.sub("", word)))
    if field := fair_by[word].removeprefix(HOST):
        raise NoTarget(f"{word} has many targets: give the one that is meant, as {word + ' ' + field.upper()!r}")
    return word


def _host(text: str) -> str:
    """Of a URL, or as it is. Raises NoTarget."""
    is_url = "://" in text
    found = host_in(text if is_url else f"https://{text}")
    if not _HOST.fullmatch(found) or not (is_url or _WRITTEN.fullmatch(text)):
        raise NoTarget(f"{text!r} is no host; give one like api.example.com or api.example.com:8443")
    if is_url and not _SITE.fullmatch(text):
        raise NoTarget(f"a target is a host with all its paths: to say so, give {found} instead of {text!r}")
    return found


def _resource(text: str) -> str:
    """A queue, a topic, a function. Raises NoTarget for a part of one."""
    found = usual_resource(text)
    if text.startswith(f"{found}:"):
        raise NoTarget(f"a target is a function with all its versions and aliases: give {found} instead of {text!r}")
    return found


def _listed(fair_by: Mapping[str, str]) -> str:
    return ", ".join(sorted(fair_by))


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
    """The row that an operator's command writes for a limit."""
    block = Block(
        kind=BlockKind.LIMIT,
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
    """The reason that owners read: how much may reach the party."""
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


def suspended(party: Party, now: Millis, reason: str, by: str) -> Block:
    """The row that an operator's command writes for a suspension."""
    return Block(kind=BlockKind.SUSPENSION, party=party, revision=1, since=now, reason=reason, by=by)
