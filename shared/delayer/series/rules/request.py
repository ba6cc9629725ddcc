"""The requests of clients about series. `admission` makes them from a body or a query."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from delayer.http.problem import FieldError, Invalid
from delayer.ledger.model import State
from delayer.recurrence.rule import RecurrenceRule
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import Definition, Traits
from delayer.series.rules.rules import begun_as, stands, text_of
from delayer.series.rules.series import Overlap, SeriesDefinition, SeriesState


@frozen(kw_only=True)
class SeriesRequest:
    """A well-formed request."""

    rule: RecurrenceRule
    repeat: Mapping[str, Any]  # the rule as it was sent
    overlap: Overlap
    definition: Definition  # its group is that of the series
    name: str = ""
    is_relaxed: bool = False
    refused: tuple[FieldError, ...] = ()  # what is wrong with its rule, unless it is that of the stored series

    def asked_for(self, owner: str, now: Millis, traits: Traits) -> SeriesDefinition:
        """The definition that is stored of it for a new series. Raises Invalid."""
        if self.refused:
            raise Invalid(self.refused)
        return SeriesDefinition(
            owner=owner,
            repeat=text_of(self.rule),
            overlap=self.overlap,
            on_missed=self.rule.on_missed,
            definition=self.definition,
            name=self.name,
            created_at=now,
            traits=traits,
            is_relaxed=self.is_relaxed,
        )

    def in_place_of(self, stored: SeriesDefinition) -> SeriesDefinition:
        """This definition takes the place of another one. The same times, sent again, go on where they are.

        Raises Invalid.
        """
        if self.refused and not stands(stored, self.repeat):
            raise Invalid(self.refused)
        rule = begun_as(stored, self.repeat, self.rule.start - 1) or self.rule
        return evolve(
            stored,
            repeat=text_of(rule),
            overlap=self.overlap,
            on_missed=rule.on_missed,
            definition=self.definition,
            is_relaxed=self.is_relaxed,
        )


@frozen(kw_only=True)
class PreviewRequest:
    """A well-formed question for the next times of a rule."""

    rule: RecurrenceRule
    count: int


@frozen(kw_only=True)
class SeriesListing:
    """A well-formed question for series."""

    group: str | None  # None: of all, and of none
    state: SeriesState | None  # None: of any
    limit: int
    after: tuple[str, str] | None  # group and id that the last page ended with; None for the first page


@frozen(kw_only=True)
class OccurrenceListing:
    """A well-formed question for the occurrences of a series, the latest first."""

    state: State | None  # None: of any
    limit: int
    after: str  # the id that the last page ended with; empty for the first page
