"""`delayer serve`: the folder, the machine, the door, and how all of them end."""

import gc
import os
import signal
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, Final

from attrs import define, field, frozen

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import APPLICATION, VERSION, Broken
from delayer.schedule.instants import DAY
from delayer.serve.beside.events import receiver_of, route
from delayer.serve.beside.extensions import absent_in, aws_settings, extensions_in
from delayer.serve.data.folder import DataFolder, open_folder
from delayer.serve.data.keys import KEYS, keys_in_use, open_keys
from delayer.serve.data.layout import opened, unusable_database
from delayer.serve.data.space import MEGABYTE, RESTRICTED, Space, is_restricted
from delayer.serve.door.address import Admitted, Listening, admitted
from delayer.serve.door.application import Door
from delayer.serve.door.incoming import Application
from delayer.serve.door.server import DoorServer, bound
from delayer.serve.door.tokens import SETTING, KnownTokens, tokens_in
from delayer.serve.lines import LogLines
from delayer.serve.operators.control import OperatorCommands
from delayer.serve.operators.control_socket import ELSEWHERE, ControlSocket
from delayer.serve.operators.status import EngineStatus
from delayer.serve.refusal import Refusal
from delayer.serve.turns.lead import PATIENCE, Leader
from delayer.serve.turns.machine import LAYOUT
from delayer.serve.turns.parts import Chosen

INTERRUPTED: Final = 130  # exit status of a process that Ctrl-C has ended, as a shell has it
SAID_EVERY: Final = 5  # seconds, while it waits


@frozen(kw_only=True)
class Options:
    """All that `delayer serve` was asked for."""

    data: Path = field(default=Path("delayer-data"))
    listening: Listening = field(factory=Listening)
    attempts: int = 64  # at a time, at most
    journal_days: int = 90  # that a history is kept
    actions: tuple[Path, ...] = ()  # folders with types of action of one's own
    beside: Mapping[str, Application] = field(factory=dict)  # below a path, if only this machine can call
    events: str = ""  # URL to which events are POSTed; empty: none
    say: Callable[[str], None] = print


def serve(options: Options, environment: Mapping[str, str] = os.environ) -> None:
    """Runs until it is told to stop by a signal. Raises Refusal if it cannot begin, or cannot go on."""
    where = admitted(options.listening)
    tokens = tokens_in(options.listening.tokens) if options.listening.tokens else None
    extensions = extensions_in(options.actions)
    receiver = receiver_of(options.events) if options.events else None
    aws = aws_settings(environment)
    for name, value in aws.items():
        os.environ.setdefault(name, value)
    others = {"extensions": extensions, "absent": absent_in(environment), "receiver": receiver}
    with ExitStack() as closed:
        listening = closed.enter_context(bound(where))
        folder = open_folder(options.data)
        closed.callback(folder.close)
        if folder.open_to:
            options.say(f"Other users of this machine may look into {options.data}. Run: chmod 700 {options.data}")
        leader = _leader(options, folder, environment, {**aws, **_settings(where, tokens)}, others)
        door = Door(
            leader.submit,
            leader.observer,
            tokens=tokens,
            is_own=where.is_own,
            behind_proxy=options.listening.behind_proxy,
            beside=options.beside if where.is_own and tokens is None else None,
            route=route,
        )
        server = DoorServer(door, listening, certificate=options.listening.certificate, key=options.listening.key)
        ending = Ending(door=door, server=server, leader=leader, say=options.say)
        if control := _operated(folder, leader, options.say):
            closed.callback(control.close)  # last: operators see for what it waits
        closed.callback(leader.stop, ending.waits)
        ending.catch_signals()
        leader.failed = server.stop
        gc.collect()
        gc.freeze()  # no collection of garbage looks through what stays: turns would wait for it
        leader.start()
        server.run(lambda: options.say(_greeting(server.url, options.data, folder.free())))
    if leader.error:
        raise _end_of(leader.error, folder)


