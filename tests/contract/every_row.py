"""What a table holds, on each engine of the store: for tests that look behind a repository."""

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.expressions import from_attributes
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import Item
from delayer.engines.store.store import Store


def every_row(store: Store, table: str) -> list[Item]:
    """All items of a small table, in any order."""
    if isinstance(store, SqliteStore):
        return store.rows(table)
    assert isinstance(store, DynamoStore)
    return [from_attributes(item) for item in store.dynamodb.scan(TableName=table)["Items"]]
