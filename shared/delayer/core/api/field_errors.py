"""What is wrong with a document, by the JSON Schemas of `openapi.yaml`, in words that say what to do."""

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from delayer.core.actions.action_type import parsed
from delayer.core.api.request import FieldError
from delayer.core.masking.mask import MASK, masked_value

MAX_SHOWN: Final = 80  # characters of a value or a made-up name in an answer
MAX_ERRORS: Final = 50  # a body can be wrong in thousands of places; nobody reads them all


def _pattern(_validator: Any, pattern: str, text: Any, schema: Any) -> Iterable[ValidationError]:
    """In JSON Schema `$` is the end; in Python it also matches before a last line feed, which no field may have.

    What is too long is refused for that: no pattern is tried on it, since that may take a while.
    """
    if not isinstance(text, str) or len(text) > schema.get("maxLength", len(text)):
        return
    if text.endswith("\n") or not re.search(pattern, text):
        yield ValidationError(f"{text!r} does not match {pattern!r}")


_CONTRACT = json.loads(files("delayer.core.api").joinpath("contract.json").read_text())
_Validator: Any = validators.extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call] # jsonschema
REQUEST: Final = _Validator(_CONTRACT["request"])
CHANGE: Final = _Validator(_CONTRACT["change"])
LISTING: Final = _Validator(_CONTRACT["listing"])
GROUP: Final = _Validator(_CONTRACT["group"])
NAME: Final = _Validator(_CONTRACT["request"]["properties"]["name"])


@lru_cache(maxsize=256)
def validator_of(schema: str) -> Any:
    """For the schema of a registered action, as JSON text."""
    return _Validator(parsed(schema))


def errors_of(schema: Any, document: Any, path: str = "") -> Iterable[FieldError]:
    """All errors of a document, or of the part of it under this path."""
    for error in schema.iter_errors(document):
        yield from _teach(error, path)


def _teach(error: ValidationError, prefix: str) -> Iterable[FieldError]:
    """One JSON Schema error, in words that say what to do."""
    schema: Any = error.schema
    path = ".".join([prefix] * bool(prefix) + [str(step) for step in error.absolute_path])
    rule: Any = error.validator_value
    instance: Any = error.instance
    match error.validator:
        case "required":
            missing = next(name for name in rule if error.message == f"{name!r} is a required property")
            yield FieldError(field=field_path(path, missing), problem="missing", allowed="required")
        case "additionalProperties" if rule is False:
            known = sorted(schema.get("properties", {}))
            for name in sorted(set(instance) - set(known)):
                yield FieldError(field=field_path(path, name), problem="unknown field", allowed=", ".join(known))
        case "enum" | "const":
            allowed = ", ".join(map(str, rule)) if isinstance(rule, list) else str(rule)
            yield FieldError(field=path, problem=f"not allowed: {_shown(instance, error)}", allowed=allowed)
        case "type":
            allowed = " or ".join(rule) if isinstance(rule, list) else rule
            yield FieldError(field=path, problem=f"wrong type: {_shown(instance, error)}", allowed=allowed)
        case "pattern":
            name = field_path(path, str(instance)) if "propertyNames" in error.absolute_schema_path else path
            allowed = schema.get("x-allowed") or f"must match {rule}"
            yield FieldError(field=name, problem=f"not allowed: {_shown(instance, error)}", allowed=allowed)
        case rule_name:
            yield FieldError(
                field=path,
                problem=f"out of bounds: {_shown(instance, error)}",
                allowed=shortened(f"{rule_name} {rule}") if rule_name else "nothing",
            )


def field_path(path: str, name: str) -> str:
    """A field's path; a name that the client made up is cut short."""
    return f"{path}.{shortened(name)}" if path else shortened(name)


def _shown(value: Any, error: ValidationError) -> str:
    """The value as the client wrote it, cut short; a secret is masked in an error, too (ADR 0067)."""
    names = [step for step in error.absolute_path if isinstance(step, str)]
    is_secret = isinstance(error.schema, dict) and error.schema.get("writeOnly") is True
    value = MASK if is_secret else masked_value(names[-1] if names else "", value)
    return shortened(str(value) if isinstance(value, Decimal) else json.dumps(value, default=str))


def shortened(text: str) -> str:
    """What a client wrote, as it is shown in an answer."""
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."
