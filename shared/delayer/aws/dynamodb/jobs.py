"""Jobs in the registry: the lists `job#<owner>#<id>` and `group-job#<owner>#<group>` (ADR 0051)."""

from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import ONLY, Item, StoredItem, check_version, entry_key, number, text
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, failed_conditions, item_in_the_way, once_free
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.jobs.job import JobRow
from delayer.core.schedule.instants import DAY, SECOND, Millis
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
        item = self._read(job_list(owner, job_id))
        return from_item(owner, job_id, item) if item else None

    def latest(self, owner: str, group: str) -> str:
        item = self._read(group_job_list(owner, group))
        return latest_from(item) if item else ""

    def _read(self, entries: str) -> StoredItem | None:
        key = entry_key(entries, ONLY)
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key=key, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read job: {error}") from error
        return answer.get("Item")

    def start(self, row: JobRow, over: str) -> bool:
        latest = latest_item(row)
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(jobId)"}
        if over:
            values = {":over": {"S": over}}
            condition = {"ConditionExpression": "jobId = :over", "ExpressionAttributeValues": values}
        show: dict[str, Any] = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
        writes: Any = [
            {"Put": {"TableName": self.table, "Item": latest, **condition, **show}},
            {"Put": {"TableName": self.table, "Item": to_item(row)}},
        ]
        try:
            once_free(lambda: self.dynamodb.transact_write_items(TransactItems=writes))
        except AWS_ERRORS as error:
            in_the_way = [item for item in failed_conditions(error) if item is not None]
            if not in_the_way:
                raise Unavailable(f"start job: {error}") from error
            return latest in in_the_way  # an earlier try went through, and its answer was lost
        return True

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


def group_job_list(owner: str, group: str) -> str:
    """The list of the latest job of a group. No group holds a `#`."""
    return f"group-job#{owner}#{group}"


def latest_item(row: JobRow) -> Item:
    """The latest job of a group as DynamoDB stores it, for as long as the job."""
    return {
        **entry_key(group_job_list(row.owner, row.group), ONLY),
        "v": {"N": str(VERSION)},
        "jobId": {"S": row.job_id},
        "expiresAt": {"N": str((row.created_at + LIFETIME) // SECOND)},
    }


def latest_from(item: StoredItem) -> str:
    """The id in latest_item. A row that this code cannot read says nothing: Unavailable."""
    try:
        check_version(item, VERSION)
        return item["jobId"]["S"]
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a latest job that cannot be read: {error!r}") from error


def to_item(row: JobRow) -> Item:
    """A job as DynamoDB stores it."""
    numbers = {
        "v": VERSION,
        "revision": row.revision,
        "createdAt": row.created_at,
        "calls": row.calls,
        "until": row.until,
        "covers": row.covers,
        "bound": row.bound,
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
            calls=number(item, "calls") or 1,  # an earlier version had one call for each job
            until=number(item, "until") or int(item["createdAt"]["N"]),
            covers=number(item, "covers") or 1,
            bound=number(item, "bound") or int(item["createdAt"]["N"]),
            after=item["after"]["S"],
            cancelled=int(item["cancelled"]["N"]),
            handed_over=int(item["handedOver"]["N"]),
            ended=int(item["ended"]["N"]),
            finished_at=int(item["finishedAt"]["N"]),
            by=text(item, "by"),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a job that cannot be read: {error!r}") from error
