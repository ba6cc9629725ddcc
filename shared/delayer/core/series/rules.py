"""The rule of a series, from the document that is stored with it."""

from functools import lru_cache

import msgspec
from attrs import frozen

from delayer.core.recurrence import times
from delayer.core.recurrence.bad_rule import BadRule
from delayer.core.recurrence.rule import Rule as Recurrence
from delayer.core.recurrence.rule import document_of, parse_rule
from delayer.core.schedule.instants import Millis
from delayer.core.series.series import Rule, RuleFailed, SeriesDefinition


@frozen
class _Recurring:
    """A rule that can be read."""

    recurrence: Recurrence

    def next_after(self, at: Millis) -> Millis | None:
        """As Rule. Whatever goes wrong in the arithmetic would go wrong each time: the series stops, and says so."""
        try:
            return times.next_after(self.recurrence, at)
        except Exception as error:
            raise RuleFailed(repr(error)) from error


@frozen
class _Unreadable:
    """A document that this version cannot read: the zone may have been taken out of the tz database."""

    reason: str

    def next_after(self, at: Millis) -> Millis | None:  # noqa: ARG002 - it has no times
        """As Rule."""
        raise RuleFailed(self.reason)


def text_of(rule: Recurrence) -> str:
    """The document that is stored with a series: it says everything, so that it means the same at any time."""
    return msgspec.json.encode(document_of(rule)).decode()


def rule_of(definition: SeriesDefinition) -> Rule:
    """Its times. A document that cannot be read makes a rule that fails."""
    return _parsed(definition.repeat)


@lru_cache(maxsize=1_000)
def _parsed(document: str) -> Rule:
    """The stored document says everything: it does not matter when it is parsed."""
    try:
        return _Recurring(parse_rule(msgspec.json.decode(document), 0))
    except (BadRule, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        return _Unreadable(repr(error))
