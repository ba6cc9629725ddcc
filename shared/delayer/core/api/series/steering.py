"""The body of a call that steers a series: a change of its definition, or the range of a backfill."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import msgspec
from attrs import evolve, frozen

from delayer.core.api.admission import MAX_BODY_BYTES, Actions, action_errors, check_payload, definition_of, read_body
from delayer.core.api.field_errors import BACKFILL, SERIES_CHANGE, errors_of, first_errors
from delayer.core.api.problem import FieldError, Invalid, TooLarge
from delayer.core.api.series.admission import check_spacing, new_rule_errors, rule_in
from delayer.core.recurrence.rule import Rule
from delayer.core.schedule.definition import FIELDS, Definition, given
from delayer.core.schedule.instants import Millis, format_instant, parse_instant
from delayer.core.series.backfill import Range
from delayer.core.series.rules import next_times, stands, text_of
from delayer.core.series.series import Overlap, RuleFailed, SeriesDefinition

PATTERNS: Final = frozenset({"cron", "every"})  # with one of them, a rule is meant as a whole
CHANGEABLE: Final = "repeat, overlap, action, payload, onLate, retry, window, precision, tags"
NO_ACTION: Final = {"type": "none"}  # stands for the action that stays


@frozen(kw_only=True)
class SeriesChange:
    """A well-formed change of a series. What is wrong with it together with what stays, is found when it is applied."""

    document: Mapping[str, Any]  # without the payload
    payload: bytes | None
    now: Millis
    actions: Actions

    def applied_to(self, series: SeriesDefinition) -> SeriesDefinition:
        """The definition with it. Raises TooLarge or Invalid."""
        definition = self._definition(series.definition)
        self._check_target(definition)
        rule = self._rule(series)
        changed = evolve(
            series,
            definition=definition,
            overlap=Overlap(self.document.get("overlap", series.overlap)),
            is_relaxed=self.document.get("precision", "relaxed" if series.is_relaxed else "precise") == "relaxed",
        )
        changed = changed if rule is None else evolve(changed, repeat=text_of(rule), on_missed=rule.on_missed)
        self._check_spacing(changed)
        return changed

    def _definition(self, stored: Definition) -> Definition:
        """What is not given keeps its bytes."""
        asked = definition_of({"action": NO_ACTION, **self.document}, self.payload)
        fields = [one.name for one in FIELDS if one.wire_name in self.document]
        fields += ["payload"] if self.payload is not None else []
        definition = evolve(stored, **{name: getattr(asked, name) for name in fields})
        if sum(len(text.encode()) for text in given(definition).values()) > MAX_BODY_BYTES:
            raise TooLarge(f"With what stays, the series is over {MAX_BODY_BYTES:,} bytes.")
        return definition

    def _check_target(self, definition: Definition) -> None:
        """The payload is that of the action, whichever of the two is new."""
        kind = definition.action_type
        if "action" in self.document:
            found = action_errors(kind, self.document["action"], definition.payload.encode(), self.actions)
            if errors := first_errors(found):
                raise Invalid(errors)
        elif self.payload is not None and (action := self.actions.get(kind)):
            check_payload(action, definition.payload)

    def _check_spacing(self, changed: SeriesDefinition) -> None:
        """Whichever of them is new. A rule that cannot be read any more is no matter of this change."""
        if {"repeat", "window", "precision"} & set(self.document):
            with suppress(RuleFailed):
                check_spacing(partial(next_times, changed, self.now), changed.definition, is_relaxed=changed.is_relaxed)

    def _rule(self, series: SeriesDefinition) -> Rule | None:
        repeat = self.document.get("repeat")
        if isinstance(repeat, Mapping) and not PATTERNS & set(repeat):
            repeat = {**msgspec.json.decode(series.repeat), **repeat}
        errors: list[FieldError] = []
        rule = rule_in({"repeat": repeat} if "repeat" in self.document else {}, self.now, errors)
        if rule is not None and not stands(series, repeat or {}):
            errors += new_rule_errors(rule)
        if errors:
            raise Invalid(errors)
        return rule


def admit_series_change(body: bytes, now: Millis, actions: Actions) -> SeriesChange:
    """The change in a body. `actions` are those that have an executor. Raises NotJson, TooLarge or Invalid."""
    document, payload = read_body(body)
    shown = document if payload is None else {**document, "payload": None}
    errors = first_errors(errors_of(SERIES_CHANGE, shown))
    if not shown:
        errors = [FieldError(field="", problem="nothing to change", allowed=CHANGEABLE)]
    if errors:
        raise Invalid(errors)
    return SeriesChange(document=document, payload=payload, now=now, actions=actions)


def admit_backfill(body: bytes, now: Millis) -> Range:
    """The range in a body. Raises NotJson, TooLarge or Invalid."""
    document, payload = read_body(body)
    shown = document if payload is None else {**document, "payload": None}
    errors = first_errors(errors_of(BACKFILL, shown))
    since, until = (_instant(document, name, errors) for name in ("from", "until"))
    errors += [] if errors else _range_errors(since, until, now)
    if errors:
        raise Invalid(errors)
    return Range(since=since, until=until)


def _instant(document: Mapping[str, Any], name: str, errors: list[FieldError]) -> Millis:
    """Adds to `errors` and returns 0 where it is none."""
    if any(error.field == name for error in errors):
        return 0
    try:
        return parse_instant(document[name])
    except (ValueError, OverflowError) as error:
        errors.append(FieldError(field=name, problem=str(error) or "not an instant", allowed="RFC 3339 with an offset"))
        return 0


def _range_errors(since: Millis, until: Millis, now: Millis) -> Iterable[FieldError]:
    if until > now:
        allowed = f"an instant that has passed, {format_instant(now)} at the latest"
        yield FieldError(field="until", problem="still to come", allowed=allowed)
    elif until <= since:
        yield FieldError(field="until", problem="not after `from`", allowed="a later instant")
