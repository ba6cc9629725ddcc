"""How many schedules of an owner are live, in the journal table (ADR 0054).

List `live#<owner>` holds counts, one entry for each span of four weeks in which schedules are due, in parts;
`counted#<id>` says whether a schedule is in them.
"""

import zlib
from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import ONLY, Item, entry_key
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, failed_conditions, once_free
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.schedule.instants import DAY, SECOND, Millis
from delayer.core.schedule.schedule_id import address_of
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

SPAN: Final[Millis] = 28 * DAY
PARTS: Final = 5  # of a span's count: two transactions on one item at a time refuse each other
COUNTED, OVER = "counted", "over"


@frozen(kw_only=True)
class DynamoLiveCount:
    """Port LiveCount. Each change is one transaction with the note that the schedule was counted."""

    dynamodb: "DynamoDBClient"
    table: str

    def started(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        put: TransactWriteItemTypeDef = {
            "Put": {
                "TableName": self.table,
                "Item": self._note(schedule_id, COUNTED, expires_at),
                "ConditionExpression": "attribute_not_exists(#list)",
                "ExpressionAttributeNames": {"#list": "list"},
            }
        }
        self._together(put, self._add(owner, schedule_id, 1))

    def ended(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        note = self._note(schedule_id, OVER, expires_at)
        put: TransactWriteItemTypeDef = {
            "Put": {
                "TableName": self.table,
                "Item": note,
                "ConditionExpression": "#state = :counted",
                "ExpressionAttributeNames": {"#state": "state"},
                "ExpressionAttributeValues": {":counted": {"S": COUNTED}},
            }
        }
        if not self._together(put, self._add(owner, schedule_id, -1)) and not self._over_from_the_start(note):
            raise Unavailable("its beginning was counted in between")

    def _over_from_the_start(self, note: Item) -> bool:
        """Its end arrived first: its beginning will not be counted. True also if it is over already."""
        try:
            self.dynamodb.put_item(
                TableName=self.table,
                Item=note,
                ConditionExpression="attribute_not_exists(#list) OR #state = :over",
                ExpressionAttributeNames={"#list": "list", "#state": "state"},
                ExpressionAttributeValues={":over": {"S": OVER}},
            )
        except AWS_ERRORS as error:
            if error_code(error) == CONDITION_FAILED:
                return False
            raise Unavailable(f"count schedules: {error}") from error
        return True

    def _together(self, note: "TransactWriteItemTypeDef", add: "TransactWriteItemTypeDef") -> bool:
        """False: the condition of the note failed, and nothing was written."""
        try:
            once_free(lambda: self.dynamodb.transact_write_items(TransactItems=[note, add]))
        except AWS_ERRORS as error:
            if failed_conditions(error)[:1] not in ([], [None]):
                return False
            raise Unavailable(f"count schedules: {error}") from error
        return True

    def _note(self, schedule_id: str, state: str, expires_at: Millis) -> Item:
        key = entry_key(f"counted#{schedule_id}", ONLY)
        return {**key, "state": {"S": state}, "expiresAt": {"N": str(expires_at // SECOND)}}

    def _add(self, owner: str, schedule_id: str, number: int) -> "TransactWriteItemTypeDef":
        span, part = address_of(schedule_id).due // SPAN, zlib.crc32(schedule_id.encode()) % PARTS
        expires = (span + 3) * SPAN // SECOND  # long after it has ceased to count
        return {
            "Update": {
                "TableName": self.table,
                "Key": entry_key(f"live#{owner}", f"{span:06d}#{part}"),
                "UpdateExpression": "ADD #count :number SET expiresAt = :expires",
                "ExpressionAttributeNames": {"#count": "count"},
                "ExpressionAttributeValues": {":number": {"N": str(number)}, ":expires": {"N": str(expires)}},
            }
        }

    def live(self, owner: str, now: Millis) -> int:
        try:
            pages = self.dynamodb.get_paginator("query").paginate(
                TableName=self.table,
                KeyConditionExpression="#list = :list AND #entry >= :first",
                ExpressionAttributeNames={"#list": "list", "#entry": "entry"},
                ExpressionAttributeValues={
                    ":list": {"S": f"live#{owner}"},
                    ":first": {"S": f"{now // SPAN - 1:06d}"},
                },
            )
            return max(sum(int(item["count"]["N"]) for page in pages for item in page["Items"]), 0)
        except AWS_ERRORS as error:
            raise Unavailable(f"count schedules: {error}") from error
