"""The body of a call about a series becomes a request, or a list of all that is wrong with it.

The rule is read by `recurrence`, which says of each field what is wrong and gives an example; all else is checked as it
is for one schedule.
"""

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, Final

import msgspec
from attrs import evolve, frozen

from delayer.accept.rules.admission import (
    MAX_BODY_BYTES,
    RELAXED,
    Actions,
    Lanes,
    ReadBody,
    action_errors,
    check_payload,
    definition_of,
    lane_errors,
    read_body,
    stored_payload,
)
from delayer.accept.rules.listing import after_in
from delayer.accept.rules.window import seconds_of
from delayer.http.field_errors import (
    BACKFILL,
    NAME,
    NEXT,
    OCCURRENCES,
    PREVIEW,
    SERIES,
    SERIES_CHANGE,
    SERIES_LISTING,
    CompiledSchema,
    errors_of,
    field_path,
    first_errors,
)
from delayer.http.json_body import MAX_ERRORS, fields_of
from delayer.http.problem import FieldError, Invalid, TooLarge
from delayer.ledger.model import State
from delayer.recurrence.rule import RecurrenceRule, check_new, parse_rule
from delayer.recurrence.terms import BadRule
from delayer.recurrence.times import check_not_empty, next_after, times
from delayer.schedule.instants import HOUR, SECOND, Millis, format_instant, parse_instant
from delayer.schedule.json_text import integer
from delayer.schedule.schedule import FIELDS, Definition, given
from delayer.series.rules.backfill import Range
from delayer.series.rules.request import OccurrenceListing, PreviewRequest, SeriesListing, SeriesRequest
from delayer.series.rules.rules import next_times, stands, text_of
from delayer.series.rules.series import Overlap, RuleFailed, SeriesDefinition, SeriesState

TIMES_SHOWN: Final = 10  # unless another number is asked for
LOOKED_AT: Final = 400  # of its next times, to see how near to each other they are: more than a year of daily ones
RELAXED_APART: Final[Millis] = 23 * HOUR  # a day, even if the clocks are put forward
DEFAULT_LIMIT: Final = 50
DEFAULT_COUNT: Final = 10
OURS: Final = re.compile(r"1([A-Za-z0-9._:@-]{0,128})#([0-9a-z]{1,64})")
PATTERNS: Final = frozenset({"cron", "every"})  # with one of them, a rule is meant as a whole
CHANGEABLE: Final = "repeat, overlap, action, payload, onLate, retry, window, precision, tags"
NO_ACTION: Final = {"type": "none"}  # stands for the action that stays


def admit_series(
    body: bytes, now: Millis, actions: Actions, lanes: Lanes | None = None, *, may_stand: bool = False
) -> SeriesRequest:
    """The request in a body. `actions` and `lanes` are as in `admit`. Raises NotJson, TooLarge or Invalid.

    With `may_stand`, what is refused of a new rule alone is noted: the rule may be that of a stored series.
    """
    sent = read_body(body)
    document = sent.document
    found = [*lane_errors(document, lanes), *errors_of(SERIES, document), *action_errors(sent, sent.payload, actions)]
    errors = first_errors(found)
    rule = rule_in(document, now, errors)
    refused = [] if rule is None else new_rule_errors(rule)
    if errors or rule is None or (refused and not may_stand):
        raise Invalid([*errors, *refused])
    definition, is_relaxed = definition_of(sent), document.get("precision") == RELAXED
    check_spacing(partial(times, rule, now), definition, is_relaxed=is_relaxed)
    return SeriesRequest(
        rule=rule,
        repeat=document["repeat"],
        overlap=Overlap(document.get("overlap", Overlap.ALLOW)),
        definition=definition,
        name=document.get("name", ""),
        is_relaxed=is_relaxed,
        refused=tuple(refused),
    )


def admit_named_series(
    body: bytes, name: str, now: Millis, actions: Actions, lanes: Lanes | None = None
) -> SeriesRequest:
    """The request in the body of a PUT by name. Raises as `admit_series`, and Invalid for another name in the body."""
    errors = [*errors_of(NAME, name, "name")]
    if errors:
        raise Invalid(errors)
    request = admit_series(body, now, actions, lanes, may_stand=True)
    if request.name not in ("", name):
        raise Invalid([FieldError(field="name", problem="not the name in the path", allowed=name)])
    return evolve(request, name=name)


