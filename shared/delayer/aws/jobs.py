"""Jobs in the registry: list `job#<owner>#<id>` (ADR 0051)."""

from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from delayer.aws.clients import AWS_ERRORS, error_code
from delayer.aws.registry import ONLY
from delayer.core.instants import DAY, SECOND, Millis
from delayer.ports import JobRow, Unavailable

VERSION: Final = 1
MAX_ID: Final = 64
LIFETIME: Final[Millis] = 30 * DAY  # of a job, from its beginning


@frozen(kw_only=True)
class DynamoJobs:
    """Port Jobs."""

    dynamodb: Any
    table: str

    def read(self, owner: str, job_id: str) -> JobRow | None:
        if "#" in job_id or len(job_id) > MAX_ID:
            # Of a client's own making: it could lead to a job of another owner, or be too long for a key.
            return None
        key = {"list": {"S": job_list(owner, job_id)}, "entry": {"S": ONLY}}
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
            if error_code(error) != "ConditionalCheckFailedException":
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
            if error_code(error) != "ConditionalCheckFailedException":
                raise Unavailable(f"write job: {error}") from error
            standing = (getattr(error, "response", None) or {}).get("Item")
            return bool(standing == to_item(new))
        return True


def job_list(owner: str, job_id: str) -> str:
    """The list of one job. No id holds a `#`, so no two owners share a list."""
    return f"job#{owner}#{job_id}"


def to_item(row: JobRow) -> dict[str, Any]:
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
    return {
        "list": {"S": job_list(row.owner, row.job_id)},
        "entry": {"S": ONLY},
        "group": {"S": row.group},
        "after": {"S": row.after},
        **{name: {"N": str(value)} for name, value in numbers.items()},
    }


def from_item(owner: str, job_id: str, item: Mapping[str, Any]) -> JobRow:
    """The inverse of to_item. A row that this code cannot read says nothing: Unavailable."""
    try:
        if item["v"]["N"] != str(VERSION):
            raise ValueError(f"version {item['v']['N']}; this code reads version {VERSION}")
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
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a job that cannot be read: {error!r}") from error
