"""The store on DynamoDB: each operation is the request of the same name."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from attrs import frozen
from botocore.exceptions import ParamValidationError

from delayer.engines.aws.clients import AWS_ERRORS, log
from delayer.engines.aws.each import Each, in_the_way, once_free
from delayer.engines.aws.expressions import Attributes, conditional, from_attributes, queried, to_attributes
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Change, Check, Delete, Item, Key, Page, Put, Query, Write, answered
from delayer.engines.store.store import Answer, PartlyRead, WriteRefused

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import WriteRequestTypeDef


ITEMS: Final = 25  # in one BatchWriteItem
KEYS: Final = 100  # in one BatchGetItem
ROUNDS: Final = 6  # tries for UnprocessedItems and UnprocessedKeys, with 20, 40, 80 … ms in between


@frozen
class DynamoStore:
    """Stores items in the tables of DynamoDB."""

    dynamodb: "DynamoDBClient"

    def get(self, table: str, key: Key, *, latest: bool = True) -> Item | None:
        try:
            answer = self.dynamodb.get_item(TableName=table, Key=to_attributes(key), ConsistentRead=latest)
        except AWS_ERRORS as error:
            raise Unavailable(f"read {table}: {_said(error)}") from error
        return from_attributes(answer["Item"]) if "Item" in answer else None

    def get_many(self, table: str, keys: Sequence[Key], *, latest: bool = True) -> list[Item]:
        found: list[Item] = []
        for start in range(0, len(keys), KEYS):
            try:
                found += self._get_some(table, keys[start : start + KEYS], latest=latest)
            except PartlyRead as error:
                raise PartlyRead(str(error), [*found, *error.items], [*error.left, *keys[start + KEYS :]]) from error
        return found

    def _get_some(self, table: str, keys: Sequence[Key], *, latest: bool) -> list[Item]:
        """An answer holds 16 MB at most, and what DynamoDB had the capacity for. Raises PartlyRead."""
        items: list[Item] = []
        left = [to_attributes(key) for key in keys]
        for attempt in range(ROUNDS):
            try:
                answer = self.dynamodb.batch_get_item(RequestItems={table: {"Keys": left, "ConsistentRead": latest}})
            except AWS_ERRORS as error:
                raise PartlyRead(f"read {table}: {_said(error)}", items, _keys_in(left)) from error
            items += [from_attributes(one) for one in answer.get("Responses", {}).get(table, [])]
            left = list(answer.get("UnprocessedKeys", {}).get(table, {"Keys": []})["Keys"])
            if not left:
                return items
            if attempt < ROUNDS - 1:
                time.sleep(0.02 * 2**attempt)
        raise PartlyRead(f"read {table}: {len(left)} items were not answered", items, _keys_in(left))

    def query(self, query: Query) -> Page:
        answer = self._query(query)
        return Page(tuple(from_attributes(one) for one in answer["Items"]), _more(query, answer))

    def count(self, query: Query, at_most: int) -> int:
        counted: int = 0
        while True:
            answer = self._query(query, Select="COUNT")
            counted += int(answer["Count"])
            if counted >= at_most or not (more := _more(query, answer)):
                return counted
            query = query._replace(after=more)

    def _query(self, query: Query, **more: Any) -> Any:
        try:
            return self.dynamodb.query(**queried(query), **more)
        except AWS_ERRORS as error:
            raise Unavailable(f"query {query.table}: {_said(error)}") from error

    def write(self, write: Write) -> Item:
        match write:
            case Put(table, _, _, when):
                item = {"TableName": table, "Item": to_attributes(write.item)}
                answer = self._written(table, self.dynamodb.put_item, item | conditional(when))
            case Delete(table, key, when):
                there = {"TableName": table, "Key": to_attributes(key)}
                answer = self._written(table, self.dynamodb.delete_item, there | conditional(when))
            case Change(table):
                answer = self._written(table, self.dynamodb.update_item, _change(write) | _shown(write))
                return answered(write, from_attributes(answer.get("Attributes", {})))
            case Check():
                raise TypeError("a condition alone is part of a transaction")
        return {}

    def _written(self, table: str, request: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        try:
            return once_free(lambda: request(**arguments))
        except AWS_ERRORS as error:
            items = in_the_way(error)
            if any(item is not None for item in items):
                raise WriteRefused(items) from None  # the error holds the item
            raise Unavailable(f"write {table}: {_said(error)}") from error

    def write_each(self, puts: Sequence[Put]) -> list[Answer]:
        return Each(dynamodb=self.dynamodb, store=self).write(puts)

    def write_all(self, writes: Sequence[Put | Delete]) -> list[Put | Delete]:
        starts = range(0, len(writes), ITEMS)
        return [left for start in starts for left in self._write_some(writes[start : start + ITEMS])]

    def _write_some(self, writes: Sequence[Put | Delete]) -> list[Put | Delete]:
        table = writes[0].table
        requests = [_request(one) for one in writes]
        for attempt in range(ROUNDS):
            try:
                answer = self.dynamodb.batch_write_item(RequestItems={table: requests})
            except AWS_ERRORS as error:
                log.warning("items not written: %s", error)
                break
            requests = cast("list[WriteRequestTypeDef]", answer.get("UnprocessedItems", {}).get(table, []))
            if not requests:
                return []
            time.sleep(0.02 * 2**attempt)
        left = [_place(one, writes[0].key) for one in requests]
        return [one for one in writes if to_attributes(one.key) in left]

    def transact(self, writes: Sequence[Write]) -> None:
        """No ClientRequestToken of ours: the conditions make it idempotent already, and for ever; a token is forgotten
        after ten minutes.
        """
        items: Any = [_transacted(one) for one in writes]
        self._written(writes[0].table, self.dynamodb.transact_write_items, {"TransactItems": items})


def _said(error: Exception) -> str:
    """Returns the part that may be logged: botocore shows the values of a request that it does not take, and they may
    be secrets.
    """
    return type(error).__name__ if isinstance(error, ParamValidationError) else str(error)


def _keys_in(asked: Iterable[Attributes]) -> list[Key]:
    return [from_attributes(one) for one in asked]


def _more(query: Query, answer: Any) -> str:
    last = answer.get("LastEvaluatedKey")
    return last[query.sort]["S"] if last else ""


def _change(change: Change) -> dict[str, Any]:
    return {"TableName": change.table, "Key": to_attributes(change.key), **conditional(change.when, change)}


def _shown(change: Change) -> dict[str, Any]:
    return {"ReturnValues": "UPDATED_NEW"} if change.is_answered else {}


def _request(write: Put | Delete) -> "WriteRequestTypeDef":
    if isinstance(write, Put):
        return {"PutRequest": {"Item": to_attributes(write.item)}}
    return {"DeleteRequest": {"Key": to_attributes(write.key)}}


def _place(request: Any, names: Iterable[str]) -> Attributes:
    """The key of a request, as DynamoDB says it back."""
    said = request["PutRequest"]["Item"] if "PutRequest" in request else request["DeleteRequest"]["Key"]
    return {name: said[name] for name in names}


def _transacted(write: Write) -> dict[str, Any]:
    match write:
        case Put(table, _, _, when):
            return {"Put": {"TableName": table, "Item": to_attributes(write.item), **conditional(when)}}
        case Delete(table, key, when):
            return {"Delete": {"TableName": table, "Key": to_attributes(key), **conditional(when)}}
        case Check(table, key, when):
            return {"ConditionCheck": {"TableName": table, "Key": to_attributes(key), **conditional(when)}}
        case Change():
            return {"Update": _change(write)}
