"""The huey application, for its consumer and its client. Its file comes as a variable."""

import os

from huey import SqliteHuey

from bench.peers.programs.commands import answer
from bench.peers.programs.target import send

LOCKED_SECONDS = 60  # for which a process waits for the file; the default, 5, is not enough for a client beside workers
app = SqliteHuey("peers", filename=os.environ["PEERS_FILE"], fsync=True, timeout=LOCKED_SECONDS)


@app.task()  # type: ignore[untyped-decorator, unused-ignore]
def fire(url: str, schedule_id: str) -> None:
    """The task."""
    send(url, schedule_id)


@app.on_startup()  # type: ignore[untyped-decorator, unused-ignore]
def say_ready() -> None:
    """Each worker of the consumer says that it has begun."""
    answer("ready")