def name_in(body: bytes) -> str:
    """The name in a body that was admitted before; empty if there is none."""
    return str(fields_of(body).values.get("name", ""))


def admit_preview(body: bytes, now: Millis) -> PreviewRequest:
    """The rule in a body, and how many of its times are asked for. Raises NotJson, TooLarge or Invalid."""
    sent = read_body(body)
    document = sent.document
    errors = first_errors(errors_of(PREVIEW, sent.shown))
    rule = rule_in(document, now, errors)
    errors += [] if rule is None else new_rule_errors(rule)
    if errors or rule is None:
        raise Invalid(errors)
    return PreviewRequest(rule=rule, count=document.get("count", TIMES_SHOWN))


def rule_in(document: Mapping[str, Any], now: Millis, errors: list[FieldError]) -> RecurrenceRule | None:
    """The rule in the field `repeat`; adds to `errors` where it is none, or has no time from now on."""
    if "repeat" not in document:
        return None
    try:
        rule = parse_rule(document["repeat"], now)
        check_not_empty(rule)
    except BadRule as error:
        errors.extend(_faults_of(error))
        return None
    if next_after(rule, now) is None:
        field = "count" if rule.until is None or rule.until > now else "until"
        problem = "over: all times of the rule have passed"
        errors.append(FieldError(field=f"repeat.{field}", problem=problem, allowed="a rule with a time to come"))
    return rule


def new_rule_errors(rule: RecurrenceRule) -> list[FieldError]:
    """Refuses these errors of a rule, unless it stands in a stored series."""
    try:
        check_new(rule)
    except BadRule as error:
        return [*_faults_of(error)]
    return []


def check_spacing(next_times: Callable[[int], Sequence[Millis]], definition: Definition, *, is_relaxed: bool) -> None:
    """Raises Invalid if two of its next times are too near to each other for its window, or for its lane."""
    seconds = seconds_of(definition)
    if not seconds and not is_relaxed:
        return
    apart = min((after - before for before, after in pairwise(next_times(LOOKED_AT))), default=None)
    errors: list[FieldError] = []
    if apart is not None and seconds * SECOND >= apart:
        problem = f"not shorter than the interval: two times of the rule are {apart // SECOND:,} seconds apart"
        allowed = f"1 to {apart // SECOND - 1:,}"
        errors.append(FieldError(field="window.seconds", problem=problem, allowed=allowed))
    if is_relaxed and apart is not None and apart < RELAXED_APART:
        problem = f"relaxed is for what runs daily or more rarely: two times are {apart // SECOND:,} seconds apart"
        allowed = f"precise, or a rule whose times are at least {RELAXED_APART // HOUR} hours apart"
        errors.append(FieldError(field="precision", problem=problem, allowed=allowed))
    if errors:
        raise Invalid(errors)


def _faults_of(error: BadRule) -> Iterable[FieldError]:
    for fault in error.faults:
        field = field_path("repeat", fault.field) if fault.field else "repeat"
        yield FieldError(field=field, problem=fault.problem, allowed=fault.allowed)


def admit_series_listing(query: Mapping[str, str]) -> SeriesListing:
    """The listing that a query asks for. Raises Invalid."""
    document, errors = _checked(query, SERIES_LISTING, "limit")
    group = document.get("group")
    after = _place_in(document["cursor"], group, errors) if "cursor" in document else None
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    state = SeriesState(document["state"]) if "state" in document else None
    return SeriesListing(group=group, state=state, limit=document.get("limit", DEFAULT_LIMIT), after=after)


def admit_occurrences(query: Mapping[str, str]) -> OccurrenceListing:
    """The occurrences that a query asks for. Raises Invalid."""
    document, errors = _checked(query, OCCURRENCES, "limit")
    after = after_in(document["cursor"], errors) if "cursor" in document else ""
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    state = State(document["state"]) if "state" in document else None
    return OccurrenceListing(state=state, limit=document.get("limit", DEFAULT_LIMIT), after=after)


def admit_count(query: Mapping[str, str]) -> int:
    """How many of the next times a query asks for. Raises Invalid."""
    document, errors = _checked(query, NEXT, "count")
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    count: int = document.get("count", DEFAULT_COUNT)
    return count


def _checked(query: Mapping[str, str], schema: CompiledSchema, number: str) -> tuple[dict[str, Any], list[FieldError]]:
    document: dict[str, Any] = {**query}
    if re.fullmatch(r"-?[0-9]+", document.get(number, ""), re.ASCII):
        document[number] = integer(document[number])
    return document, [*errors_of(schema, document)]


