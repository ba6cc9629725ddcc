"""`delayer serve`: the folder, the machine, the door, and how all of them end."""

import os
import signal
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import APPLICATION, VERSION, Broken
from delayer.schedule.instants import DAY
from delayer.serve.door.address import Admitted, Listening, admitted
from delayer.serve.door.application import Door
from delayer.serve.door.server import DoorServer, bound
from delayer.serve.door.tokens import Tokens, tokens_in
from delayer.serve.folder import DataFolder, open_folder
from delayer.serve.keys import open_keys
from delayer.serve.lead import Leader
from delayer.serve.lines import Lines
from delayer.serve.parts import Chosen
from delayer.serve.refusal import Refusal
from delayer.serve.space import Space

KEYS: Final = "secrets.key"  # the file in the folder
ENDING: Final = (signal.SIGINT, signal.SIGTERM)


@frozen(kw_only=True)
class Options:
    """What `delayer serve` was asked for."""

    data: Path = field(default=Path("delayer-data"))
    listening: Listening = field(factory=Listening)
    attempts: int = 64  # at a time, at most
    journal_days: int = 90  # that a history is kept
    say: Callable[[str], None] = print


def serve(options: Options, environment: Mapping[str, str] = os.environ) -> None:
    """Runs until it is told to stop by a signal. Raises Refusal if it cannot begin."""
    where = admitted(options.listening)
    tokens = tokens_in(options.listening.tokens) if options.listening.tokens else None
    listening = bound(where)
    folder = open_folder(options.data)
    folder.examine(APPLICATION, VERSION)
    try:
        leader = _leader(options, folder, environment, _settings(where, tokens))
    except (Broken, Unavailable, sqlite3.Error) as error:
        raise damaged(folder.database, error) from error
    door = Door(
        leader.submit,
        leader.observer,
        tokens=tokens,
        is_own=where.is_own,
        behind_proxy=options.listening.behind_proxy,
    )
    server = DoorServer(door, listening, certificate=options.listening.certificate, key=options.listening.key)

    def end(_number: int, _frame: Any) -> None:
        door.is_closed = True
        server.stop()

    for number in ENDING:
        signal.signal(number, end)
    leader.failed = server.stop
    leader.start()
    options.say(f"Delayer serves {server.url}; its data is in {options.data}.")
    try:
        server.run()
    finally:
        leader.stop()
        folder.close()
    if leader.error:
        raise leader.error


def _leader(
    options: Options, folder: DataFolder, environment: Mapping[str, str], settings: Mapping[str, str]
) -> Leader:
    space = Space(folder=folder.path, free=folder.free)
    with suppress(OSError):  # it is looked at again
        space.look()
    return Leader(
        path=str(folder.database),
        observer=Lines(),
        keys=open_keys(folder.path / KEYS, environment, ()),
        attempts=options.attempts,
        environment=settings,
        chosen=Chosen(keep_for=options.journal_days * DAY),
        space=space,
    )


def damaged(path: Path, error: BaseException) -> Refusal:
    """Why a database that was found cannot be used."""
    do = "Look after its disk; if the file is damaged, put a backup of it and of its log `-wal` in its place"
    return Refusal(what=f"The database cannot be read: {error}", where=str(path), do=do, status=1)


def _settings(where: Admitted, tokens: Tokens | None) -> dict[str, str]:
    """As the template gives them to functions."""
    return {
        "API_AUTHORIZATION": "TOKEN" if tokens else "NONE",
        "ALLOW_PRIVATE_TARGETS": "true" if where.allow_private else "false",
        "PRIVATE_TARGETS": ",".join(map(str, where.private)),
    }
