"""The control rows of suspects: `suspect#<digest>` and `passed#<function>`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, StoredItem, number
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, delete_all, put_all, read_all
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.recovery.trial import Trial
from delayer.core.schedule.instants import DAY, SECOND, Millis
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEPT_FOR: Final[Millis] = 30 * DAY  # a row that was never deleted; SQS keeps no message longer than 14 days


@frozen(kw_only=True)
class DynamoTrials:
    """Port Trials."""

    dynamodb: "DynamoDBClient"
    table: str

    def unfinished(self, suspect: str) -> Trial | None:
        row = self._read(f"suspect#{suspect}")
        return Trial(began=number(row, "began"), proofs=number(row, "proofs")) if row else None

    def begin(self, suspect: str, trial: Trial) -> None:
        try:
            self.dynamodb.put_item(TableName=self.table, Item=_row(suspect, trial))
        except AWS_ERRORS as error:
            raise Unavailable(f"begin a trial: {error}") from error

    def finish(self, suspect: str) -> None:
        try:
            self.dynamodb.delete_item(TableName=self.table, Key=_key(f"suspect#{suspect}"))
        except AWS_ERRORS as error:
            raise Unavailable(f"finish a trial: {error}") from error

    def any_unfinished(self, messages: Sequence[str]) -> set[str]:
        rows = read_all(self.dynamodb, self.table, [_key(f"suspect#{one}") for one in messages])
        return {row["name"]["S"].removeprefix("suspect#") for row in rows}

    def begin_all(self, messages: Sequence[str], began: Millis) -> None:
        if put_all(self.dynamodb, self.table, [_row(one, Trial(began=began)) for one in messages]):
            raise Unavailable("begin a run: not all rows are written")

    def finish_all(self, messages: Sequence[str]) -> None:
        if delete_all(self.dynamodb, self.table, [_key(f"suspect#{one}") for one in messages]):
            raise Unavailable("finish a run: not all rows are deleted")

    def note_pass(self, function: str, now: Millis) -> None:
        try:
            self.dynamodb.update_item(
                TableName=self.table,
                Key=_key(f"passed#{function}"),
                UpdateExpression="SET passedAt = :now",
                ConditionExpression="attribute_not_exists(passedAt) OR passedAt < :now",
                ExpressionAttributeValues={":now": {"N": str(now)}},
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"note a pass: {error}") from error

    def passed(self, function: str) -> Millis | None:
        row = self._read(f"passed#{function}")
        return number(row, "passedAt") if row else None

    def _read(self, name: str) -> StoredItem | None:
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key=_key(name), ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read control row {name}: {error}") from error
        return answer.get("Item")


def _row(suspect: str, trial: Trial) -> Item:
    numbers = {"began": trial.began, "proofs": trial.proofs, "expiresAt": (trial.began + KEPT_FOR) // SECOND}
    return {**_key(f"suspect#{suspect}"), **{name: {"N": str(value)} for name, value in numbers.items()}}


def _key(name: str) -> Item:
    return {"name": {"S": name}}
