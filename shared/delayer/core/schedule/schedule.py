"""The schedule: what is to be done, and when."""

from typing import Any, Final

import msgspec
from attrs import field, frozen
from attrs.validators import ge, instance_of, max_len, min_len

from delayer.core.schedule.bucket import Address
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.margins import TTL_MARGIN
from delayer.core.schedule.schedule_id import address_of, is_relaxed

SYSTEM_OWNER: Final = "delayer:system"  # of the schedules that Delayer makes for itself; no client can be this owner

MAX_KEY: Final = 1_024  # bytes of a sort key of DynamoDB
SERIES_ID: Final = 32  # characters
MAX_OWNER: Final = MAX_KEY - len("#") - SERIES_ID  # bytes: the longest sort key has an owner and a series (ADR 0147)

Secrets = dict[str, Any]  # of a JSON Schema, only what leads to a `writeOnly`


@frozen(kw_only=True)
class Traits:
    """What the registered type of its action said when it was created, for those that know no types.

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

    @property
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
