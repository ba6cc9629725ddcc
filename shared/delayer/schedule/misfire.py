"""Decides about a schedule that is late: it fires all the same, or it is dropped by its own rule (ADR 0006)."""

import re
from typing import Final

import msgspec
from attrs import evolve, frozen

from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Malformed, Millis
from delayer.schedule.schedule import Definition

_DURATION: Final = re.compile(r"P(?:(\d{1,4})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9})S)?)?")
_UNITS: Final = (DAY, HOUR, MINUTE, SECOND)


class _Rule(msgspec.Struct):
    after: str
    do: str


@frozen
class Drop:
    """It is too late to fire, by its own rule."""

    reason: str


def decide_misfire(on_late: str, point_in_time: Millis, now: Millis) -> Drop | None:
    """Whether it is to be dropped now. `on_late` is the rule as JSON, empty if there is none: then nothing is dropped.

    Raises Malformed for a rule that the API would have refused.
    """
    last = last_instant(on_late, point_in_time)
    if last is None or now <= last:
        return None
    after = msgspec.json.decode(on_late, type=_Rule).after
    return Drop(f"{now - point_in_time} ms late; to be dropped after {after}")


def last_instant(on_late: str, point_in_time: Millis) -> Millis | None:
    """After it, it is dropped; None: never. Raises Malformed for a rule that the API would have refused."""
    if not on_late:
        return None
    try:
        rule = msgspec.json.decode(on_late, type=_Rule)
        after = duration(rule.after)
    except (msgspec.MsgspecError, ValueError) as error:
        raise Malformed(f"a rule for lateness that cannot be read: {error}") from error
    return point_in_time + after if rule.do == "drop" else None


def asked_for_again(definition: Definition, point_in_time: Millis, now: Millis) -> Definition:
    """A schedule that goes on after a redrive, or after the PATCH of a failed one, has no rule for lateness (ADR 0146).

    Whoever asks knows that it is late. The rule would drop it without an attempt, and its body would be deleted.
    """
    return evolve(definition, on_late="") if definition.on_late and point_in_time <= now else definition


def duration(text: str) -> Millis:
    """An ISO 8601 duration of days, hours, minutes and seconds, such as `PT1H30M`. Raises ValueError for another."""
    found = _DURATION.fullmatch(text)
    if not found or not any(found.groups()) or text.endswith("T"):
        raise ValueError(f"not a duration: {text!r}")
    return sum(int(number or 0) * unit for number, unit in zip(found.groups(), _UNITS, strict=True))
