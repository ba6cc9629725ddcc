"""Items as SQLite stores them: JSON, which people can read and query. What JSON has no word for is marked."""

import base64
from decimal import Decimal
from typing import Any, Final

import msgspec

from delayer.ports.unavailable import Unavailable
from delayer.store.items import Item, StoredItem, Value

SET, NUMBER, BYTES = "$set", "$number", "$bytes"
MARKS: Final = {SET, NUMBER, BYTES}


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(dict[str, Any])


def encode(item: StoredItem) -> bytes:
    """An item as JSON. Raises Unavailable if it cannot be stored."""
    try:
        return _ENCODER.encode(item if _is_plain(item) else {name: _prepared(value) for name, value in item.items()})
    except (TypeError, UnicodeError, OverflowError) as error:
        raise Unavailable(f"an item that cannot be stored: {error}") from error


def _is_plain(item: StoredItem) -> bool:
    return all(type(value) in (str, int, bool) for value in item.values())


def _prepared(value: Value) -> Any:
    """msgspec has a form of its own for bytes and decimals, which would be read as texts and floats."""
    match value:
        case bytes():
            return {BYTES: base64.b64encode(value).decode()}
        case Decimal():
            return {NUMBER: str(value)}
        case frozenset() if value:
            return {SET: [_prepared(one) for one in sorted(value)]}
        case list():
            return [_prepared(one) for one in value]
        case dict():
            if MARKS & value.keys():
                raise TypeError(f"no attribute may be called {MARKS & value.keys()}")
            return {name: _prepared(one) for name, one in value.items()}
        case str() | bool() | int() | None:
            return value
    raise TypeError(f"no attribute is a {type(value).__name__}, or an empty one")


def decode(text: bytes) -> Item:
    """The inverse."""
    item: Item = _DECODER.decode(text)
    return {name: _restored(value) for name, value in item.items()} if b'"$' in text else item


def _restored(value: Any) -> Value:
    match value:
        case {"$set": members}:
            return frozenset(_restored(one) for one in members)
        case {"$number": number}:
            return Decimal(number)
        case {"$bytes": encoded}:
            return base64.b64decode(encoded)
        case dict():
            return {name: _restored(one) for name, one in value.items()}
        case list():
            return [_restored(one) for one in value]
    return value
