"""A data folder in which very many schedules are due, and wait: an operator has suspended their target.

One schedule is POSTed to an engine, and waits in its queue. Each further one is a copy of that message.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from bench.command.progress import progress_bar
from bench.load.calls import NewSchedule
from bench.load.clients import Client
from bench.load.due_times import SECOND
from bench.load.generator import now
from bench.serve.engine import VARIABLES, Engine
from bench.serve.fill import NEVER, NEVER_HOST, key_in, made_like
from local.errors import EmulatorError

CHUNK = 10_000
MOVED_SECONDS = 5  # until what is due waits
FIRST = 5 * SECOND  # what waits asks again after that
SPREAD = 600 * SECOND  # and within so long
ALL = "SELECT number, queue, visible_at, sent_at, tries, message_group, once, body FROM messages"
PUT = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def back_up(data: Path, log: Path, count: int) -> None:
    """Fills an empty folder. EmulatorError if it cannot be."""
    shutil.rmtree(data, ignore_errors=True)
    engine = Engine(data, log)
    engine.start()
    try:
        suspend(data)
        Client(engine.port).post(NewSchedule(due=now() + SECOND, target=NEVER))
        time.sleep(MOVED_SECONDS)
    finally:
        engine.stop()
    copy(data / "delayer.db", count)


def suspend(data: Path) -> None:
    """As an operator does. EmulatorError if it was refused."""
    command = [sys.executable, "-m", "delayer_client.cli", "flow", "suspend", "--data", str(data)]
    command += ["--target", NEVER_HOST, "--reason", "a benchmark"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **VARIABLES}, check=False)
    if done.returncode:
        raise EmulatorError(f"The target could not be suspended: {done.stderr.strip()}")


def copy(file: Path, count: int) -> None:
    """Copies of the one message. EmulatorError if there is none."""
    key = key_in(file)
    with sqlite3.connect(file, isolation_level=None) as connection:
        found = [row for row in connection.execute(ALL) if row[1] == "delayer"]
        if len(found) != 1:
            raise EmulatorError("What is due for a suspended target does not wait.")
        [(number, queue, _, sent_at, tries, group, once, body)] = found
        begins = body.index('"id":"') + 6
        known, from_now = body[begins : body.index('"', begins)], now() + FIRST
        connection.execute("PRAGMA synchronous = OFF")
        with progress_bar("Filling", count) as advance:
            for first in range(0, count, CHUNK):
                numbers = range(first, min(first + CHUNK, count))
                connection.execute("BEGIN")
                for one in numbers:
                    text = body.replace(known, made_like(known, key))
                    visible_at = from_now + one * SPREAD // count
                    row = (number - 1 - one, queue, visible_at, sent_at, tries, group, once, text)
                    connection.execute(PUT, row)
                connection.execute("COMMIT")
                advance(numbers[-1] + 1)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
