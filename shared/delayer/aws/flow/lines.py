"""The lines of limits in the registry: the list `flow-slots`, an entry for each limit and revision (ADR 0114)."""

from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, entry_key, number
from delayer.aws.dynamodb.items.lists import whole_list
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, item_in_the_way
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.limits.line import Micros
from delayer.core.schedule.instants import SECOND, Millis
from delayer.ports.lines import Booked, Elsewhere
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VERSION: Final = 1
LIST: Final = "flow-slots"


@frozen(kw_only=True)
class DynamoLines:
    """Port Lines."""

    dynamodb: "DynamoDBClient"
    table: str

    def begin_line(self, line: str, first: Micros, end: Micros, expires_at: Millis) -> Booked | Elsewhere:
        refused = self._update(
            line,
            "SET #next = :end, expiresAt = :expires, v = :v",
            "attribute_not_exists(#next) OR #next <= :first",
            {":end": end, ":first": first, ":expires": expires_at // SECOND, ":v": VERSION},
        )
        return refused if isinstance(refused, Elsewhere) else Booked(first)

    def extend_line(
        self, line: str, known: Micros, by: Micros, slack: Micros, expires_at: Millis
    ) -> Booked | Elsewhere:
        after = self._update(
            line,
            "ADD #next :by SET expiresAt = :expires",
            "#next BETWEEN :known AND :most",
            {":by": by, ":known": known, ":most": known + slack, ":expires": expires_at // SECOND},
        )
        return after if isinstance(after, Elsewhere) else Booked(after - by)

    def line_ends(self) -> dict[str, Micros]:
        try:
            items = whole_list(self.dynamodb, self.table, LIST, latest=False)
        except AWS_ERRORS as error:
            raise Unavailable(f"read lines: {error}") from error
        return {item["entry"]["S"]: number(item, "next") for item in items if "next" in item}

    def _update(self, line: str, update: str, condition: str, values: dict[str, int]) -> Micros | Elsewhere:
        """The line's next free turn afterwards."""
        given: Item = {name: {"N": str(value)} for name, value in values.items()}
        try:
            answer = self.dynamodb.update_item(
                TableName=self.table,
                Key=entry_key(LIST, line),
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeNames={"#next": "next"},
                ExpressionAttributeValues=given,
                ReturnValues="UPDATED_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"book turns: {error}") from error
            return Elsewhere(number(item_in_the_way(error) or {}, "next"))
        return number(answer["Attributes"], "next")
