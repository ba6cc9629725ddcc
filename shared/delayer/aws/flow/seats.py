"""The seats of limits in the registry: the list `flow-slots`, an entry for each limit (ADR 0115)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, StoredItem, entry_key, number
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, item_in_the_way
from delayer.aws.flow.lines import LIST, VERSION
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.limits.seats import Hold, Row, Taking
from delayer.core.schedule.instants import DAY, SECOND
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

HOLD: Final = "hold "  # before its id: an attribute of its own, so that writes of others do not matter


@frozen(kw_only=True)
class DynamoSeats:
    """Port KeepsSeats. No write reads first: the row is counted by DynamoDB, and only a refusal tells it."""

    dynamodb: "DynamoDBClient"
    table: str

    def take_seats(self, seats: str, taking: Taking) -> Row | None:
        names, is_same, values = _same(taking.gone)
        gone = f" REMOVE {', '.join(names)}" if names else ""
        row = self._update(
            seats,
            f"SET taken = if_not_exists(taken, :none) + :by, #mine = :mine, expiresAt = :expires, v = :v{gone}",
            " AND ".join(["attribute_not_exists(#mine)", "(attribute_not_exists(taken) OR taken <= :room)", *is_same]),
            {**names, "#mine": HOLD + taking.hold.id},
            {
                **values,
                ":mine": {"S": taking.hold.text},
                ":none": {"N": "0"},
                ":by": {"N": str(taking.by)},
                ":room": {"N": str(taking.most - taking.by)},
                ":expires": {"N": str((taking.hold.until + DAY) // SECOND)},
                ":v": {"N": str(VERSION)},
            },
        )
        return None if row and taking.hold in row.holds else row

    def return_seats(self, seats: str, holds: Sequence[Hold]) -> Row | None:
        names, is_same, values = _same(holds)
        number_of = sum(one.number for one in holds)
        return self._update(
            seats,
            f"SET taken = taken - :by REMOVE {', '.join(names)}",
            " AND ".join(is_same),
            names,
            {**values, ":by": {"N": str(number_of)}},
        )

    def _update(self, seats: str, update: str, condition: str, names: dict[str, str], values: Item) -> Row | None:
        """The row that is in the way, if one is."""
        try:
            self.dynamodb.update_item(
                TableName=self.table,
                Key=entry_key(LIST, seats),
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=values,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"seats of a limit: {error}") from error
            return _row(item_in_the_way(error) or {})
        return None


def _same(holds: Sequence[Hold]) -> tuple[dict[str, str], list[str], Item]:
    """The attributes of these, the conditions that they are as they were, and the values for that."""
    names = {f"#hold{at}": HOLD + one.id for at, one in enumerate(holds)}
    values: Item = {f":hold{at}": {"S": one.text} for at, one in enumerate(holds)}
    return names, [f"#hold{at} = :hold{at}" for at in range(len(holds))], values


def _row(item: StoredItem) -> Row:
    holds = []
    for name, value in item.items():
        if name.startswith(HOLD):
            seats, until = value["S"].split()
            holds.append(Hold(id=name.removeprefix(HOLD), number=int(seats), until=int(until)))
    return Row(taken=number(item, "taken"), holds=tuple(sorted(holds, key=lambda one: (one.until, one.id))))
