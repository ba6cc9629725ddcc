"""The schedule: what is to be done, and when."""

from typing import Final

from attrs import field, frozen
from attrs.validators import ge, instance_of, max_len, min_len

from delayer.core.schedule.bucket import Address
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.margins import TTL_MARGIN
from delayer.core.schedule.schedule_id import address_of

SYSTEM_OWNER: Final = "delayer:system"  # of the schedules that Delayer makes for itself; no client can be this owner


@frozen(kw_only=True)
class Schedule:
    """One accepted schedule. Its address is read from its id."""

    id: str = field(validator=instance_of(str))  # see schedule_id
    owner: str = field(validator=[min_len(1), max_len(1024)])  # who may see and cancel it
    point_in_time: Millis = field(validator=ge(0))  # the instant it is due, UTC
    created_at: Millis = field(validator=instance_of(int))  # when it was accepted
    definition: Definition = field(validator=instance_of(Definition))

    @property
    def address(self) -> Address:
        """Where its record is stored."""
        return address_of(self.id)

    @property
    def expires_at(self) -> Millis:
        """When DynamoDB's TTL may delete the record, if nothing else has done so."""
        return self.address.due + TTL_MARGIN
