"""The change feed of an engine: what a stream of DynamoDB tells."""

from typing import NamedTuple

from delayer.store.items import StoredItem


class ItemChange(NamedTuple):
    """One item of a table was written, or deleted, or has expired."""

    table: str
    old: StoredItem | None
    new: StoredItem | None
    is_expired: bool = False
