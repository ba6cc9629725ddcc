"""The body of a call about a series becomes a request, or a list of all that is wrong with it.

The rule is read by `recurrence`, which says of each field what is wrong and gives an example; all else is checked as it
is for one schedule.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

from attrs import evolve

from delayer.core.api.admission import Actions, action_errors, definition_of, read_body
from delayer.core.api.field_errors import NAME, PREVIEW, SERIES, errors_of, field_path, first_errors
from delayer.core.api.json_body import fields_of, parse
from delayer.core.api.problem import FieldError, Invalid
from delayer.core.api.series.request import PreviewRequest, SeriesRequest
from delayer.core.recurrence.rule import Rule, check_new, parse_rule
from delayer.core.recurrence.terms import BadRule
from delayer.core.recurrence.times import check_not_empty, next_after, times
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import HOUR, SECOND, Millis
from delayer.core.series.series import Overlap
from delayer.core.timing.window import seconds_of

TIMES_SHOWN: Final = 10  # unless another number is asked for
LOOKED_AT: Final = 400  # of its next times, to see how near to each other they are: more than a year of daily ones
RELAXED_APART: Final[Millis] = 23 * HOUR  # a day, even if the clocks are put forward


def admit_series(body: bytes, now: Millis, actions: Actions, *, may_stand: bool = False) -> SeriesRequest:
    """The request in a body. `actions` are those that have an executor. Raises NotJson, TooLarge or Invalid.

    With `may_stand`, what is refused of a new rule alone is noted: the rule may be that of a stored series.
    """
    document, payload = read_body(body)
    errors = first_errors(_shape_errors(document, payload, actions))
    rule = rule_in(document, now, errors)
    refused = [] if rule is None else new_rule_errors(rule)
    if errors or rule is None or (refused and not may_stand):
        raise Invalid([*errors, *refused])
    definition, is_relaxed = definition_of(document, payload), document.get("precision") == "relaxed"
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


def admit_named_series(body: bytes, name: str, now: Millis, actions: Actions) -> SeriesRequest:
    """The request in the body of a PUT by name. Raises as `admit_series`, and Invalid for another name in the body."""
    errors = [*errors_of(NAME, name, "name")]
    if errors:
        raise Invalid(errors)
    request = admit_series(body, now, actions, may_stand=True)
    if request.name not in ("", name):
        raise Invalid([FieldError(field="name", problem="not the name in the path", allowed=name)])
    return evolve(request, name=name)


def name_in(body: bytes) -> str:
    """The name in a body that was admitted before; empty if there is none."""
    return str(parse(fields_of(body).get("name", b'""')))


def admit_preview(body: bytes, now: Millis) -> PreviewRequest:
    """The rule in a body, and how many of its times are asked for. Raises NotJson, TooLarge or Invalid."""
    document, payload = read_body(body)
    shown = document if payload is None else {**document, "payload": None}
    errors = first_errors(errors_of(PREVIEW, shown))
    rule = rule_in(document, now, errors)
    errors += [] if rule is None else new_rule_errors(rule)
    if errors or rule is None:
        raise Invalid(errors)
    return PreviewRequest(rule=rule, count=document.get("count", TIMES_SHOWN))


def rule_in(document: Mapping[str, Any], now: Millis, errors: list[FieldError]) -> Rule | None:
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


def new_rule_errors(rule: Rule) -> list[FieldError]:
    """What is refused of a rule, unless it stands in a stored series."""
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


def _shape_errors(document: Mapping[str, Any], payload: bytes | None, actions: Actions) -> Iterable[FieldError]:
    yield from errors_of(SERIES, document)
    action = document.get("action")
    kind = action.get("type") if isinstance(action, dict) else None
    if isinstance(kind, str):
        yield from action_errors(kind, action, payload or b"", actions)
