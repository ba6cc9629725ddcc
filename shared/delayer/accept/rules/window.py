"""Decides when a schedule is due, if not its client alone: a policy does (ADR 0096), or a flexible window.

The offset within a window spreads what would be due at once, and is the same for the same key.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec
from attrs import evolve

from delayer.schedule.instants import SECOND, Malformed, Millis, format_instant
from delayer.schedule.schedule import Definition

MAX_WINDOW_SECONDS: Final = 86_400


class _Named(msgspec.Struct):
    policy: str


_NAMED: Final = msgspec.json.Decoder(_Named)


@cache
def policies() -> Mapping[str, str]:
    """The JSON Schema of each policy, as JSON text, by its name. Those of this release: they are deployed with it."""
    return msgspec.json.decode(
        files("delayer.accept.rules").joinpath("policies.json").read_bytes(), type=dict[str, str]
    )


def policy_of(definition: Definition) -> str:
    """The name of the policy that decides its time. Raises Malformed if there is none."""
    return named_in(definition.when)


def named_in(when: str) -> str:
    """The same, of the JSON text alone."""
    try:
        return _NAMED.decode(when).policy
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Malformed(f"no policy decides its time: {error}") from error


class _Window(msgspec.Struct, rename={"opens": "from"}, omit_defaults=True):
    """As it is stored, and shown."""

    seconds: int
    opens: str = ""  # the time that was asked for; empty as long as it has none


_STORED: Final = msgspec.json.Decoder(_Window)


def offset(key: bytes, seconds: int) -> Millis:
    """From 0 up to, but not including, the length of the window. Even over all keys; steady for one.

    `key` is the random part of an id; of a series, its id: so the intervals of its occurrences stay the same.
    """
    if not 0 <= seconds <= MAX_WINDOW_SECONDS:
        raise ValueError(f"a window of {seconds} seconds: 0 to {MAX_WINDOW_SECONDS} are allowed")
    return spread_over(key, seconds * SECOND)


def spread_over(key: bytes, length: Millis) -> Millis:
    """The same for a length that is no window: from 0 up to, but not including it."""
    drawn = int.from_bytes(hashlib.sha256(key).digest()[:8], "big")
    return drawn * length >> 64


def within(definition: Definition, at: Millis, key: bytes) -> tuple[Millis, Definition]:
    """When it is due, and what is stored of its window: its length, and the time that was asked for, where it opens.

    A definition without a window, or whose time was moved into its window before, stays as it is. For a series: call
    it with the rule's time and the id of the series as key, before the occurrence is issued. Raises Malformed.
    """
    window = _window_of(definition)
    if window is None or window.opens:
        return at, definition
    return at + offset(key, window.seconds), _having(definition, _Window(window.seconds, format_instant(at)))


def reopened(definition: Definition) -> Definition:
    """The same definition before it has a time: for one that gets another. Raises Malformed."""
    window = _window_of(definition)
    return _having(definition, _Window(window.seconds)) if window else definition


def steady_offset(definition: Definition, key: bytes) -> Millis:
    """How long after its time it is due, as `within` has it for the same key. Raises Malformed."""
    return offset(key, seconds_of(definition))


def seconds_of(definition: Definition) -> int:
    """The length of its window; 0 if it has none. Raises Malformed."""
    window = _window_of(definition)
    return window.seconds if window else 0


def _window_of(definition: Definition) -> _Window | None:
    if not definition.window:
        return None
    try:
        return _STORED.decode(definition.window)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Malformed(f"not a window: {error}") from error


def _having(definition: Definition, window: _Window) -> Definition:
    return evolve(definition, window=msgspec.json.encode(window).decode())
