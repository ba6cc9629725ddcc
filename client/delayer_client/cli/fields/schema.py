"""The fields of a type of action, as flags: made from its JSON Schema in `GET /actions`."""

import re
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, Final

from attrs import frozen

from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.values import pairs, raw_json_of, text_of


class Kind(Enum):
    """How the value of a flag is read."""

    TEXT = auto()
    WHOLE = auto()  # a whole number
    NUMBER = auto()
    SWITCH = auto()  # --keep-answer; --no-… for what is done unless one says so
    TEXTS = auto()  # given several times
    PAIRS = auto()  # given several times, each `Name: value`
    JSON = auto()  # all else


@frozen(kw_only=True)
class Field:
    """One field."""

    name: str  # as the API spells it
    kind: Kind
    is_required: bool
    flags: tuple[str, ...]
    help: str
    choices: tuple[str, ...] = ()

    @property
    def parameter(self) -> str:
        """Its name as a parameter of a function: no flag of the command itself has such a one."""
        return "field_" + re.sub(r"\W", "_", self.name)

    def read(self, given: Any) -> Any:
        """The value for the API. Raises NotRead."""
        flag = self.flags[0]
        match self.kind:
            case Kind.TEXT:
                return self._text(text_of(given, flag) if given.startswith("@") else given, flag)
            case Kind.WHOLE | Kind.NUMBER:
                return self._number(given, flag)
            case Kind.PAIRS:
                return pairs(given, flag)
            case Kind.JSON:
                return raw_json_of(given, flag)
            case Kind.SWITCH:
                return not flag.startswith("--no-")
            case _:
                return given

    def _text(self, given: str, flag: str) -> str:
        if not self.choices or given in self.choices:
            return given
        if given.upper() in self.choices:
            return given.upper()
        raise NotRead(f"{flag} {given!r}: it is one of {', '.join(self.choices)}.")

    def _number(self, given: str, flag: str) -> float:
        try:
            return int(given) if self.kind is Kind.WHOLE else float(given)
        except ValueError:
            raise NotRead(f"{flag} {given!r} is no {'whole ' if self.kind is Kind.WHOLE else ''}number.") from None


def fields(schema: Mapping[str, Any], taken: frozenset[str]) -> list[Field]:
    """All but `type`, those first that are required. A flag in `taken` is called `--action-…` instead."""
    required = list(schema.get("required", ()))
    properties: Mapping[str, Any] = schema.get("properties", {})
    names = sorted((name for name in properties if name != "type"), key=lambda name: name not in required)
    return [field(name, properties[name], name in required, taken) for name in names]


def field(name: str, schema: Mapping[str, Any] | bool, is_required: bool, taken: frozenset[str]) -> Field:
    """One."""
    known = schema if isinstance(schema, Mapping) else {}
    kind = kind_of(known)
    return Field(
        name=name,
        kind=kind,
        is_required=is_required,
        flags=flags(name, kind, taken, is_on=known.get("default") is True),
        help=words(known, is_required),
        choices=tuple(map(str, known.get("enum", ()))) if kind is Kind.TEXT else (),
    )


_PLAIN: Final = {"string": Kind.TEXT, "integer": Kind.WHOLE, "number": Kind.NUMBER, "boolean": Kind.SWITCH}


def kind_of(schema: Mapping[str, Any]) -> Kind:
    """How it is written as a flag."""
    of = schema.get("type")
    if of == "array" and schema.get("items", {}).get("type") == "string":
        return Kind.TEXTS
    values = schema.get("additionalProperties")
    if of == "object" and isinstance(values, Mapping) and values.get("type") == "string":
        return Kind.PAIRS
    if of is None and all(isinstance(one, str) for one in schema.get("enum", (0,))):
        return Kind.TEXT
    return _PLAIN.get(of, Kind.JSON) if isinstance(of, str) else Kind.JSON


def flags(name: str, kind: Kind, taken: frozenset[str], *, is_on: bool = False) -> tuple[str, ...]:
    """`timeoutSeconds` is --timeout-seconds; of `headers`, each is a --header."""
    dashed = re.sub(r"[^a-z0-9]+", "-", re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", name).lower()).strip("-") or "field"
    several = kind in (Kind.TEXTS, Kind.PAIRS) and dashed.endswith("s")
    one = dashed[:-1] if several else f"no-{dashed}" if kind is Kind.SWITCH and is_on else dashed
    return (f"--{one}" if f"--{one}" not in taken else f"--action-{one}",)


def words(schema: Mapping[str, Any], is_required: bool) -> str:
    """The text that the flag's help shows."""
    said = [str(schema.get("description", "")).strip()]
    choices = schema.get("enum")
    if choices:
        said.append(f"One of {', '.join(map(str, choices))}.")
    elif not said[0] and (allowed := schema.get("x-allowed")):
        said.append(f"{allowed[:1].upper()}{allowed[1:]}.")
    elif "minimum" in schema and "maximum" in schema:
        said.append(f"{schema['minimum']} to {schema['maximum']}.")
    if isinstance(schema.get("default"), str | int | float) and not isinstance(schema["default"], bool):
        said.append(f"Default: {schema['default']}.")
    if is_required:
        said.append("Required.")
    return " ".join(one for one in said if one)
