"""Items: attributes by name, in plain Python values. An item is found by its key, which is one or two of them."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

# str, int, bool, None, bytes, lists, dicts and frozensets of these; a Decimal for a number that is not whole.
Value: TypeAlias = Any
Item: TypeAlias = dict[str, Value]
StoredItem: TypeAlias = Mapping[str, Value]
Key: TypeAlias = Mapping[str, str]  # the partition first, then the sort key if there is one
Number: TypeAlias = int | Decimal

ONLY = "-"  # the entry of a list that has one


def entry_key(entries: str, entry: str = ONLY) -> dict[str, str]:
    """The key of an entry in one of the tables that hold lists."""
    return {"list": entries, "entry": entry}


def row_key(name: str) -> dict[str, str]:
    """The key of a control row."""
    return {"name": name}
