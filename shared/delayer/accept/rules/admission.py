"""The body of a POST becomes a schedule, or a list of all that is wrong with it.

The shape is checked against the JSON Schemas of `openapi.yaml`. Instants are checked here, as they need a clock.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any, Final

import msgspec
from attrs import evolve, field, frozen

from delayer.accept.rules.request import ChangeRequest, ScheduleRequest
from delayer.accept.rules.window import policies
from delayer.actions.rules.model import ActionType
from delayer.http.field_errors import (
    CHANGE,
    NAME,
    REQUEST,
    CompiledSchema,
    action_validator_of,
    errors_of,
    field_path,
    first_errors,
    policy_validator_of,
    shortened,
    validator_of,
)
from delayer.http.json_body import MAX_ERRORS, check_depth, fields_of
from delayer.http.problem import FieldError, Invalid, TooLarge
from delayer.masking.mask import MASK, masks_in, secrets_in
from delayer.schedule.instants import SECOND, YEAR, Millis, ceil_millis, format_instant, parse_instant
from delayer.schedule.json_text import (
    LARGEST_FLOAT,
    MOST,
    beyond_floats,
    in_characters_of_sqs,
    levels_of,
    most_work,
    parsed,
    read,
    write,
)
from delayer.schedule.schedule import FIELDS, Definition, from_texts
from delayer.schedule.schedule_id import IdKind

MAX_BODY_BYTES: Final = 262_144
MAX_BATCH: Final = 100  # schedules in one call
MAX_BATCH_BYTES: Final = 2_097_152  # Lambda takes six MiB, in which each quote of the body is escaped
MAX_PAST: Final[Millis] = 60 * SECOND
MAX_AHEAD: Final[Millis] = 10 * YEAR
MAX_SECONDS: Final = 10**15  # of an epoch; larger numbers are refused before any arithmetic

RELAXED: Final = "relaxed"  # a value of `precision`

Actions = Mapping[str, ActionType]  # by type
Policies = Collection[str]  # their names
Lanes = Collection[str]  # beside the precise one, by the values of `precision`


def admit(
    body: bytes, now: Millis, actions: Actions, policies: Policies | None = None, lanes: Lanes | None = None
) -> ScheduleRequest:
    """The request in a body. Raises NotJson, TooLarge or Invalid.

    `actions` are those that have an executor, `policies` those that have a function, and `lanes` those that the stack
    has: all of this release if it is not said.
    """
    sent = read_body(body)
    document = sent.document
    errors = first_errors([*lane_errors(document, lanes), *_shape_errors(sent, actions, policies)])
    point_in_time = _point_in_time(document, now, errors)
    if errors:
        raise Invalid(errors)
    return ScheduleRequest(
        point_in_time=point_in_time,
        definition=definition_of(sent),
        name=document.get("name", ""),
        kind=kind_by(document),
    )


def kind_by(document: Mapping[str, Any]) -> IdKind:
    """The kind of a schedule, by what its client has chosen (ADR 0096, ADR 0097)."""
    if "when" in document:
        return IdKind.UNDECIDED
    return IdKind.RELAXED if document.get("precision") == RELAXED else IdKind.PLAIN


@frozen(kw_only=True)
class Payload:
    """A payload, empty if there is none."""

    sent: bytes = b""  # as its client serialised it
    _read: Any = None  # what it says; None if it was not parsed yet

    @property
    def value(self) -> Any:
        """The JSON value that it says."""
        return read(self.sent) if self._read is None else self._read


@frozen(kw_only=True)
class ReadBody:
    """The body of a call that defines something. It is parsed once, and each field of it is written once."""

    document: Mapping[str, Any]  # its fields, but the payload
    payload: Payload = field(factory=Payload)
    _texts: dict[str, str] = field(factory=dict, init=False, repr=False, eq=False)

    def text(self, name: str) -> str:
        """A field as JSON, as it is checked and stored."""
        if name not in self._texts:
            self._texts[name] = write(self.document[name])
        return self._texts[name]

    @property
    def shown(self) -> Mapping[str, Any]:
        """The document with its payload, whose value is nobody's concern."""
        return {**self.document, "payload": None} if self.payload.sent else self.document


