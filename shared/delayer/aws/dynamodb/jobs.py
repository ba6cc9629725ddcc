"""Jobs in the registry: list `job#<owner>#<id>` (ADR 0051)."""

from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import ONLY, Item, StoredItem, check_version, entry_key, text
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, item_in_the_way
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.schedule.instants import DAY, SECOND, Millis
from delayer.ports.jobs import JobRow
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VERSION: Final = 1
MAX_ID: Final = 64
LIFETIME: Final[Millis] = 30 * DAY  # of a job, from its beginning


@frozen(kw_only=True)
class DynamoJobs:
    """Port Jobs."""

    dynamodb: "DynamoDBClient"
    table: str

    def read(self, owner: str, job_id: str) -> JobRow | None:
        if "#" in job_id or len(job_id) > MAX_ID:
            # Made up by a client: it could lead to a job of another owner, or be too long for a key.
            return None
        key = entry_key(job_list(owner, job_id), ONLY)
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key=key, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read job: {error}") from error
        return from_item(owner, job_id, answer["Item"]) if "Item" in answer else None

    def put(self, row: JobRow) -> None:
        try:
            self.dynamodb.put_item(
                TableName=self.table,
                Item=to_item(row),
                ConditionExpression="attribute_not_exists(#list)",
                ExpressionAttributeNames={"#list": "list"},
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"put job: {error}") from error

    def swap(self, old: JobRow, new: JobRow) -> bool:
        try:
            self.dynamodb.put_item(
                TableName=self.table,
                Item=to_item(new),
                ConditionExpression="revision = :revision",
                ExpressionAttributeValues={":revision": {"N": str(old.revision)}},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"write job: {error}") from error
            return item_in_the_way(error) == to_item(new)
        return True


def job_list(owner: str, job_id: str) -> str:
    """The list of one job. No id holds a `#`, so no two owners share a list."""
    return f"job#{owner}#{job_id}"


def to_item(row: JobRow) -> Item:
    """A job as DynamoDB stores it."""
    numbers = {
        "v": VERSION,
        "revision": row.revision,
        "createdAt": row.created_at,
        "finishedAt": row.finished_at,
        "cancelled": row.cancelled,
        "handedOver": row.handed_over,
        "ended": row.ended,
        "expiresAt": (row.created_at + LIFETIME) // SECOND,
    }
    numbered: Item = {name: {"N": str(value)} for name, value in numbers.items()}
    return {
        **entry_key(job_list(row.owner, row.job_id), ONLY),
        "group": {"S": row.group},
        "after": {"S": row.after},
        **numbered,
        **({"by": {"S": row.by}} if row.by else {}),
    }


def from_item(owner: str, job_id: str, item: StoredItem) -> JobRow:
    """The inverse of to_item. A row that this code cannot read says nothing: Unavailable."""
    try:
        check_version(item, VERSION)
        return JobRow(
            owner=owner,
            job_id=job_id,
            group=item["group"]["S"],
            created_at=int(item["createdAt"]["N"]),
            revision=int(item["revision"]["N"]),
            after=item["after"]["S"],
            cancelled=int(item["cancelled"]["N"]),
            handed_over=int(item["handedOver"]["N"]),
            ended=int(item["ended"]["N"]),
            finished_at=int(item["finishedAt"]["N"]),
            by=text(item, "by"),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a job that cannot be read: {error!r}") from error
