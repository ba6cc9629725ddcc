"""Finds the errors in a document by the JSON Schemas of `openapi.yaml`, in words that say what to do.

Nearly all documents have none. So a schema is compiled once into a check that goes through a document in one pass, and
says only whether it is right; one that it does not find right is gone through by jsonschema (ADR 0179).
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from importlib.resources import files
from itertools import chain, groupby, islice
from types import NoneType
from typing import Any, Final

from attrs import frozen
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from delayer.http.json_body import MAX_ERRORS, MAX_SHOWN
from delayer.http.problem import FieldError, Invalid
from delayer.masking.mask import MASK, is_declared_secret, masked_value, secrets_of
from delayer.recurrence.business_hours import FORMATS
from delayer.schedule.json_text import parsed, values_in

MAX_MASKED: Final = 1_000  # values within one that is shown
MOST_DIGITS: Final = 100  # before or after the point, of a number that has to be a multiple of another


def _pattern(_validator: Any, pattern: str, text: Any, schema: Any) -> Iterable[ValidationError]:
    """In JSON Schema `$` is the end; in Python it also matches before a last line feed, which no field may have.

    What is too long is refused for that: no pattern is tried on it, since that may take a while.
    """
    if not isinstance(text, str) or len(text) > schema.get("maxLength", len(text)):
        return
    if text.endswith("\n") or not re.search(pattern, text):
        yield ValidationError(f"{text!r} does not match {pattern!r}")


def _multiple_of(_validator: Any, step: Any, value: Any, _schema: Any) -> Iterable[ValidationError]:
    """In decimal digits, as they were sent: 0.3 is a multiple of 0.1. One with too many digits is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return
    number = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
    has_few_digits = number.is_finite() and max(number.adjusted(), -int(number.as_tuple().exponent)) <= MOST_DIGITS
    if not has_few_digits or Fraction(number) % Fraction(str(step)):
        yield ValidationError(f"{value!r} is not a multiple of {step!r}")


def _multiple_as_read(_validator: Any, step: Any, value: Any, _schema: Any) -> Iterable[ValidationError]:
    """In floats, as the class of an action reads it (msgspec): there, 0.3 is no multiple of 0.1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    is_exact = isinstance(value, int) and isinstance(step, int)
    if value % step if is_exact else math.fmod(value, step):
        yield ValidationError(f"{value!r} is not a multiple of {step!r}")


def _is_written_out(_checker: Any, value: Any) -> bool:
    """Whether the class of an action reads it as an int (msgspec): 1e25 is a float there."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_integer(checker: Any, value: Any) -> bool:
    """For JSON Schema 1e25 is an integer, too. It is not written out: it could be very long."""
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return _is_written_out(checker, value)


def _format(_validator: Any, name: str, text: Any, _schema: Any) -> Iterable[ValidationError]:
    """One that the fields of a policy may name."""
    known = FORMATS.get(name)
    if known and isinstance(text, str) and not known.holds(text):
        yield ValidationError(f"{text!r} is no {name}")


_CONTRACT = json.loads(files("delayer.http").joinpath("contract.json").read_text())
_TYPES: Final = Draft202012Validator.TYPE_CHECKER
_Validator: Any = validators.extend(  # type: ignore[no-untyped-call] # jsonschema
    Draft202012Validator, {"pattern": _pattern, "multipleOf": _multiple_of}
)
_ActionValidator: Any = validators.extend(  # type: ignore[no-untyped-call] # jsonschema
    _Validator, {"multipleOf": _multiple_as_read}, type_checker=_TYPES.redefine("integer", _is_written_out)
)
_PayloadValidator: Any = validators.extend(  # type: ignore[no-untyped-call] # jsonschema
    _Validator, type_checker=_TYPES.redefine("integer", _is_integer)
)
_PolicyValidator: Any = validators.extend(_ActionValidator, {"format": _format})  # type: ignore[no-untyped-call] # jsonschema

# ------------------------------------------------------------ whether a document is right

Check = Callable[[Any], bool]
Rules = Mapping[type, Check]  # by the class of a value, whether it is right; a value of another class is not
CLASSES: Final[Mapping[str, tuple[type, ...]]] = {  # that JSON is read as, by the types of JSON Schema
    "string": (str,),
    "integer": (int, float, Decimal),
    "number": (int, float, Decimal),
    "object": (dict,),
    "array": (list,),
    "boolean": (bool,),
    "null": (NoneType,),
}
_EVERY: Final = tuple(dict.fromkeys(chain.from_iterable(CLASSES.values())))
_UNDERSTOOD: Final = frozenset({
    "type", "const", "enum", "anyOf", "properties", "required", "additionalProperties", "propertyNames", "items",
    "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "minItems", "maxItems", "minProperties", "maxProperties", "multipleOf", "format", "if",
})  # fmt: skip
_AS_CLASSES: Final = (str, bool, NoneType)  # a value of one of these is the same as no value of another class


