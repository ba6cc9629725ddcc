"""What a table holds, on each engine of the store: for tests that look behind a repository."""

from delayer.aws.store.attributes import from_attributes
from delayer.aws.store.dynamo_store import DynamoStore
from delayer.sqlite.sqlite_store import SqliteStore
from delayer.store.items import Item
from delayer.store.store import Store


def every_row(store: Store, table: str) -> list[Item]:
    """All items of a small table, in any order."""
    if isinstance(store, SqliteStore):
        return store.rows(table)
    assert isinstance(store, DynamoStore)
    return [from_attributes(item) for item in store.dynamodb.scan(TableName=table)["Items"]]
