"""Durations, as a person writes them: `10m`, `2h30m`, `1d`, or as in ISO 8601."""

import re
from datetime import timedelta
from typing import Final

ALLOWED: Final = "like 30s, 10m, 2h30m, 1d, 2w, or in ISO 8601 like PT10M, P1DT12H"
SECONDS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
LONGEST: Final = timedelta(days=365_000)

_NUMBER: Final = r"\d+(?:\.\d+)?"
_UNITS: Final = {
    "w": r"w|weeks?",
    "d": r"d|days?",
    "h": r"h|hours?|hrs?",
    "m": r"m|min|mins|minutes?",
    "s": r"s|secs?|seconds?",
    "ms": r"ms|millis|milliseconds?",
}
_WORDS: Final = re.compile(
    r"\s*+".join(rf"(?:(?P<{unit}>{_NUMBER})\s*+(?:{words})(?![a-z]))?" for unit, words in _UNITS.items()),
    re.IGNORECASE,
)
_ISO: Final = re.compile(
    rf"P(?:(?P<w>{_NUMBER})W)?(?:(?P<d>{_NUMBER})D)?"
    rf"(?:T(?=\d)(?:(?P<h>{_NUMBER})H)?(?:(?P<m>{_NUMBER})M)?(?:(?P<s>{_NUMBER})S)?)?",
    re.IGNORECASE,
)


class NotRead(ValueError):
    """The text does not say what it has to. What is said is for the person who wrote it."""


def duration(text: str) -> timedelta:
    """A length of time, 0 or more. Raises NotRead."""
    plain = text.strip()
    found = _ISO.fullmatch(plain) or _WORDS.fullmatch(plain)
    given = {unit: number for unit, number in found.groupdict().items() if number} if found else {}
    if not given:
        raise NotRead(f"{text!r} is no duration. It is written {ALLOWED}." + _hint(plain))
    try:
        length = timedelta(seconds=sum(float(number) * SECONDS[unit] for unit, number in given.items()))
    except OverflowError:
        length = LONGEST
    if length >= LONGEST:
        raise NotRead(f"{text!r} is longer than a thousand years.")
    return length


def _hint(text: str) -> str:
    return f" With a unit it is {text}s or {text}m." if text.isdecimal() else ""


def iso(length: timedelta) -> str:
    """In ISO 8601, in whole seconds: PT90S, P1D. Raises NotRead for a fraction of a second."""
    whole, fraction = divmod(length, timedelta(seconds=1))
    if fraction:
        raise NotRead("This duration has to be a number of whole seconds.")
    days, seconds = divmod(whole, 86_400)
    hours, minutes, seconds = seconds // 3600, seconds % 3600 // 60, seconds % 60
    time = "".join(f"{number}{unit}" for number, unit in ((hours, "H"), (minutes, "M"), (seconds, "S")) if number)
    date = f"{days}D" if days else ""
    return f"P{date}T{time}" if time else f"P{date}" if date else "PT0S"