class _NotUnderstood(ValueError):
    """A schema that is left to jsonschema."""


@frozen(kw_only=True)
class CompiledSchema:
    """A JSON Schema with its validator, and with the same rules as one quick check, which finds the same right."""

    validator: Any  # of jsonschema

    @property
    def schema(self) -> Any:
        """As JSON. Do not change it."""
        return self.validator.schema

    @cached_property
    def rules(self) -> Rules:
        """Compiled when the first document comes. Empty for a schema with a keyword that is not understood here."""
        try:
            return _rules_of(self.schema, self.validator)
        except (_NotUnderstood, TypeError, AttributeError, KeyError, re.error, RecursionError):
            return {}

    def is_right(self, document: Any) -> bool:
        """Whether nothing is wrong. False, too, if that is not known: jsonschema finds out then."""
        check = self.rules.get(type(document))
        return check is not None and check(document)


def _rules_of(schema: Any, validator: Any) -> Rules:
    """The rules of a schema. Raises _NotUnderstood, or what a schema raises that is none."""
    if isinstance(schema, bool):
        return dict.fromkeys(_EVERY, _anything) if schema else {}
    if {name for name in schema if name in validator.VALIDATORS} - _UNDERSTOOD:
        raise _NotUnderstood(schema)
    condition = [_rules_of(schema.get(name, True), validator) for name in ("if", "then", "else") if "if" in schema]
    branches = [_rules_of(one, validator) for one in schema["anyOf"]] if "anyOf" in schema else None
    named = schema.get("type", list(CLASSES))
    found: dict[type, Check] = {}
    for kind in dict.fromkeys(chain.from_iterable(CLASSES[name] for name in _listed(named))):
        checks = [*_checks_of(kind, schema, validator), *_choices(kind, schema, validator)]
        if branches is not None:
            checks.append(_any_of([rules[kind] for rules in branches if kind in rules]))
        if condition:
            checks.append(_either(*(rules.get(kind, _nothing) for rules in condition)))
        if _nothing not in checks:
            found[kind] = _all_of([one for one in checks if one is not _anything])
    return found


def _listed(named: Any) -> Sequence[str]:
    return [named] if isinstance(named, str) else named


def _checks_of(kind: type, schema: Mapping[str, Any], validator: Any) -> Iterable[Check]:
    """The checks of the keywords that concern values of this class. The rare ones are the validator's own."""
    if kind is str:
        yield _text_check(schema)
    elif kind is dict:
        yield _object_check(schema, validator)
    elif kind is list:
        yield _list_check(schema, validator)
    elif kind in CLASSES["number"]:
        yield _number_check(schema)
        if kind is not int and "number" not in _listed(schema.get("type", "number")):
            yield _as_jsonschema("type", schema, validator)  # it may be an integer
    for name in ("multipleOf", "format"):
        if name in schema:
            yield _as_jsonschema(name, schema, validator)


def _choices(kind: type, schema: Mapping[str, Any], validator: Any) -> Iterable[Check]:
    """The checks by constants."""
    for name in ("enum", "const"):
        if name in schema and kind not in _AS_CLASSES:
            yield _as_jsonschema(name, schema, validator)
        elif name in schema:
            allowed = [one for one in (schema[name] if name == "enum" else [schema[name]]) if type(one) is kind]
            yield partial(_is_one_of, allowed) if allowed else _nothing


def _either(condition: Check, then: Check, otherwise: Check) -> Check:
    return lambda value: then(value) if condition(value) else otherwise(value)


def _text_check(schema: Mapping[str, Any]) -> Check:
    least, most = schema.get("minLength", 0), schema.get("maxLength", math.inf)
    search = re.compile(schema["pattern"]).search if "pattern" in schema else None
    if search is not None:
        return lambda text: least <= len(text) <= most and text[-1:] != "\n" and search(text) is not None
    return (lambda text: least <= len(text) <= most) if (least, most) != (0, math.inf) else _anything


def _number_check(schema: Mapping[str, Any]) -> Check:
    least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    over, under = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if (least, most, over, under) == (-math.inf, math.inf, None, None):
        return _anything

    def is_right(number: Any) -> bool:
        is_within = (over is None or number > over) and (under is None or number < under)
        return is_within and bool(least <= number <= most)

    return is_right


