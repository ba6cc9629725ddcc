"""What a client asks for, apart from the time.

One frozen class, held by request, schedule, messages and events. `FIELDS` is the one list of its fields, and every
codec uses it: a new field that only passes through is one line here, and its schema in `openapi.yaml` (ADR 0057).
"""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Any, Final

import msgspec
from attrs import Attribute, field, fields, frozen
from attrs.validators import instance_of, max_len

from delayer.core.schedule.malformed import Malformed

JSON: Final = {"json": True}  # its value is JSON text, kept byte for byte as the client sent it (ADR 0028)


class _Typed(msgspec.Struct):
    type: Annotated[str, msgspec.Meta(min_length=1)]


_ACTION: Final = msgspec.json.Decoder(_Typed)
_ANY: Final = msgspec.json.Decoder(msgspec.Raw)
_TEXT: Final = msgspec.json.Decoder(str)


@frozen(kw_only=True)
class Definition:
    """What is carried unchanged from the request to the executor, the events and the history. Empty means not given.

    The target receives only the payload, and the headers of the action.
    """

    action: str = field(validator=instance_of(str), metadata=JSON)  # its type included
    payload: str = field(default="", validator=instance_of(str), metadata=JSON)
    group: str = field(default="", validator=max_len(128))  # its owner lists and cancels by it
    on_late: str = field(
        default="", validator=instance_of(str), metadata=JSON
    )  # the rule for a late one, see `misfire`
    tags: str = field(
        default="", validator=instance_of(str), metadata=JSON
    )  # the client's own; nothing here reads them
    retry: str = field(
        default="", validator=instance_of(str), metadata=JSON
    )  # how its attempts are repeated, see `retrying`
    series: str = field(
        default="", validator=instance_of(str), metadata=JSON
    )  # of which series it is an occurrence, see `occurrence`; no client gives it
    when: str = field(
        default="", validator=instance_of(str), metadata=JSON
    )  # the policy that decides its time; empty once it has one (ADR 0096)
    window: str = field(
        default="", validator=instance_of(str), metadata=JSON
    )  # within which it fires, see `timing.window`

    @property
    def action_type(self) -> str:
        """The type of the action, which decides which executor does it. Raises Malformed if there is none."""
        try:
            return _ACTION.decode(self.action).type
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise Malformed(f"not an action: {error}") from error


@frozen(kw_only=True)
class DefinitionField:
    """One field of a definition: its name here, its name in JSON and in DynamoDB, and whether its value is JSON."""

    name: str
    wire_name: str
    is_json: bool


@cache
def wire_name(name: str) -> str:
    """The name in JSON and in DynamoDB of an attribute here: `on_late` is `onLate`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _field(attribute: "Attribute[Any]") -> DefinitionField:
    is_json = bool(attribute.metadata.get("json"))
    return DefinitionField(name=attribute.name, wire_name=wire_name(attribute.name), is_json=is_json)


FIELDS: Final = tuple(_field(attribute) for attribute in fields(Definition))


def given(definition: Definition) -> dict[str, str]:
    """The values that are not empty, by their names in JSON."""
    return {one.wire_name: value for one in FIELDS if (value := getattr(definition, one.name))}


def from_texts(texts: Mapping[str, str]) -> Definition:
    """The inverse of `given`; other names are ignored. Raises TypeError if the action is missing."""
    return Definition(**{one.name: texts[one.wire_name] for one in FIELDS if one.wire_name in texts})


def check_json(definition: Definition) -> None:
    """Raises Malformed if a value that goes into messages as JSON is none: it would damage the whole message."""
    for one in FIELDS:
        text = getattr(definition, one.name)
        try:
            _ = _ANY.decode(text) if one.is_json and text else None
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise Malformed(f"{one.wire_name} is no JSON: {error}") from error


def to_json(definition: Definition, left_out: Collection[str] = ()) -> dict[str, str | msgspec.Raw]:
    """The fields of a flat JSON object, by their names there. JSON goes in as its client serialised it."""
    texts = given(definition)
    return {
        one.wire_name: msgspec.Raw(texts[one.wire_name].encode()) if one.is_json else texts[one.wire_name]
        for one in FIELDS
        if one.wire_name in texts and one.wire_name not in left_out
    }


def from_json(values: Mapping[str, msgspec.Raw]) -> Definition:
    """The inverse of to_json. Raises msgspec's errors for a wrong type, TypeError if the action is missing.

    Raises Malformed if the action has no type: the relay chooses the executor's queue by it.
    """
    read = from_texts(
        {
            one.wire_name: bytes(values[one.wire_name]).decode() if one.is_json else _TEXT.decode(values[one.wire_name])
            for one in FIELDS
            if one.wire_name in values
        }
    )
    _ = read.action_type
    return read