def _leader(
    options: Options,
    folder: DataFolder,
    environment: Mapping[str, str],
    settings: Mapping[str, str],
    others: Mapping[str, Any],
) -> Leader:
    """Raises Refusal if the database cannot be opened, or a key that its rows need is not there."""
    folder.examine(APPLICATION, VERSION)  # nothing is reserved beside a file of somebody else's
    space = Space(folder=folder.path, free=folder.free)
    with suppress(OSError):  # it is looked at again
        space.look()
    with ExitStack() as closed:
        try:
            database = closed.enter_context(closing(opened(folder, LAYOUT)))
            leader = Leader(
                database=database,
                observer=LogLines(),
                keys=open_keys(folder.path / KEYS, environment, keys_in_use(database)),
                attempts=options.attempts,
                environment=settings,
                chosen=Chosen(keep_for=options.journal_days * DAY),
                space=space,
                **others,
            )
        except (Broken, Unavailable, sqlite3.Error) as error:
            raise unusable_database(folder, error) from error
        closed.pop_all()  # the leader closes it
    return leader


@define(kw_only=True, eq=False)
class Ending:
    """How it ends: SIGTERM and Ctrl-C let what is under way come to its end; a second Ctrl-C waits for nothing."""

    door: Door
    server: DoorServer
    leader: Leader
    say: Callable[[str], None]
    exit: Callable[[int], object] = os._exit
    _signals: int = field(default=0, init=False)
    _waited: int = field(default=0, init=False)  # times that it was told

    def catch_signals(self) -> None:
        """From now on. Only the main thread may."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.hear)

    def hear(self, number: int, _frame: Any = None) -> None:
        """A signal."""
        self._signals += 1
        if self._signals > 1:
            if number == signal.SIGINT:
                self.exit(INTERRUPTED)
            return
        self.door.is_closed = True
        self.leader.wind_down()
        self.server.stop()

    def waits(self, under_way: int) -> None:
        """It is told each second."""
        if self._waited % SAID_EVERY == 0:
            attempts = "1 attempt is" if under_way == 1 else f"{under_way:,} attempts are"
            self.say(f"{attempts} under way: waiting, {PATIENCE // 1000} s at most. A second Ctrl-C ends at once.")
        self._waited += 1


def _operated(folder: DataFolder, leader: Leader, say: Callable[[str], None]) -> ControlSocket | None:
    """Opens what operators call. Without it schedules are fired all the same."""
    machine = leader.machine
    status = EngineStatus(
        machine=machine,
        lines=leader.observer,
        under_way=lambda: leader.pool.under_way,
        free=folder.free,
        begun=machine.clock.now(),
    )
    commands = OperatorCommands(machine=machine, in_turn=leader.in_turn, status=status)
    control = ControlSocket(folder=folder.path, answer=commands)
    try:
        control.open()
    except OSError as error:
        leader.observer.warn("operators cannot give commands", error=str(error), folder=str(folder.path))
        return None
    if control.path.parent != folder.path.absolute():
        say(
            f"The path of the data folder is too long for a socket in it: that for operators is {control.path}, "
            f"as the file {ELSEWHERE} in the folder says."
        )
    return control


def _greeting(url: str, data: Path, free: int) -> str:
    served = f"Delayer serves {url}; its data is in {data.absolute()}. Ctrl-C ends it."
    if not is_restricted(free):
        return served
    missing = (
        f"only {free // MEGABYTE} MB are free on its disk: nothing new is accepted below {RESTRICTED // MEGABYTE} MB"
    )
    return f"{served}\nIt is restricted, because {missing}. Make room on this disk; it goes on by itself then."


def _end_of(error: BaseException, folder: DataFolder) -> BaseException:
    """Nothing is known of what a disk has that fails: it never goes on."""
    if isinstance(error, Unavailable | sqlite3.Error | OSError):
        do = "Look at the disk and at the log of the system, and start it again"
        return Refusal(what=f"The engine has ended: {error}", where=str(folder.path), do=do, status=1)
    return error


def _settings(where: Admitted, tokens: KnownTokens | None) -> dict[str, str]:
    """As the template gives them to functions."""
    return {
        "API_AUTHORIZATION": SETTING if tokens else "NONE",
        "ALLOW_PRIVATE_TARGETS": "true" if where.allow_private else "false",
        "PRIVATE_TARGETS": ",".join(map(str, where.private)),
    }
