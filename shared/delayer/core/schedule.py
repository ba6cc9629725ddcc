"""The schedule: what is to be done, and when."""

from typing import Final

from attrs import field, frozen
from attrs.validators import ge, instance_of, max_len, min_len

from delayer.core.bucket import Address
from delayer.core.instants import DAY, Millis
from delayer.core.schedule_id import address_of

TTL_MARGIN: Final[Millis] = 7 * DAY  # DynamoDB's TTL, the last net, deletes a record this long after due (ADR 0023)


@frozen(kw_only=True)
class Schedule:
    """One accepted schedule. Its address is read from its id."""

    id: str = field(validator=instance_of(str))  # see schedule_id
    owner: str = field(validator=[min_len(1), max_len(1024)])  # who may see and cancel it
    point_in_time: Millis = field(validator=ge(0))  # the instant it is due, UTC
    action_type: str = field(validator=min_len(1))  # picks the executor's queue
    action: str = field(validator=instance_of(str))  # the action as JSON, its type included
    payload: str = field(validator=instance_of(str))  # JSON, kept byte for byte as the client sent it (ADR 0028)
    created_at: Millis = field(validator=instance_of(int))  # when it was accepted
    group: str = field(default="", validator=max_len(128))  # its owner lists and cancels by it; empty for none
    on_late: str = field(default="", validator=instance_of(str))  # the rule for a late one as JSON, see `late`
    tags: str = field(default="", validator=instance_of(str))  # JSON, the client's own; nothing here reads them

    @property
    def address(self) -> Address:
        """Where its record stands."""
        return address_of(self.id)

    @property
    def expires_at(self) -> Millis:
        """When DynamoDB's TTL may delete the record, if everything else failed to."""
        return self.address.due + TTL_MARGIN