def _list_check(schema: Mapping[str, Any], validator: Any) -> Check:
    least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    rules = _rules_of(schema.get("items", True), validator)

    def is_right(items: list[Any]) -> bool:
        if not least <= len(items) <= most:
            return False
        for one in items:
            check = rules.get(type(one))
            if check is None or not (check is _anything or check(one)):
                return False
        return True

    return is_right


def _object_check(schema: Mapping[str, Any], validator: Any) -> Check:
    least, most = schema.get("minProperties", 0), schema.get("maxProperties", math.inf)
    required = frozenset(schema.get("required", ()))
    fields = {name: _rules_of(one, validator) for name, one in schema.get("properties", {}).items()}
    others = _rules_of(schema.get("additionalProperties", True), validator)
    named = _rules_of(schema.get("propertyNames", True), validator).get(str, _nothing)

    def is_right(document: dict[str, Any]) -> bool:
        if not (least <= len(document) <= most and required <= document.keys()):
            return False
        for name, one in document.items():
            check = fields.get(name, others).get(type(one))
            if check is None or not (check is _anything or check(one)):
                return False
        return named is _anything or all(map(named, document))

    return is_right


def _all_of(checks: Sequence[Check]) -> Check:
    if len(checks) < 2:
        return checks[0] if checks else _anything
    return lambda value: all(check(value) for check in checks)


def _any_of(checks: Sequence[Check]) -> Check:
    if len(checks) < 2 or _anything in checks:
        return _anything if _anything in checks else next(iter(checks), _nothing)
    return lambda value: any(check(value) for check in checks)


def _is_one_of(allowed: Sequence[Any], value: Any) -> bool:
    return value in allowed


def _as_jsonschema(name: str, schema: Mapping[str, Any], validator: Any) -> Check:
    """The very function of the validator, for one keyword."""
    errors, rule = validator.VALIDATORS[name], schema[name]
    return lambda value: not [*(errors(validator, rule, value, schema) or ())]


def _anything(_value: Any) -> bool:
    return True


def _nothing(_value: Any) -> bool:
    return False


# ------------------------------------------------------------ the schemas


def _compiled(schema: Any) -> CompiledSchema:
    return CompiledSchema(validator=_Validator(schema))


REQUEST: Final = _compiled(_CONTRACT["request"])
CHANGE: Final = _compiled(_CONTRACT["change"])
LISTING: Final = _compiled(_CONTRACT["listing"])
GROUP: Final = _compiled(_CONTRACT["group"])
NAME: Final = _compiled(_CONTRACT["request"]["properties"]["name"])
SERIES: Final = _compiled(_CONTRACT["series"])
SERIES_CHANGE: Final = _compiled(_CONTRACT["seriesChange"])
BACKFILL: Final = _compiled(_CONTRACT["backfill"])
PREVIEW: Final = _compiled(_CONTRACT["preview"])
ROTATION: Final = _compiled(_CONTRACT["rotation"])
SERIES_LISTING: Final = _compiled(_CONTRACT["seriesListing"])
OCCURRENCES: Final = _compiled(_CONTRACT["occurrences"])
NEXT: Final = _compiled(_CONTRACT["next"])
CONNECTIONS: Final = {kind: _compiled(schema) for kind, schema in _CONTRACT["connections"].items()}
CONNECTION_TEST: Final = _compiled(_CONTRACT["connectionTest"])
CONNECTION_LISTING: Final = _compiled(_CONTRACT["connectionListing"])


@lru_cache(maxsize=256)
def validator_of(schema: str) -> CompiledSchema:
    """For a schema that a registered action has for its payload, as JSON text."""
    return CompiledSchema(validator=_PayloadValidator(parsed(schema)))


@lru_cache(maxsize=256)
def action_validator_of(schema: str) -> CompiledSchema:
    """For the schema of a registered action, as JSON text: it takes what the class of the action takes."""
    return CompiledSchema(validator=_ActionValidator(parsed(schema)))


@lru_cache(maxsize=256)
def policy_validator_of(schema: str) -> CompiledSchema:
    """For the schema of a policy, as JSON text: its formats are checked, too."""
    return CompiledSchema(validator=_PolicyValidator(parsed(schema)))


# ------------------------------------------------------------ what is wrong


def errors_of(schema: CompiledSchema, document: Any, path: str = "") -> Iterable[FieldError]:
    """All errors of a document, or of the part of it under this path."""
    if schema.is_right(document):
        return
    for error in schema.validator.iter_errors(document):
        yield from _teach(error, path)


