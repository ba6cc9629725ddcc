"""A rule of recurrence: what `repeat` says, parsed and checked, and the same again as a document."""

from collections.abc import Callable, Hashable, Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from attrs import frozen

from delayer.recurrence.cron import Cron, parse_cron
from delayer.recurrence.duration import (
    MOMENTS,
    Calendar,
    Interval,
    format_wall,
    parse_duration,
    parse_first,
    parse_last,
    parse_wall,
)
from delayer.recurrence.eventbridge import check_names, is_foreign, parse_foreign_cron, parse_rate
from delayer.recurrence.terms import BadRule, BadText, OnMissed, RuleFault
from delayer.recurrence.zones import ALLOWED as ZONES
from delayer.recurrence.zones import check_zone
from delayer.schedule.instants import Millis, format_instant

FIELDS: Final = ("cron", "every", "timeZone", "anchor", "from", "until", "count", "onMissed", "dst")
WAYS: Final = 'either "cron": "0 9 * * MON-FRI" or "every": "PT15M"'
TEXTS: Final = {"cron": WAYS, "every": WAYS, "timeZone": ZONES}
MAX_COUNT: Final = 1_000_000
USUAL_ZONE: Final = "UTC"


class Gap(StrEnum):
    """Decides about a time that the wall clock leaves out when it is put forward."""

    SHIFT = "shift"  # the first instant after the change takes its place, once for all that are left out
    SKIP = "skip"


class ClockOverlap(StrEnum):
    """Which passes count when the wall clock is put back and shows the same times again."""

    FIRST = "first"
    BOTH = "both"


Pattern = Cron | Calendar | Interval
_Choice = TypeVar("_Choice", bound=StrEnum)
_Parsed = TypeVar("_Parsed")


@frozen(kw_only=True)
class RecurrenceRule:
    """Which times there are. The same rule has the same times, whenever it is asked."""

    pattern: Pattern
    time_zone: str = USUAL_ZONE
    start: Millis  # no time is before it, and `count` begins with it
    until: Millis | None = None  # the last instant that may be a time
    count: int | None = None  # of times in all, missed ones included
    on_missed: OnMissed = OnMissed.SKIP
    gap: Gap = Gap.SHIFT
    overlap: ClockOverlap = ClockOverlap.FIRST

    @property
    def rhythm(self) -> Hashable:
        """The same for two rules whose times are the same, but for where they begin and end."""
        pattern = self.pattern
        if isinstance(pattern, Interval):
            return pattern.rhythm
        return pattern.rhythm, self.time_zone, self.gap, self.overlap


def parse_rule(repeat: Any, now: Millis) -> RecurrenceRule:
    """The rule of a `repeat`. What begins with its creation begins after `now`. Raises BadRule with all faults.

    It is not asked here whether it has any time: `check_not_empty` does.
    """
    if not isinstance(repeat, Mapping):
        raise BadRule([RuleFault(field="", problem="not an object", allowed=WAYS)])
    reading = _Reading(repeat)
    rule = reading.rule(now)
    if reading.faults or rule is None:
        raise BadRule(reading.faults)
    return rule


def check_new(rule: RecurrenceRule) -> None:
    """Raises BadRule for what an earlier release accepted by mistake: a series that has it goes on (ADR 0143)."""
    text = rule.pattern.text
    try:
        if isinstance(rule.pattern, Cron) and is_foreign(text):
            check_names(text)
    except BadText as error:
        raise BadRule([RuleFault(field="cron", problem=error.problem, allowed=error.allowed)]) from error


def document_of(rule: RecurrenceRule) -> dict[str, Any]:
    """A `repeat` that says everything, so that the same rule is parsed from it at any time."""
    pattern = rule.pattern
    found: dict[str, Any] = {"cron" if isinstance(pattern, Cron) else "every": pattern.text}
    found["timeZone"] = rule.time_zone
    if isinstance(pattern, Interval):
        found["anchor"] = format_instant(pattern.anchor)
    if isinstance(pattern, Calendar):
        found["anchor"] = format_wall(pattern.anchor)
    found["from"] = format_instant(rule.start)
    if rule.until is not None:
        found["until"] = format_instant(rule.until)
    if rule.count is not None:
        found["count"] = rule.count
    return found | {"onMissed": rule.on_missed.value, "dst": {"gap": rule.gap.value, "overlap": rule.overlap.value}}


