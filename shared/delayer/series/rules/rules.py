"""The rule of a series, from the document that is stored with it."""

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import msgspec
from attrs import evolve, frozen

from delayer.recurrence import times
from delayer.recurrence.describe import description
from delayer.recurrence.rule import RecurrenceRule, document_of, parse_rule
from delayer.recurrence.terms import BadRule, OnMissed
from delayer.schedule.instants import Millis
from delayer.series.rules.series import NewTimes, Rule, RuleFailed, SeriesDefinition


@frozen
class _Recurring:
    """A rule that can be read."""

    recurrence: RecurrenceRule

    def next_after(self, at: Millis) -> Millis | None:
        """As Rule. Whatever goes wrong in the arithmetic would go wrong each time: the series stops, and says so."""
        try:
            return times.next_after(self.recurrence, at)
        except Exception as error:
            raise RuleFailed(repr(error)) from error

    def between(self, after: Millis, until: Millis) -> int:
        """How many there are. Raises RuleFailed."""
        try:
            return max(0, times.number_of(self.recurrence, until) - times.number_of(self.recurrence, after))
        except Exception as error:
            raise RuleFailed(repr(error)) from error


@frozen
class _Broken:
    """A document that this version cannot read: the zone may have been taken out of the tz database."""

    reason: str

    def next_after(self, at: Millis) -> Millis | None:  # noqa: ARG002 - it has no times
        """As Rule."""
        raise RuleFailed(self.reason)


def text_of(rule: RecurrenceRule) -> str:
    """The document that is stored with a series: it says everything, so that it means the same at any time."""
    return msgspec.json.encode(document_of(rule)).decode()


def next_times(definition: SeriesDefinition, after: Millis, count: int) -> tuple[Millis, ...]:
    """So many of its times. Raises RuleFailed."""
    rule = _parsed(definition.repeat)
    if isinstance(rule, _Broken):
        raise RuleFailed(rule.reason)
    try:
        return times.times(rule.recurrence, after, count)
    except Exception as error:
        raise RuleFailed(repr(error)) from error


def stands(stored: SeriesDefinition, repeat: Mapping[str, Any]) -> bool:
    """Whether its cron is the text that is stored: it may have what is refused of a new rule (ADR 0143)."""
    with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
        document = msgspec.json.decode(stored.repeat)
        return isinstance(document, Mapping) and document.get("cron") == repeat.get("cron")
    return False


def words_of(definition: SeriesDefinition) -> str:
    """The rule in English; empty if it cannot be read."""
    rule = _parsed(definition.repeat)
    return "" if isinstance(rule, _Broken) else description(rule.recurrence)


def rule_of(definition: SeriesDefinition) -> Rule:
    """Its times. A document that cannot be read makes a rule that fails."""
    return _parsed(definition.repeat)


def times_between(definition: SeriesDefinition, after: Millis, until: Millis) -> int:
    """How many times of its rule are later than `after` and not later than `until`. Raises RuleFailed."""
    rule = rule_of(definition)
    if not isinstance(rule, _Recurring):
        raise RuleFailed("its rule cannot be read")
    return rule.between(after, until)


def new_times(old: SeriesDefinition, new: SeriesDefinition) -> NewTimes:
    """Says how another definition changes the times. Its rule about missed times does not matter here."""
    before, after = rule_of(old), rule_of(new)
    if not isinstance(before, _Recurring) or not isinstance(after, _Recurring):
        return NewTimes.NONE if before == after else NewTimes.PATTERN
    if _bounds(before.recurrence) == _bounds(after.recurrence):
        return NewTimes.NONE
    return NewTimes.BOUNDS if before.recurrence.rhythm == after.recurrence.rhythm else NewTimes.PATTERN


def begun_as(stored: SeriesDefinition, repeat: Mapping[str, Any], now: Millis) -> RecurrenceRule | None:
    """The rule of a `repeat`, if it had been sent when the stored one was, and has the same times; else None.

    What begins with its creation would otherwise begin anew whenever the same document is sent again, or the same with
    another end. One with another end that is over by now has begun anew: it was sent for times to come.
    """
    old = _parsed(stored.repeat)
    if isinstance(old, _Broken):
        return None
    rule = parse_rule(repeat, old.recurrence.start - 1)
    if _bounds(rule) == _bounds(old.recurrence):
        return rule
    return rule if rule.rhythm == old.recurrence.rhythm and times.next_after(rule, now) is not None else None


def _bounds(rule: RecurrenceRule) -> RecurrenceRule:
    """All that says which times there are."""
    return evolve(rule, on_missed=OnMissed.SKIP)


@lru_cache(maxsize=1_000)
def _parsed(document: str) -> _Recurring | _Broken:
    """The stored document says everything: it does not matter when it is parsed."""
    try:
        return _Recurring(parse_rule(msgspec.json.decode(document), 0))
    except (BadRule, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        return _Broken(repr(error))
