"""The registered action types in DynamoDB: one control row, `actions`, with a text for each type."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec
from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item
from delayer.aws.dynamodb.items.requests import updated
from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.core.actions import action_type
from delayer.core.actions.registration import Registration, Registrations
from delayer.core.schedule.malformed import Malformed, UnknownVersion
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEY: Final[Item] = {"name": {"S": "actions"}}


class _Stored(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A registration as it is stored."""

    action: msgspec.Raw  # as action_type encodes it
    stack: str
    token: str
    resource: str = ""
    queue: str = ""
    function: str = ""


_DECODER: Final = msgspec.json.Decoder(list[msgspec.Raw])


@frozen(kw_only=True)
class DynamoActions:
    """Port Actions."""

    dynamodb: "DynamoDBClient"
    table: str

    def actions(self) -> Mapping[str, Registrations]:
        read = {kind: _registrations(text) for kind, text in self._texts().items()}
        return {kind: registrations for kind, registrations in read.items() if registrations}

    def write(self, kind: str, registrations: Registrations, over: Registrations) -> bool:
        """The condition is the text that stands there: another version may have written the same in another way."""
        stored_text = self._texts(make_row=True).get(kind, "")
        if _registrations(stored_text) != over:
            return False
        update = "SET #types.#kind = :new" if registrations else "REMOVE #types.#kind"
        condition = "#types.#kind = :old" if stored_text else "attribute_not_exists(#types.#kind)"
        values: dict[str, Any] = {":new": {"S": _text(registrations)}} if registrations else {}
        values |= {":old": {"S": stored_text}} if stored_text else {}
        return self._update(update, condition, {"#types": "types", "#kind": kind}, values)

    def _texts(self, *, make_row: bool = False) -> Mapping[str, str]:
        """By type. A field of a map can be written only if the map is there."""
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key=KEY, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read the actions: {error}") from error
        types = answer.get("Item", {}).get("types")
        if types is None and make_row:
            none: Item = {":none": {"M": {}}}
            self._update("SET #types = :none", "attribute_not_exists(#types)", {"#types": "types"}, none)
        return {kind: text["S"] for kind, text in (types or {}).get("M", {}).items()}

    def _update(self, update: str, condition: str, names: dict[str, str], values: Any) -> bool:
        return updated(
            self.dynamodb,
            "write the actions",
            TableName=self.table,
            Key=KEY,
            UpdateExpression=update,
            ConditionExpression=condition,
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=values,
        )


def _text(registrations: Registrations) -> str:
    stored = [
        _Stored(
            action=msgspec.Raw(action_type.encode(one.action).encode()),
            stack=one.stack,
            token=one.token,
            resource=one.resource,
            queue=one.queue,
            function=one.function,
        )
        for one in registrations
    ]
    return msgspec.json.encode(stored).decode()


def _registrations(text: str) -> Registrations:
    """What this code cannot read is left out: it is that of a newer Delayer, or of no Delayer at all."""
    read = []
    try:
        texts = _DECODER.decode(text) if text else []
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ()
    for one in texts:
        try:
            stored = msgspec.json.decode(one, type=_Stored)
            action = action_type.decode(bytes(stored.action))
        except (Malformed, UnknownVersion, msgspec.MsgspecError, UnicodeError, RecursionError):
            continue
        read.append(
            Registration(
                action=action,
                stack=stored.stack,
                token=stored.token,
                resource=stored.resource,
                queue=stored.queue,
                function=stored.function,
            )
        )
    return tuple(read)
