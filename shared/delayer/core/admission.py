"""The body of a POST becomes a schedule, or a list of all that is wrong with it.

The shape is checked against the JSON Schemas of `openapi.yaml`; the instants, which need a clock, here.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from itertools import islice
from typing import Any, Final

import msgspec
from attrs import evolve
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from delayer.core.instants import SECOND, YEAR, Millis, ceil_millis, format_instant, parse_instant
from delayer.core.lifecycle import State
from delayer.core.request import Change, FieldError, Invalid, Listing, NotJson, Request, TooLarge
from delayer.core.schedule_id import FAR, address_of

MAX_BODY_BYTES: Final = 262_144
MAX_BATCH: Final = 100  # schedules in one call
MAX_BATCH_BYTES: Final = 2_097_152  # Lambda takes six MiB, in which each quote of the body is escaped
DEFAULT_LIMIT: Final = 50
MAX_PAST: Final[Millis] = 60 * SECOND
MAX_AHEAD: Final[Millis] = 10 * YEAR
MAX_SECONDS: Final = 10**15  # of an epoch; what is beyond is not worth arithmetic
MAX_INTEGER: Final = 10**19  # what is larger stays a Decimal: its digits may be thousands
MAX_SHOWN: Final = 80  # characters of a value or a made-up name in an answer
MAX_ERRORS: Final = 50  # a body can be wrong in thousands of places; nobody reads them all


def _pattern(_validator: Any, pattern: str, text: Any, _schema: Any) -> Iterable[ValidationError]:
    """In JSON Schema `$` is the end; in Python it also stands before a last line feed, which no field may have."""
    if isinstance(text, str) and (text.endswith("\n") or not re.search(pattern, text)):
        yield ValidationError(f"{text!r} does not match {pattern!r}")


_CONTRACT = json.loads(files("delayer.core").joinpath("contract.json").read_text())
_Validator: Any = validators.extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call] # jsonschema
_REQUEST = _Validator(_CONTRACT["request"])
_CHANGE = _Validator(_CONTRACT["change"])
_LISTING = _Validator(_CONTRACT["listing"])
_GROUP = _Validator(_CONTRACT["group"])
_NAME = _Validator(_CONTRACT["request"]["properties"]["name"])
_ACTIONS = {kind: _Validator(schema) for kind, schema in _CONTRACT["actions"].items()}

ACTION_TYPES: Final = tuple(sorted(_ACTIONS))


def admit(body: bytes, now: Millis) -> Request:
    """The request in a body. Raises NotJson, TooLarge or Invalid."""
    document, payload = _document(body)
    errors = [*islice(_shape_errors(document), MAX_ERRORS)]
    point_in_time = _point_in_time(document, now, errors)
    if errors:
        raise Invalid(errors)
    return Request(
        point_in_time=point_in_time,
        action_type=document["action"]["type"],
        action=_compact(document["action"]),
        payload=_sendable(payload or b""),
        name=document.get("name", ""),
        group=document.get("group", ""),
        on_late=_compact(document["onLate"]) if "onLate" in document else "",
        tags=_compact(document["tags"]) if document.get("tags") else "",
    )


def admit_named(body: bytes, name: str, now: Millis) -> Request:
    """The request in the body of a PUT by name. Raises as `admit`, and Invalid if the body has another name."""
    errors = [found for error in _NAME.iter_errors(name) for found in _teach(error, "name")]
    if errors:
        raise Invalid(errors)
    request = admit(body, now)
    if request.name not in ("", name):
        raise Invalid([FieldError(field="name", problem="not the name in the path", allowed=name)])
    return request


def admit_batch(body: bytes) -> list[bytes]:
    """The bodies in the body of a batch, each to be admitted by itself. Raises NotJson, TooLarge or Invalid."""
    if len(body) > MAX_BATCH_BYTES:
        raise TooLarge(f"The body has {len(body):,} bytes; at most {MAX_BATCH_BYTES:,} are allowed.")
    fields = _fields_of(body)
    unknown = sorted(set(fields) - {"schedules"})
    errors = [FieldError(field=_join("", name), problem="unknown field", allowed="schedules") for name in unknown]
    try:
        bodies = msgspec.json.decode(fields.get("schedules", b"[]"), type=list[msgspec.Raw])
    except msgspec.MsgspecError:
        bodies = []
    if not 1 <= len(bodies) <= MAX_BATCH:
        problem = "wrong number or type" if "schedules" in fields else "missing"
        errors.append(FieldError(field="schedules", problem=problem, allowed=f"an array of 1 to {MAX_BATCH} schedules"))
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    return [bytes(one) for one in bodies]


def admit_group(query: Mapping[str, str]) -> str:
    """The group in the query of a call that is about a whole group. Raises Invalid."""
    errors = [found for error in _GROUP.iter_errors(dict(query)) for found in _teach(error, "")]
    if errors:
        raise Invalid(errors)
    return query["group"]


def admit_listing(query: Mapping[str, str]) -> Listing:
    """The listing that a query asks for. Raises Invalid."""
    document: dict[str, Any] = {**query}
    if re.fullmatch(r"-?[0-9]+", document.get("limit", ""), re.ASCII):
        document["limit"] = _integer(document["limit"])
    errors = [found for error in _LISTING.iter_errors(document) for found in _teach(error, "")]
    since, until = (_bound(document, name, errors) for name in ("from", "to"))
    after = _after(document["cursor"], errors) if "cursor" in document else ""
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    state = State(document["state"]) if "state" in document else None
    limit = document.get("limit", DEFAULT_LIMIT)
    group = document.get("group", "")
    return Listing(
        group=group, state=state, since=since or 0, until=FAR if until is None else until, limit=limit, after=after
    )


def _bound(document: Mapping[str, Any], name: str, errors: list[FieldError]) -> Millis | None:
    """An instant, rounded up: a schedule's is, too."""
    if name not in document:
        return None
    try:
        return parse_instant(str(document[name]))
    except (ValueError, OverflowError) as error:
        errors.append(
            FieldError(
                field=name,
                problem=str(error) or "not an instant",
                allowed="RFC 3339 with an offset, a + written as %2B",
            )
        )
        return None