def definition_of(body: ReadBody) -> Definition:
    """By the list of its fields; an empty value counts as not given. Raises TooLarge."""
    document, payload = body.document, body.payload
    texts = {
        one.wire_name: body.text(one.wire_name) if one.is_json else str(value)
        for one in FIELDS
        if (value := document.get(one.wire_name)) not in (None, "", {}, [])
    }
    texts = {**texts, "payload": _sendable(payload.sent)} if payload.sent else texts
    if sum(map(len, map(str.encode, texts.values()))) > MAX_BODY_BYTES:
        raise TooLarge(f"The schedule is over {MAX_BODY_BYTES:,} bytes once U+FFFE and U+FFFF are escaped.")
    return from_texts(texts)


def admit_named(
    body: bytes,
    name: str,
    now: Millis,
    actions: Actions,
    policies: Policies | None = None,
    lanes: Lanes | None = None,
) -> ScheduleRequest:
    """The request in the body of a PUT by name. Raises as `admit`, and Invalid if the body has another name."""
    errors = [*errors_of(NAME, name, "name")]
    if errors:
        raise Invalid(errors)
    request = admit(body, now, actions, policies, lanes)
    if request.name not in ("", name):
        raise Invalid([FieldError(field="name", problem="not the name in the path", allowed=name)])
    return request


