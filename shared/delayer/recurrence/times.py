"""The times of a rule, in order: strictly rising, and the same however they are asked for.

The clocks of a zone stand still between two changes, so wall times and instants are one to one there. What is left out
or shown twice lies at the beginning of such a span. It concerns rules at fixed hours: one that has times in every hour
follows the clock. It loses none and doubles none, because the hour after a gap has times of its own (ADR 0093).
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Final

from delayer.recurrence.cron import Cron
from delayer.recurrence.duration import LAST_WALL, Calendar, Interval
from delayer.recurrence.rule import ClockOverlap, Gap, RecurrenceRule
from delayer.recurrence.terms import BadRule, RuleFault
from delayer.recurrence.zones import Span, span_at, start_of_year
from delayer.schedule.instants import DAY, SECOND, Millis, format_instant

FAR: Final[Millis] = 3 * DAY  # no clock is put forward or back by more


def next_after(rule: RecurrenceRule, instant: Millis) -> Millis | None:
    """The first time after an instant. None: there is no more."""
    return next(_after(rule, instant), None)


def times(rule: RecurrenceRule, instant: Millis, count: int) -> tuple[Millis, ...]:
    """The next so many times after an instant; fewer if there are no more."""
    return tuple(islice(_after(rule, instant), count))


def number_of(rule: RecurrenceRule, instant: Millis) -> int:
    """How many times there are up to an instant, itself included. So the number of a time, counted from 1."""
    counted = _count(rule, rule.start, min(instant + 1, LAST_WALL if rule.until is None else rule.until + 1))
    return counted if rule.count is None else min(counted, rule.count)


def check_not_empty(rule: RecurrenceRule) -> None:
    """Raises BadRule if the rule has no time."""
    if next_after(rule, rule.start - 1) is not None:
        return
    field, allowed = ("cron", '"0 9 28 2 *"') if isinstance(rule.pattern, Cron) else ("every", '"P1M"')
    if isinstance(rule.pattern, Cron) and rule.pattern.years:
        allowed = 'a day that exists in a year to come, or in each year, like "cron(0 9 28 2 ? *)"'
    if rule.until is not None and (first := _first(rule, rule.start)) is not None:
        field, allowed = "until", f"the first time, {format_instant(first)}, or later"
    raise BadRule([RuleFault(field=field, problem="empty: the rule has no time", allowed=allowed)])


def _after(rule: RecurrenceRule, instant: Millis) -> Iterator[Millis]:
    since = max(instant + 1, rule.start)
    left = None if rule.count is None else rule.count - _number_before(rule, since)
    while left is None or left > 0:
        found = _first(rule, since)
        if found is None or (rule.until is not None and found > rule.until):
            return
        yield found
        since = found + 1
        left = None if left is None else left - 1


def _first(rule: RecurrenceRule, since: Millis) -> Millis | None:
    """The first time that is not before an instant, whatever the end of the rule."""
    if isinstance(rule.pattern, Interval):
        found = rule.pattern.first_from(since)
        return found if found < LAST_WALL else None
    while True:
        span = span_at(rule.time_zone, since)
        if since == span.begin and _is_shifted_to(rule, rule.pattern, span):
            return since
        wall = rule.pattern.next(max(since + span.offset, _first_wall(rule, rule.pattern, span)))
        if wall is None:
            return None
        if wall - span.offset < span.end:
            return wall - span.offset
        # Whoever is near the end of the span has to look at the next: it may show times again that were before `since`.
        since = span.end if span.end - since < FAR else max(span.end, wall - span.offset - FAR)


def _number_before(rule: RecurrenceRule, instant: Millis) -> int:
    """How many times there are before an instant, whatever the end of the rule."""
    year = start_of_year(datetime.fromtimestamp(instant // SECOND, UTC).year)
    if year <= rule.start:
        return _count(rule, rule.start, instant)
    return number_before_year(rule, year) + _count(rule, year, instant)


@lru_cache(maxsize=1024)
def number_before_year(rule: RecurrenceRule, year: Millis) -> int:
    """Counted once: a rule may have begun long ago, and whoever looks for the last time that has passed asks often."""
    return _count(rule, rule.start, year)


def _count(rule: RecurrenceRule, since: Millis, until: Millis) -> int:
    """Times that are not before the one and before the other, whatever the end of the rule."""
    if isinstance(rule.pattern, Interval):
        return rule.pattern.count(since, until)
    counted = 0
    while since < until:
        span = span_at(rule.time_zone, since)
        counted += since == span.begin and _is_shifted_to(rule, rule.pattern, span)
        end = min(span.end, until)
        first = max(since + span.offset, _first_wall(rule, rule.pattern, span))
        counted += rule.pattern.count(first, end + span.offset)
        since = end
    return counted


def _first_wall(rule: RecurrenceRule, pattern: Cron | Calendar, span: Span) -> Millis:
    """The wall time with which the times of a span begin: what was shown in the span before does not count again."""
    again = pattern.is_round_the_clock or rule.overlap is ClockOverlap.BOTH
    return span.begin + (span.offset if again else max(span.offset, span.before))


def _is_shifted_to(rule: RecurrenceRule, pattern: Cron | Calendar, span: Span) -> bool:
    """Whether the first instant of a span takes the place of times that the clock leaves out."""
    if pattern.is_round_the_clock or rule.gap is Gap.SKIP:
        return False
    missing = pattern.next(span.begin + span.before)
    # A time at the very beginning is one of the span itself.
    return missing is not None and missing < span.begin + span.offset and not _is_a_time(pattern, span)


def _is_a_time(pattern: Cron | Calendar, span: Span) -> bool:
    return pattern.next(span.begin + span.offset) == span.begin + span.offset
