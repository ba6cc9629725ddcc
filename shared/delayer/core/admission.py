"""The body of a POST becomes a schedule, or a list of all that is wrong with it.

The shape is checked against the JSON Schemas of `openapi.yaml`; the instants, which need a clock, here.
"""

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from itertools import islice
from typing import Any, Final

import msgspec
from attrs import frozen
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from delayer.core.instants import SECOND, YEAR, Millis, ceil_millis, format_instant, parse_instant

MAX_BODY_BYTES: Final = 262_144
MAX_PAST: Final[Millis] = 60 * SECOND
MAX_AHEAD: Final[Millis] = 10 * YEAR
MAX_SECONDS: Final = 10**15  # of an epoch; what is beyond is not worth arithmetic
MAX_SHOWN: Final = 80  # characters of a value or a made-up name in an answer
MAX_ERRORS: Final = 50  # a body can be wrong in thousands of places; nobody reads them all


def _pattern(_validator: Any, pattern: str, text: Any, _schema: Any) -> Iterable[ValidationError]:
    """In JSON Schema `$` is the end; in Python it also stands before a last line feed, which no field may have."""
    if isinstance(text, str) and (text.endswith("\n") or not re.search(pattern, text)):
        yield ValidationError(f"{text!r} does not match {pattern!r}")


_CONTRACT = json.loads(files("delayer.core").joinpath("contract.json").read_text())
_Validator: Any = validators.extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call] # jsonschema
_REQUEST = _Validator(_CONTRACT["request"])
_ACTIONS = {kind: _Validator(schema) for kind, schema in _CONTRACT["actions"].items()}

ACTION_TYPES: Final = tuple(sorted(_ACTIONS))


@frozen(kw_only=True)
class Request:
    """A well-formed request."""

    point_in_time: Millis
    action_type: str
    action: str  # JSON
    payload: str  # JSON, byte for byte, or empty if there was none


@frozen(kw_only=True)
class FieldError:
    """What is wrong, where, and what is allowed."""

    field: str  # a path like `action.url`; empty for the body as a whole
    problem: str
    allowed: str = ""


class NotJson(ValueError):
    """The body is no JSON object in UTF-8. Its text is the reason."""


class TooLarge(ValueError):
    """The body is over MAX_BODY_BYTES. Its text says by how much."""


class Invalid(ValueError):
    """One or more fields are wrong."""

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__(f"{len(self.errors)} wrong field(s)")


def admit(body: bytes, now: Millis) -> Request:
    """The request in a body. Raises NotJson, TooLarge or Invalid."""
    if len(body) > MAX_BODY_BYTES:
        raise TooLarge(f"The body has {len(body):,} bytes; at most {MAX_BODY_BYTES:,} are allowed.")
    fields = _fields_of(body)
    payload = fields.pop("payload", b"")
    document = {name: _parse(raw) for name, raw in fields.items()}
    errors = [*islice(_shape_errors(document), MAX_ERRORS)]
    point_in_time = _point_in_time(document, now, errors)
    if errors:
        raise Invalid(errors)
    return Request(
        point_in_time=point_in_time,
        action_type=document["action"]["type"],
        action=json.dumps(document["action"], separators=(",", ":"), default=float),
        payload=_sendable(payload),
    )


def _fields_of(body: bytes) -> dict[str, bytes]:
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


def _decimal(digits: str) -> Decimal:
    """An exponent of twenty digits is JSON, too: a payload may hold it, and for any field it is out of bounds."""
    try:
        return Decimal(digits)
    except InvalidOperation:
        return Decimal("Infinity")


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
        yield FieldError(
            field="pointInTime",
            problem="give exactly one of pointInTime and delaySeconds",
            allowed="pointInTime: RFC 3339 with an offset or epoch seconds; delaySeconds: a number",
        )
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
