"""A tiny program to be killed: it takes numbers on a socket in its folder, and answers each one when it is stored.

`python -m tests.crashes.example FOLDER [late]`. With `late` it has a bug: it answers before it stores.
"""

import socketserver
import sys
from pathlib import Path
from typing import Final

from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import Put, entry_key

FILE: Final = "items.sqlite"
SOCKET: Final = "socket"
TABLE: Final = "numbers"
LATE: Final = "late"
KEPT: Final = 10  # numbers that the bug keeps in memory


def number_of(line: bytes) -> Put:
    """What is stored of one."""
    return Put(TABLE, entry_key("numbers", line.decode().strip()))


def main(folder: Path, is_late: bool) -> None:
    """Serves one caller after the other, for ever."""
    store = SqliteStore(database=Database(path=str(folder / FILE)))
    waiting: list[Put] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                waiting.append(number_of(line))
                if not is_late or len(waiting) == KEPT:
                    store.transact(waiting)
                    waiting.clear()
                self.wfile.write(line)

    (folder / SOCKET).unlink(missing_ok=True)
    with socketserver.UnixStreamServer(str(folder / SOCKET), Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]), LATE in sys.argv[2:])
