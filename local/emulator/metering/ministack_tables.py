"""The meter needs this of ministack's DynamoDB: the consumed capacity in its responses, and whole items."""

import importlib
import json
from typing import Any

from local.emulator.metering.units import Item


def request_capacity() -> None:
    """Add the wish for the consumed capacity to every DynamoDB request, after its signature has been checked."""
    dynamodb = ministack_dynamodb()
    handle = dynamodb.handle_request

    async def handle_with_capacity(method: str, path: str, headers: Any, body: bytes, query: Any) -> Any:
        return await handle(method, path, headers, with_capacity(body), query)

    dynamodb.handle_request = handle_with_capacity


def with_capacity(body: bytes) -> bytes:
    """The body of the same DynamoDB request, with the wish for its consumed capacity."""
    request = json.loads(body or b"{}")
    return json.dumps({"ReturnConsumedCapacity": "TOTAL", **request}).encode()


def stored_item(table_name: str, item: Item) -> Item:
    """The whole stored item for a projected one, because reads are billed by the whole item.

    If the projection lacks the key, the item itself.
    """
    dynamodb = ministack_dynamodb()
    table = dynamodb._tables.get(table_name)
    if not table or not {table["pk_name"], table["sk_name"] or table["pk_name"]} <= item.keys():
        return item
    whole: Item = dynamodb._get_item_by_key(table, item) or item
    return whole


def ministack_dynamodb() -> Any:
    """ministack's module, which has no types."""
    return importlib.import_module("ministack.services.dynamodb")