def admit_batch(body: bytes) -> list[bytes]:
    """The bodies in the body of a batch, each to be admitted by itself. Raises NotJson, TooLarge or Invalid."""
    if len(body) > MAX_BATCH_BYTES:
        raise TooLarge(f"The body has {len(body):,} bytes; at most {MAX_BATCH_BYTES:,} are allowed.")
    fields = fields_of(body).sent
    unknown = sorted(set(fields) - {"schedules"})
    errors = [FieldError(field=field_path("", name), problem="unknown field", allowed="schedules") for name in unknown]
    try:
        bodies = msgspec.json.decode(fields.get("schedules", b"[]"), type=list[msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError):
        bodies = []
    if not 1 <= len(bodies) <= MAX_BATCH:
        problem = "wrong number or type" if "schedules" in fields else "missing"
        errors.append(FieldError(field="schedules", problem=problem, allowed=f"an array of 1 to {MAX_BATCH} schedules"))
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    return [bytes(one) for one in bodies]


def admit_change(body: bytes, now: Millis) -> ChangeRequest:
    """The change in a body. Raises NotJson, TooLarge or Invalid."""
    sent = read_body(body)
    document, payload = sent.document, sent.payload
    errors = first_errors(errors_of(CHANGE, sent.shown))
    is_timed = "pointInTime" in document or "delaySeconds" in document
    if not sent.shown:
        errors = [FieldError(field="", problem="nothing to change", allowed="pointInTime or delaySeconds, payload")]
    if "pointInTime" in document and "delaySeconds" in document:
        errors.append(evolve(_ONE_TIME, problem="give one of pointInTime and delaySeconds, not both", allowed=_A_TIME))
    point_in_time = _point_in_time(document, now, errors) if is_timed else None
    if errors:
        raise Invalid(errors)
    return ChangeRequest(point_in_time=point_in_time, payload=_sendable(payload.sent) if payload.sent else None)


_A_TIME: Final = "pointInTime: RFC 3339 with an offset or epoch seconds; delaySeconds: a number"
_ONE_TIME: Final = FieldError(
    field="pointInTime",
    problem="give exactly one of pointInTime, delaySeconds and when",
    allowed=f"{_A_TIME}; when: a policy",
)
TIMES: Final = frozenset({"pointInTime", "delaySeconds", "when"})
_NO_RELAXED_LANE: Final = FieldError(
    field="precision",
    problem='not allowed: "relaxed"',
    allowed="precise: this stack has no relaxed lane; its operators can add it, by the parameter Lanes",
)
_PRECISE_ONLY: Final = FieldError(
    field="precision", problem="not together with when", allowed="precise, or a time of the client's own"
)


_RETRY: Final = FieldError(
    field="action.maxAttempts",
    problem="unknown field: use retry.maxAttempts",
    allowed='"retry": {"maxAttempts": 1 to 100}, beside the action',
)

_MASKED: Final = FieldError(
    field="", problem="a mask in the place of a secret", allowed="the value itself: a lookup does not show it"
)


def read_body(body: bytes) -> ReadBody:
    """The fields, and the payload as it was sent. Raises NotJson or TooLarge."""
    if len(body) > MAX_BODY_BYTES:
        raise TooLarge(f"The body has {len(body):,} bytes; at most {MAX_BODY_BYTES:,} are allowed.")
    fields = fields_of(body)
    check_depth(body, fields)
    document = dict(fields.values)
    payload = Payload(sent=fields.sent.get("payload", b""), read=document.pop("payload", None))
    return ReadBody(document=document, payload=payload)


def _sendable(payload: bytes) -> str:
    text = in_characters_of_sqs(payload.decode())
    if len(text.encode()) > MAX_BODY_BYTES:
        raise TooLarge(f"The payload is over {MAX_BODY_BYTES:,} bytes once U+FFFE and U+FFFF are escaped.")
    return text


def clients_types(actions: Actions) -> list[str]:
    """The types that a client may schedule."""
    return sorted(kind for kind, action in actions.items() if not action.internal)


def check_payload(action: ActionType, payload: str) -> None:
    """Raises Invalid for a payload that its target would never take. It is empty if there is none."""
    if errors := first_errors(_payload_errors(action, stored_payload(payload))):
        raise Invalid(errors)


def stored_payload(text: str) -> Payload:
    """The payload of a definition."""
    return Payload(sent=text.encode("utf-8", "surrogatepass"))


def _payload_errors(action: ActionType, payload: Payload) -> Iterable[FieldError]:
    size = len(payload.sent)
    if size > action.largest_payload:
        allowed = f"at most {action.largest_payload:,} bytes for {action.type}"
        yield FieldError(field="payload", problem=f"too large: {size:,} bytes", allowed=allowed)
    elif action.payload and not size:
        wanted = str(parsed(action.payload).get("type", "a value"))
        yield FieldError(field="payload", problem="missing", allowed=f"required by {action.type}: {wanted}")
    elif action.payload:
        yield from _validated(action.payload, payload.value, size, "payload", action.type)


def _validated(schema: str, value: Any, size: int, path: str, kind: str) -> Iterable[FieldError]:
    """All errors, by a schema that another stack may have registered. What would take too long is not begun."""
    if too_much := [*_too_much(schema, value, size, path, kind)]:
        yield from too_much
        return
    yield from errors_of(validator_of(schema), value, path)


def _stored_errors(
    schema: str, body: ReadBody, path: str, kind: str, checked_by: Callable[[str], CompiledSchema]
) -> Iterable[FieldError]:
    """All errors of what is stored as JSON: by the text that is stored, as its reader will read it (ADR 0148)."""
    value, text = body.document[path], body.text(path)
    found = [*_too_much(schema, value, len(text), path, kind)] or [*islice(_beyond_floats(value, path), MAX_ERRORS)]
    yield from found or errors_of(checked_by(schema), msgspec.json.decode(text), path)


def _too_much(schema: str, value: Any, size: int, path: str, kind: str) -> Iterable[FieldError]:
    work = most_work(levels_of(schema), value, size)
    if work > MOST:
        allowed = f"lists and objects with fewer values for {kind}: about {MOST / work:.0%} of these"
        yield FieldError(field=path, problem="too many values to check", allowed=allowed)


def _beyond_floats(value: Any, path: str) -> Iterable[FieldError]:
    """The values of these fields are not shown: they are no secrets, whatever the field is called."""
    for where in beyond_floats(value, path):
        yield FieldError(field=shortened(where), problem="out of bounds", allowed=f"a number up to {LARGEST_FLOAT:g}")


def _shape_errors(body: ReadBody, actions: Actions, deployed: Policies | None) -> Iterable[FieldError]:
    document = body.document
    yield from errors_of(REQUEST, document)
    if len(TIMES & document.keys()) != 1:
        yield _ONE_TIME
    if "when" in document and document.get("precision") == RELAXED:
        yield _PRECISE_ONLY
    yield from _policy_errors(body, deployed)
    yield from action_errors(body, body.payload, actions)


def lane_errors(document: Mapping[str, Any], lanes: Lanes | None) -> Iterable[FieldError]:
    """Of a lane that this stack does not have, though this release does (ADR 0172)."""
    if document.get("precision") == RELAXED and lanes is not None and RELAXED not in lanes:
        yield _NO_RELAXED_LANE


def _policy_errors(body: ReadBody, deployed: Policies | None) -> Iterable[FieldError]:
    """The policies are those of this release, as the layer has them, of which a stack may have a part.

    `deployed` may have the schemas itself: on one machine there are policies that the release does not know.
    """
    when = body.document.get("when")
    name = when.get("policy") if isinstance(when, dict) else None
    if not isinstance(name, str):
        return  # the schema of the request says so
    known = (
        deployed
        if isinstance(deployed, Mapping)
        else {one: schema for one, schema in policies().items() if deployed is None or one in deployed}
    )
    schema = known.get(name)
    if schema is None:
        none = "this stack has no policy; its operators can add some, by the parameter Policies"
        allowed = ", ".join(sorted(known)) or none
        yield FieldError(field="when.policy", problem=f"not allowed: {shortened(json.dumps(name))}", allowed=allowed)
    else:
        yield from _stored_errors(schema, body, "when", name, policy_validator_of)


def action_errors(body: ReadBody, payload: Payload, actions: Actions) -> Iterable[FieldError]:
    """Finds errors in the action of a body, or in the payload that it will have. Raises Unavailable if no type is
    known.

    What has no type is left to the schema of the body.
    """
    action = body.document.get("action")
    kind = action.get("type") if isinstance(action, dict) else None
    if not isinstance(kind, str):
        return
    known = actions.get(kind)
    if known is None or known.internal:
        allowed = ", ".join(clients_types(actions))
        why = getattr(actions, "absent", {}).get(kind, "")
        problem = f"not allowed: {shortened(json.dumps(kind))}{', which ' if why else ''}{why}"
        yield FieldError(field="action.type", problem=problem, allowed=allowed)
        return
    found = _stored_errors(known.schema, body, "action", kind, action_validator_of)
    errors = [*islice(map(_moved, found), MAX_ERRORS)]
    yield from errors
    if not errors and MASK in body.text("action"):
        for path in masks_in(action, secrets_in(known.schema)):
            yield evolve(_MASKED, field=field_path("", path))
    yield from _payload_errors(known, payload)


def _moved(error: FieldError) -> FieldError:
    """Knows the fields that an action had once, and says where each is now."""
    return _RETRY if error.field == _RETRY.field else error


def _point_in_time(document: Mapping[str, Any], now: Millis, errors: list[FieldError]) -> Millis:
    """The instant it is due; adds to `errors` and returns 0 where it is none."""
    bad = {error.field for error in errors}
    if not TIMES.isdisjoint(bad):
        return 0
    if "when" in document:
        return now  # it is filed by its acceptance
    if "delaySeconds" in document:
        return now + ceil_millis(Decimal(document["delaySeconds"]))
    allowed = (
        f"RFC 3339 with an offset, or epoch seconds as a number; "
        f"from {format_instant(now - MAX_PAST)} to {format_instant(now + MAX_AHEAD)}"
    )
    try:
        instant = _instant(document["pointInTime"])
    except (ValueError, OverflowError) as error:
        errors.append(FieldError(field="pointInTime", problem=str(error) or "not an instant", allowed=allowed))
        return 0
    if not now - MAX_PAST <= instant <= now + MAX_AHEAD:
        errors.append(FieldError(field="pointInTime", problem=_out_of_range(instant, now), allowed=allowed))
    return instant


def _instant(value: str | int | Decimal) -> Millis:
    if isinstance(value, str):
        return parse_instant(value)
    seconds = Decimal(value)
    if not -MAX_SECONDS <= seconds <= MAX_SECONDS:
        raise ValueError("epoch seconds out of any range")
    return ceil_millis(seconds)


def _out_of_range(instant: Millis, now: Millis) -> str:
    if instant < now:
        return "more than 60 seconds in the past"
    hint = " (epoch seconds are wanted, not milliseconds)" if instant > now * 500 else ""
    return "further than ten years ahead" + hint