def cursor_of(group: str, series: str) -> str:
    """The cursor of the page after this series. Clients send it back, and do not read it."""
    return base64.urlsafe_b64encode(f"1{group}#{series}".encode()).decode().rstrip("=")


def _place_in(cursor: str, group: str | None, errors: list[FieldError]) -> tuple[str, str] | None:
    """The inverse of cursor_of. A list of a group begins within it."""
    try:
        found = OURS.fullmatch(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode())
    except ValueError:
        found = None
    if found and group in (None, found[1]) and cursor_of(found[1], found[2]) == cursor:
        return found[1], found[2]
    allowed = "the nextCursor of the page before, of the same group"
    errors.append(FieldError(field="cursor", problem="not one of ours", allowed=allowed))
    return None


@frozen(kw_only=True)
class SeriesChange:
    """A well-formed change of a series. What is wrong with it together with what stays, is found when it is applied."""

    body: ReadBody
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
            overlap=Overlap(self.body.document.get("overlap", series.overlap)),
            is_relaxed=self.body.document.get("precision", "relaxed" if series.is_relaxed else "precise") == "relaxed",
        )
        changed = changed if rule is None else evolve(changed, repeat=text_of(rule), on_missed=rule.on_missed)
        self._check_spacing(changed)
        return changed

    def _definition(self, stored: Definition) -> Definition:
        """A field that is not given keeps its bytes."""
        asked = definition_of(evolve(self.body, document={"action": NO_ACTION, **self.body.document}))
        fields = [one.name for one in FIELDS if one.wire_name in self.body.document]
        fields += ["payload"] if self.body.payload.sent else []
        definition = evolve(stored, **{name: getattr(asked, name) for name in fields})
        if sum(len(text.encode()) for text in given(definition).values()) > MAX_BODY_BYTES:
            raise TooLarge(f"With what stays, the series is over {MAX_BODY_BYTES:,} bytes.")
        return definition

    def _check_target(self, definition: Definition) -> None:
        """The payload is that of the action, whichever of the two is new."""
        kind = definition.action_type
        if "action" in self.body.document:
            if errors := first_errors(action_errors(self.body, stored_payload(definition.payload), self.actions)):
                raise Invalid(errors)
        elif self.body.payload.sent and (action := self.actions.get(kind)):
            check_payload(action, definition.payload)

    def _check_spacing(self, changed: SeriesDefinition) -> None:
        """Whichever of them is new. A rule that cannot be read any more is no matter of this change."""
        if {"repeat", "window", "precision"} & set(self.body.document):
            with suppress(RuleFailed):
                check_spacing(partial(next_times, changed, self.now), changed.definition, is_relaxed=changed.is_relaxed)

    def _rule(self, series: SeriesDefinition) -> RecurrenceRule | None:
        repeat = self.body.document.get("repeat")
        if isinstance(repeat, Mapping) and not PATTERNS & set(repeat):
            repeat = {**msgspec.json.decode(series.repeat), **repeat}
        errors: list[FieldError] = []
        rule = rule_in({"repeat": repeat} if "repeat" in self.body.document else {}, self.now, errors)
        if rule is not None and not stands(series, repeat or {}):
            errors += new_rule_errors(rule)
        if errors:
            raise Invalid(errors)
        return rule


def admit_series_change(body: bytes, now: Millis, actions: Actions, lanes: Lanes | None = None) -> SeriesChange:
    """The change in a body. `actions` and `lanes` are as in `admit`. Raises NotJson, TooLarge or Invalid."""
    sent = read_body(body)
    errors = first_errors([*lane_errors(sent.document, lanes), *errors_of(SERIES_CHANGE, sent.shown)])
    if not sent.shown:
        errors = [FieldError(field="", problem="nothing to change", allowed=CHANGEABLE)]
    if errors:
        raise Invalid(errors)
    return SeriesChange(body=sent, now=now, actions=actions)


def admit_backfill(body: bytes, now: Millis) -> Range:
    """The range in a body. Raises NotJson, TooLarge or Invalid."""
    sent = read_body(body)
    errors = first_errors(errors_of(BACKFILL, sent.shown))
    since, until = (_instant(sent.document, name, errors) for name in ("from", "until"))
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