def cursor_after(schedule_id: str) -> str:
    """What brings the page after this schedule; nobody else's business what it holds."""
    return base64.urlsafe_b64encode(f"1{schedule_id}".encode()).decode().rstrip("=")


def _after(cursor: str, errors: list[FieldError]) -> str:
    """The inverse of cursor_after."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        if text[0] == "1" and address_of(text[1:]) and cursor_after(text[1:]) == cursor:
            return text[1:]
    except (ValueError, IndexError):
        pass
    errors.append(FieldError(field="cursor", problem="not one of ours", allowed="the nextCursor of the page before"))
    return ""


def admit_change(body: bytes, now: Millis) -> Change:
    """The change in a body. Raises NotJson, TooLarge or Invalid."""
    document, payload = _document(body)
    shown = document if payload is None else {**document, "payload": None}
    errors = [found for error in islice(_CHANGE.iter_errors(shown), MAX_ERRORS) for found in _teach(error, "")]
    is_timed = "pointInTime" in document or "delaySeconds" in document
    if not shown:
        errors = [FieldError(field="", problem="nothing to change", allowed="pointInTime or delaySeconds, payload")]
    if "pointInTime" in document and "delaySeconds" in document:
        errors.append(evolve(_ONE_TIME, problem="give one of pointInTime and delaySeconds, not both"))
    point_in_time = _point_in_time(document, now, errors) if is_timed else None
    if errors:
        raise Invalid(errors)
    return Change(point_in_time=point_in_time, payload=None if payload is None else _sendable(payload))


_ONE_TIME: Final = FieldError(
    field="pointInTime",
    problem="give exactly one of pointInTime and delaySeconds",
    allowed="pointInTime: RFC 3339 with an offset or epoch seconds; delaySeconds: a number",
)


def _document(body: bytes) -> tuple[dict[str, Any], bytes | None]:
    """The fields but the payload, and the payload as it was sent."""
    if len(body) > MAX_BODY_BYTES:
        raise TooLarge(f"The body has {len(body):,} bytes; at most {MAX_BODY_BYTES:,} are allowed.")
    fields = _fields_of(body)
    payload = fields.pop("payload", None)
    return {name: _parse(raw) for name, raw in fields.items()}, payload


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), default=float)


def _fields_of(body: bytes) -> dict[str, bytes]:
    if not body.strip():
        raise NotJson("The body must be a JSON object in UTF-8: it is empty")
    try:
        body.decode("utf-8")
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        for raw in fields.values():
            _parse(raw)
    except (UnicodeError, msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise NotJson(f"The body must be a JSON object in UTF-8: {_first_line(error)}") from error
    return {name: bytes(raw) for name, raw in fields.items()}


def _parse(raw: bytes | msgspec.Raw) -> Any:
    """Numbers keep their decimal digits: an epoch second of 1795251600.25 must not gain a millisecond."""
    return json.loads(bytes(raw), parse_float=_decimal, parse_int=_integer, parse_constant=_refuse_constant)


def _decimal(digits: str) -> int | Decimal:
    """An exponent of twenty digits is JSON, too: a payload may hold it, and for any field it is out of bounds.

    13.0 is an integer, for JSON Schema and so for the contract.
    """
    try:
        number = Decimal(digits)
    except InvalidOperation:
        return Decimal("Infinity")
    is_integer = number.copy_abs() < MAX_INTEGER and number == number.to_integral_value()
    return int(number) if is_integer else number


def _integer(digits: str) -> int | Decimal:
    """Python refuses to read integers of thousands of digits; JSON allows them."""
    return int(digits) if len(digits) < 20 else Decimal(digits)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _first_line(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error).split("\n", 1)[0]


def _sendable(payload: bytes) -> str:
    """U+FFFE and U+FFFF are JSON, but SQS refuses them: escaped, they mean the same, and are twice as long."""
    text = payload.decode().replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
    if len(text.encode()) > MAX_BODY_BYTES:
        raise TooLarge(f"The payload is over {MAX_BODY_BYTES:,} bytes once U+FFFE and U+FFFF are escaped.")
    return text


def _shape_errors(document: Mapping[str, Any]) -> Iterable[FieldError]:
    for error in _REQUEST.iter_errors(document):
        yield from _teach(error, "")
    if ("pointInTime" in document) == ("delaySeconds" in document):
        yield _ONE_TIME
    action = document.get("action")
    kind = action.get("type") if isinstance(action, dict) else None
    if isinstance(kind, str) and kind in _ACTIONS:
        for error in _ACTIONS[kind].iter_errors(action):
            yield from _teach(error, "action")


def _point_in_time(document: Mapping[str, Any], now: Millis, errors: list[FieldError]) -> Millis:
    """The instant it is due; adds to `errors` and returns 0 where it is none."""
    bad = {error.field for error in errors}
    if "pointInTime" in bad or "delaySeconds" in bad:
        return 0
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


def _teach(error: ValidationError, prefix: str) -> Iterable[FieldError]:
    """One JSON Schema error, in words that say what to do."""
    schema: Any = error.schema
    path = ".".join([prefix] * bool(prefix) + [str(step) for step in error.absolute_path])
    rule: Any = error.validator_value
    instance: Any = error.instance
    match error.validator:
        case "required":
            missing = next(name for name in rule if f"'{name}'" in error.message.split(" is ")[0])
            yield FieldError(field=_join(path, missing), problem="missing", allowed="required")
        case "additionalProperties" if rule is False:
            known = sorted(schema["properties"])
            for name in sorted(set(instance) - set(known)):
                yield FieldError(field=_join(path, name), problem="unknown field", allowed=", ".join(known))
        case "enum" | "const":
            allowed = ", ".join(rule) if isinstance(rule, list) else str(rule)
            yield FieldError(field=path, problem=f"not allowed: {_shown(instance)}", allowed=allowed)
        case "type":
            allowed = " or ".join(rule) if isinstance(rule, list) else rule
            yield FieldError(field=path, problem=f"wrong type: {_shown(instance)}", allowed=allowed)
        case "pattern":
            name = _join(path, str(instance)) if "propertyNames" in error.absolute_schema_path else path
            allowed = schema.get("x-allowed") or f"must match {rule}"
            yield FieldError(field=name, problem=f"not allowed: {_shown(instance)}", allowed=allowed)
        case rule_name:
            yield FieldError(field=path, problem=f"out of bounds: {_shown(instance)}", allowed=f"{rule_name} {rule}")


def _join(path: str, name: str) -> str:
    """A field's path; a name that the client made up is cut short."""
    name = name if len(name) <= MAX_SHOWN else name[: MAX_SHOWN - 3] + "..."
    return f"{path}.{name}" if path else name


def _shown(value: Any) -> str:
    """The value as the client wrote it, cut short."""
    text = str(value) if isinstance(value, Decimal) else json.dumps(value, default=str)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."
