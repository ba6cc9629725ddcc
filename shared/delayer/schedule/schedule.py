"""The schedule: what is to be done, and when."""

from collections.abc import Collection, Mapping
from functools import cache, cached_property
from typing import Annotated, Any, Final

import msgspec
from attrs import Attribute, field, fields, frozen
from attrs.validators import ge, instance_of, max_len, min_len

from delayer.schedule.instants import SECOND, TTL_MARGIN, Malformed, Millis
from delayer.schedule.schedule_id import Address, address_of, is_relaxed

JSON: Final = {"json": True}  # its value is JSON text, kept byte for byte as the client sent it (ADR 0028)
_ANY: Final = msgspec.json.Decoder(msgspec.Raw)
_TEXT: Final = msgspec.json.Decoder(str)
SYSTEM_OWNER: Final = "delayer:system"  # of the schedules that Delayer makes for itself; no client can be this owner
MAX_KEY: Final = 1_024  # bytes of a sort key of DynamoDB
SERIES_ID: Final = 32  # characters
MAX_OWNER: Final = MAX_KEY - len("#") - SERIES_ID  # bytes: the longest sort key has an owner and a series (ADR 0147)


class _Typed(msgspec.Struct):
    type: Annotated[str, msgspec.Meta(min_length=1)]


_ACTION: Final = msgspec.json.Decoder(_Typed)


@frozen(kw_only=True)
class Definition:
    """These fields are carried unchanged from the request to the executor, the events and the history. Empty
    means not given.

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

    @cached_property
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


Secrets = dict[str, Any]  # of a JSON Schema, only what leads to a `writeOnly`


@frozen(kw_only=True)
class Traits:
    """The facts that the registered type of its action said when it was created, for those that know no types.

    It is stored with the schedule: what is shown of it, and whom it waits behind, must not depend on whether its type
    can be looked up, or is still registered, years later (ADR 0088). Empty for a schedule of an older version.
    """

    fair_group: int | None = None  # which of the few message groups of its owner it is in
    secrets: Secrets | None = None  # which fields of its action are secret, or are none, whatever their names are


NO_TRAITS: Final = Traits()


class _StoredTraits(msgspec.Struct, rename="camel", omit_defaults=True):
    fair_group: int | None = None
    secrets: dict[str, Any] | None = None


_TRAITS: Final = msgspec.json.Decoder(_StoredTraits)


def traits_to_text(traits: Traits) -> str:
    """Traits as JSON; empty if there is nothing to say."""
    if traits == NO_TRAITS:
        return ""
    return msgspec.json.encode(_StoredTraits(fair_group=traits.fair_group, secrets=traits.secrets)).decode()


def traits_from_text(text: str | msgspec.Raw) -> Traits:
    """The inverse. Raises msgspec's errors."""
    stored = _TRAITS.decode(text)
    return Traits(fair_group=stored.fair_group, secrets=stored.secrets)


@frozen(kw_only=True)
class Schedule:
    """One accepted schedule. Its address is read from its id."""

    id: str = field(validator=instance_of(str))  # see schedule_id
    owner: str = field(validator=[min_len(1), max_len(MAX_KEY)])  # who may see and cancel it; MAX_OWNER is newer
    point_in_time: Millis = field(validator=ge(0))  # the instant it is due, UTC
    created_at: Millis = field(validator=instance_of(int))  # when it was accepted
    definition: Definition = field(validator=instance_of(Definition))
    traits: Traits = field(default=NO_TRAITS, validator=instance_of(Traits))

    @cached_property
    def address(self) -> Address:
        """Where its record is stored."""
        return address_of(self.id)

    @property
    def is_relaxed(self) -> bool:
        """Whether it is in the lane without precision (ADR 0097)."""
        return is_relaxed(self.id)

    @property
    def expires_at(self) -> Millis:
        """When DynamoDB's TTL may delete the record, if nothing else has done so.

        In the relaxed lane that is what fires it. DynamoDB counts whole seconds: it is rounded up, never early.
        """
        if self.is_relaxed:
            return -(-self.address.due // SECOND) * SECOND
        return self.address.due + TTL_MARGIN
