"""What keeps series going without an event, in the registry: the lists of the net, and the directories (ADR 0100)."""

from typing import TYPE_CHECKING

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import entry_key
from delayer.aws.dynamodb.items.lists import next_page
from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.aws.series.directories import directory_list
from delayer.aws.series.series_table import current_list, filed_in, filed_values, id_in_entry
from delayer.core.schedule.bucket import Bucket
from delayer.core.schedule.schedule_id import address_of
from delayer.core.series.upkeep.rounds import Directory
from delayer.ports.series import Filed
from delayer.ports.series_upkeep import SeriesKey, SeriesKeys
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@frozen(kw_only=True)
class DynamoSeriesUpkeep:
    """Port SeriesUpkeep."""

    dynamodb: "DynamoDBClient"
    table: str

    def look_again(self, filed: Filed, bucket: Bucket) -> None:
        item = {**filed_in(bucket, filed.schedule_id), **filed_values(filed.owner, filed.series)}
        try:
            self.dynamodb.put_item(TableName=self.table, Item=item)
        except AWS_ERRORS as error:
            raise Unavailable(f"file an occurrence again: {error}") from error

    def forget(self, filed: Filed, bucket: Bucket) -> None:
        try:
            self.dynamodb.delete_item(TableName=self.table, Key=filed_in(bucket, filed.schedule_id))
        except AWS_ERRORS as error:
            raise Unavailable(f"take an occurrence off the file: {error}") from error

    def carry(self, entry: str, bucket: Bucket, to: Bucket) -> None:
        here = entry_key(current_list(bucket), entry)
        try:
            found = self.dynamodb.get_item(TableName=self.table, Key=here, ConsistentRead=True).get("Item")
            if found is None:
                return
            self.dynamodb.put_item(TableName=self.table, Item={**found, **entry_key(current_list(to), entry)})
            if not _is_address(bucket, entry):
                self.dynamodb.delete_item(TableName=self.table, Key=here)
        except AWS_ERRORS as error:
            raise Unavailable(f"carry an occurrence on: {error}") from error

    def listed(self, directory: Directory, part: int, after: str = "", at_most: int = 100) -> SeriesKeys:
        entries = directory_list(directory, part)
        try:
            answer = self.dynamodb.query(TableName=self.table, **next_page(entries, after, at_most))
        except AWS_ERRORS as error:
            raise Unavailable(f"query a directory of series: {error}") from error
        more = answer.get("LastEvaluatedKey")
        return SeriesKeys(
            keys=tuple(_key_in(item["entry"]["S"]) for item in answer["Items"]), more=more["entry"]["S"] if more else ""
        )


def _is_address(bucket: Bucket, entry: str) -> bool:
    try:
        return address_of(id_in_entry(entry)).bucket == bucket
    except ValueError:
        return False


def _key_in(entry: str) -> SeriesKey:
    owner, _, series = entry.rpartition("#")
    return SeriesKey(owner=owner, series=series)