class _Reading:
    """Of one document: what is wrong is noted, so that all of it is told at once."""

    def __init__(self, repeat: Mapping[str, Any]) -> None:
        self._repeat = repeat
        self.faults = [
            RuleFault(field=str(name), problem="unknown field", allowed=", ".join(FIELDS))
            for name in repeat
            if name not in FIELDS
        ]

    def rule(self, now: Millis) -> RecurrenceRule | None:
        zone = self._text("timeZone", check_zone) or USUAL_ZONE
        start = self._text("from", lambda text: parse_first(text, zone))
        until = self._text("until", lambda text: parse_last(text, zone))
        if start is not None and until is not None and until < start:
            self._wrong("until", "before `from`", "an end that is after the beginning, like 2027-12-31")
        pattern = self._pattern(zone, format_instant(now) if start is None else str(self._repeat["from"]))
        count = self._count()
        on_missed = self._choice("onMissed", self._repeat, OnMissed, OnMissed.SKIP)
        gap, overlap = self._dst(Gap.SKIP if is_foreign(str(self._repeat.get("cron"))) else Gap.SHIFT)
        if pattern is None:
            return None
        return RecurrenceRule(
            pattern=pattern,
            time_zone=zone,
            start=now + 1 if start is None else start,
            until=until,
            count=count,
            on_missed=on_missed,
            gap=gap,
            overlap=overlap,
        )

    def _pattern(self, zone: str, begin: str) -> Pattern | None:
        ways = [name for name in ("cron", "every") if name in self._repeat]
        if len(ways) != 1:
            self._wrong(*(("every", "there is a `cron`, too", WAYS) if ways else ("", "neither cron nor every", WAYS)))
            return None
        text = str(self._repeat[ways[0]])
        if ways == ["every"] or text.startswith("rate("):
            return self._every(ways[0], text, zone, begin)
        if "anchor" in self._repeat:
            self._wrong("anchor", "cron has none", 'only beside `every`, like "every": "PT15M"')
        return self._text("cron", lambda text: parse_foreign_cron(text) if is_foreign(text) else parse_cron(text))

    def _every(self, field: str, text: str, zone: str, begin: str) -> Pattern | None:
        """Without an anchor it is counted from its beginning, as it is written: by the clock, if that is left out."""
        duration = self._text(field, parse_rate if is_foreign(text) else parse_duration)
        if duration is None:
            return None
        if duration.is_exact:
            anchor = self._text("anchor", lambda text: parse_first(text, zone))
            anchor = parse_first(begin, zone) if anchor is None else anchor
            return Interval(text=text, length=duration.exact, anchor=anchor)
        if "timeZone" not in self._repeat:
            self._wrong("timeZone", "missing: days and longer are counted by a wall clock", "Europe/Lisbon, or UTC")
        wall = self._text("anchor", lambda text: parse_wall(text, zone))
        wall = parse_wall(begin, zone) if wall is None else wall
        return Calendar(text=text, months=duration.months, days=duration.days, anchor=wall)

    def _count(self) -> int | None:
        count = self._repeat.get("count")
        if count is None or (isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= MAX_COUNT):
            return count
        self._wrong("count", "not a number of times", f"1 to {MAX_COUNT}, like 100")
        return None

    def _dst(self, usual: Gap) -> tuple[Gap, ClockOverlap]:
        dst = self._repeat.get("dst", {})
        if not isinstance(dst, Mapping) or set(dst) - {"gap", "overlap"}:
            self._wrong("dst", "not an object of `gap` and `overlap`", '{"gap": "shift", "overlap": "first"}')
            return usual, ClockOverlap.FIRST
        return self._choice("dst.gap", dst, Gap, usual), self._choice(
            "dst.overlap", dst, ClockOverlap, ClockOverlap.FIRST
        )

    def _choice(self, field: str, among: Mapping[str, Any], kind: type[_Choice], usual: _Choice) -> _Choice:
        value = among.get(field.rpartition(".")[2], usual.value)
        if value in [one.value for one in kind]:
            return kind(value)
        self._wrong(field, "unknown", ", ".join(one.value for one in kind))
        return usual

    def _text(self, field: str, parse: Callable[[str], _Parsed]) -> _Parsed | None:
        """Reads a text; None if there is none, or a bad one."""
        if field not in self._repeat:
            return None
        text = self._repeat[field]
        if not isinstance(text, str):
            self._wrong(field, "not a text", TEXTS.get(field, MOMENTS))
            return None
        try:
            return parse(text)
        except BadText as error:
            self._wrong(field, error.problem, error.allowed)
            return None

    def _wrong(self, field: str, problem: str, allowed: str) -> None:
        self.faults.append(RuleFault(field=field, problem=problem, allowed=allowed))
