"""Objects in a table of SQLite."""

from typing import Final

from attrs import frozen

from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.store import LAST

OBJECTS: Final = "CREATE TABLE IF NOT EXISTS objects (key TEXT NOT NULL PRIMARY KEY, content BLOB NOT NULL);"
PUT: Final = "INSERT OR REPLACE INTO objects (key, content) VALUES (?, ?)"
LIST: Final = "SELECT key FROM objects WHERE key >= ? AND key < ? AND key > ? ORDER BY key LIMIT ?"
GET: Final = "SELECT content FROM objects WHERE key = ?"
REMOVE: Final = "DELETE FROM objects WHERE key = ?"


@frozen(kw_only=True)
class SqliteObjects:
    """Stores objects in one table, which is the bucket. Keys are in the order of their characters, as in S3."""

    database: Database

    def put(self, key: str, content: bytes) -> None:
        self.database.write(PUT, (key, content))
        self.database.bytes_written += len(content)

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        return [key for (key,) in self.database.read(LIST, (prefix, f"{prefix}{LAST}", after, at_most))]

    def get(self, key: str) -> bytes | None:
        return next((content for (content,) in self.database.read(GET, (key,))), None)

    def remove(self, key: str) -> None:
        self.database.write(REMOVE, (key,))
