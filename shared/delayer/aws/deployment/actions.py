"""The registered action types in DynamoDB: one control row, `actions`, with a text for each type."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec
from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.actions import action_type
from delayer.core.actions.registration import Registration, Registrations
from delayer.core.schedule.malformed import Malformed, UnknownVersion
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEY: Final[Item] = {"name": {"S": "actions"}}


@frozen(kw_only=True)
class DynamoActions:
    """Port Actions."""

    dynamodb: "DynamoDBClient"
    table: str

    def actions(self) -> Mapping[str, Registrations]:
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key=KEY, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read the actions: {error}") from error
        texts = answer.get("Item", {}).get("types", {}).get("M", {})
        read = {kind: _registrations(text["S"]) for kind, text in texts.items()}
        return {kind: registrations for kind, registrations in read.items() if registrations}

    def write(self, kind: str, registrations: Registrations, over: Registrations) -> bool:
        self._make_row()
        update = "SET #types.#kind = :new" if registrations else "REMOVE #types.#kind"
        condition = "#types.#kind = :old" if over else "attribute_not_exists(#types.#kind)"
        texts = {":new": registrations} if registrations else {}
        texts |= {":old": over} if over else {}
        values = {name: {"S": _text(text)} for name, text in texts.items()}
        return self._update(update, condition, {"#types": "types", "#kind": kind}, values)

    def _make_row(self) -> None:
        """A field of a map can be written only if the map is there."""
        self._update("SET #types = :none", "attribute_not_exists(#types)", {"#types": "types"}, {":none": {"M": {}}})

    def _update(self, update: str, condition: str, names: dict[str, str], values: Any) -> bool:
        try:
            self.dynamodb.update_item(
                TableName=self.table,
                Key=KEY,
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeNames=names,
                **({"ExpressionAttributeValues": values} if values else {}),
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"write the actions: {error}") from error
            return False
        return True


def _text(registrations: Registrations) -> str:
    return json.dumps(
        [
            {"action": action_type.encode(one.action), "stack": one.stack, "token": one.token}
            | {"queue": one.queue, "function": one.function}
            for one in registrations
        ],
        separators=(",", ":"),
    )


def _registrations(text: str) -> Registrations:
    """What this code cannot read is left out: it is that of a newer Delayer, or of no Delayer at all."""
    read = []
    for one in msgspec.json.decode(text, type=list[dict[str, str]]):
        try:
            read.append(Registration(**{**one, "action": action_type.decode(one["action"])}))  # type: ignore[arg-type]
        except (Malformed, UnknownVersion, TypeError, KeyError):
            continue
    return tuple(read)
