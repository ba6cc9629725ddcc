"""What DynamoDB takes. Other engines refuse the same, so that nothing works on one machine and fails on AWS.

Source: "Quotas in Amazon DynamoDB" in AWS's developer guide.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from delayer.ports.unavailable import Unavailable
from delayer.store.items import Key, StoredItem, Value
from delayer.store.queries import Query
from delayer.store.writes import Write

ITEM: Final = 400 * 1024  # bytes, with the names of its attributes
PARTITION: Final = 2_048  # bytes of a key
SORT: Final = 1_024
TRANSACTION: Final = 100  # writes


def check_key(key: Key) -> None:
    """Raises Unavailable, as AWS's ValidationException arrives."""
    for name, value, most in zip(key, key.values(), (PARTITION, SORT), strict=False):
        if not isinstance(value, str) or not 0 < _bytes_of(value) <= most:
            raise Unavailable(f"the key {name} must have 1 to {most:,} bytes")


def _bytes_of(text: str) -> int:
    """0 of a text that is none in UTF-8."""
    try:
        return len(text.encode())
    except UnicodeError:
        return 0


def check_query(query: Query) -> None:
    """Raises Unavailable."""
    check_key(query.partition)
    within = query.within
    if within and within.operator == "between" and within.value > within.last:
        raise Unavailable("a range must not end before it begins")
    if within and query.after and not within.has(query.after):
        raise Unavailable("a page must begin within the range")


def check_item(item: StoredItem) -> None:
    """Raises Unavailable."""
    if sum(len(name.encode()) + size(value) for name, value in item.items()) > ITEM:
        raise Unavailable(f"an item must not have more than {ITEM:,} bytes")


def check_transaction(writes: Sequence[Write]) -> None:
    """Raises Unavailable."""
    keys = {(one.table, *one.key.values()) for one in writes}
    if not 0 < len(writes) <= TRANSACTION or len(keys) < len(writes):
        raise Unavailable(f"a transaction must have 1 to {TRANSACTION} writes, each of another item")


def check_distinct(keys: Sequence[Key]) -> None:
    """Raises Unavailable."""
    if len({(*key.values(),) for key in keys}) < len(keys):
        raise Unavailable("a key must not come twice in one request")


def size(value: Value) -> int:
    """Bytes, as DynamoDB counts them."""
    match value:
        case str():
            return len(value.encode())
        case bytes():
            return len(value)
        case bool() | None:
            return 1
        case int() | Decimal():
            return len(str(value)) // 2 + 2
        case dict():
            return 3 + sum(len(name.encode()) + size(one) + 1 for name, one in value.items())
    return 3 + sum(size(one) + 1 for one in value)