def _teach(error: ValidationError, prefix: str, *, is_secret: bool = False) -> Iterable[FieldError]:
    """One JSON Schema error, in words that say what to do. What is secret in a choice is so in each of its branches."""
    schema: Any = error.schema
    is_secret = is_secret or is_declared_secret(schema)
    show = partial(_shown, error, is_secret=is_secret)
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
            choices = rule if error.validator == "enum" else [rule]
            allowed = ", ".join(one if isinstance(one, str) else json.dumps(one) for one in choices)
            yield FieldError(field=path, problem=f"not allowed: {show()}", allowed=allowed)
        case "type":
            yield FieldError(field=path, problem=f"wrong type: {show()}", allowed=_types([rule]))
        case "pattern" | "format" as kind:
            name = field_path(path, str(instance)) if "propertyNames" in error.absolute_schema_path else path
            words = FORMATS[rule].allowed if kind == "format" else f"must match {rule}"
            allowed = schema.get("x-allowed") or words
            yield FieldError(field=name, problem=f"not allowed: {show()}", allowed=allowed)
        case "anyOf":
            yield from _teach_choice(error, prefix, path, show, is_secret=is_secret)
        case rule_name:
            yield FieldError(field=path, problem=f"out of bounds: {show()}", allowed=_bound(rule_name, rule))


def _teach_choice(
    error: ValidationError, prefix: str, path: str, show: Callable[[], str], *, is_secret: bool
) -> Iterable[FieldError]:
    """Finds the errors by the branch of `anyOf` that the client meant."""
    context = error.context or []
    branches = [[*errors] for _, errors in groupby(context, key=_branch)]
    meant = [errors for errors in branches if not any(map(_is_of_another_type, errors))]
    for one in min(meant, key=_distance, default=()):
        yield from _teach(one, prefix, is_secret=is_secret)
    if not meant:
        types = _types(one.validator_value for one in context if one.validator and _is_of_another_type(one))
        yield FieldError(field=path, problem=f"wrong type: {show()}", allowed=shortened(types) or "nothing")


_BOUNDS: Final = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} fields",
    "maxProperties": "at most {} fields",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
}


def _bound(name: Any, rule: Any) -> str:
    if not name:
        return "nothing"
    words = _BOUNDS.get(name, name + " {}").format(rule)
    return shortened(words.removesuffix("s") if rule == 1 else words)


def _branch(error: ValidationError) -> Any:
    """Its number. The error of one that is `false` does not say it."""
    return next(iter(error.relative_schema_path), None)


def _is_of_another_type(error: ValidationError) -> bool:
    """The value itself, not one within it. For a branch that is `false` it always is."""
    return error.validator in ("type", None) and not error.relative_path


def _distance(errors: Sequence[ValidationError]) -> tuple[int, int]:
    """How far a branch is from what the client meant. Of several classes, one says by a constant which it is."""
    return sum(error.validator == "const" for error in errors), len(errors)


def _types(rules: Iterable[Any]) -> str:
    return " or ".join(chain.from_iterable([rule] if isinstance(rule, str) else rule for rule in rules))


def field_path(path: str, name: str) -> str:
    """A field's path; a name that the client made up is cut short."""
    return f"{path}.{shortened(name)}" if path else shortened(name)


def _shown(error: ValidationError, *, is_secret: bool) -> str:
    """The value as the client wrote it, cut short; a secret is masked in an error, too (ADR 0067)."""
    names = [step for step in error.absolute_path if isinstance(step, str)]
    value: Any = error.instance
    if not is_secret and _is_large(value):  # to mask it once for each of its errors would take long
        return f"{len(value):,} {'fields' if isinstance(value, dict) else 'items'}"
    value = MASK if is_secret else masked_value(names[-1] if names else "", value, secrets_of(error.schema))
    return shortened(str(value) if isinstance(value, Decimal) else json.dumps(value, default=str))


def _is_large(value: Any) -> bool:
    level, left = [value], MAX_MASKED
    while level and left >= 0:
        left -= len(level)
        level = [*islice(chain.from_iterable(map(values_in, level)), MAX_MASKED)]
    return left < 0


def shortened(text: str) -> str:
    """Shortens a client's text for an answer."""
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."


def first_errors(found: Iterable[FieldError]) -> list[FieldError]:
    """Raises Invalid if there are too many for one answer: a list that was cut short vouches for no field."""
    errors = [*islice(found, MAX_ERRORS)]
    if len(errors) == MAX_ERRORS:
        raise Invalid(errors)
    return errors
