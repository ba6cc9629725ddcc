"""The harness that kills: it finds what a program loses, and says clearly what else goes wrong."""

import socket
import sys
from pathlib import Path
from threading import Event

import pytest
from attrs import define, evolve, field

from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.store import SqliteStore
from tests.cfn import ROOT
from tests.crashes import example
from tests.crashes.killing import Victim, kill_often
from tests.crashes.trying import Broken


@define
class Numbers:
    """The caller: it sends number after number, and remembers which were answered."""

    folder: Path
    sent: int = 0
    answered: set[str] = field(factory=set)

    def connected(self) -> socket.socket:
        caller = socket.socket(socket.AF_UNIX)
        caller.settimeout(5)
        caller.connect(str(self.folder / example.SOCKET))
        return caller

    def is_ready(self) -> bool:
        self.connected().close()
        return True

    def load(self, is_dead: Event) -> None:
        with self.connected() as caller, caller.makefile("rwb", buffering=0) as lines:
            while not is_dead.is_set():
                self.sent += 1
                lines.write(f"{self.sent}\n".encode())
                if answer := lines.readline():
                    self.answered.add(answer.decode().strip())

    def check(self, kill: int) -> None:
        store = SqliteStore(database=Database(path=str(self.folder / example.FILE)))
        stored = {str(item["entry"]) for item in store.rows(example.TABLE)}
        if lost := self.answered - stored:
            raise Broken(f"{len(lost)} of {len(self.answered)} answered numbers are lost")


@pytest.fixture
def numbers(tmp_path: Path) -> Numbers:
    return Numbers(tmp_path)


@pytest.fixture
def victim(numbers: Numbers) -> Victim:
    return Victim(
        command=(sys.executable, "-m", "tests.crashes.example", str(numbers.folder)),
        folder=numbers.folder,
        is_ready=numbers.is_ready,
        load=numbers.load,
        check=numbers.check,
        environment={"PYTHONPATH": f"{ROOT}:{ROOT / 'shared'}:{ROOT / 'client'}"},
        killed_after=(0.02, 0.2),
    )


def test_what_was_answered_outlives_every_kill(victim: Victim, numbers: Numbers) -> None:
    """It takes some seconds: four lives of a process."""
    said: list[str] = []
    assert 0 < kill_often(victim, 3, say=said.append) < victim.ready_within
    assert numbers.answered
    assert [one.partition(",")[0] for one in said] == [*(f"{number} of 3 kills" for number in range(1, 4)), ""]


def test_an_answer_before_it_is_stored_is_found(victim: Victim) -> None:
    """It takes some seconds: some lives of a process."""
    late = evolve(victim, command=(*victim.command, example.LATE))
    with pytest.raises(Broken, match=r"after kill \d+ \(seed 0\): \d+ of \d+ answered numbers are lost"):
        kill_often(late, 10)


def test_a_process_that_ends_by_itself_is_no_kill(victim: Victim) -> None:
    """It takes a second, in which the process ends."""
    with pytest.raises(Broken, match=r"ended with status 2:\n.*No space"):
        kill_often(evolve(victim, command=("sh", "-c", "echo No space; exit 2")), 1)
    with pytest.raises(Broken, match="ended by itself, with status 3"):
        kill_often(
            evolve(
                victim,
                command=("sh", "-c", "sleep 0.2; exit 3"),
                is_ready=lambda: True,
                load=lambda is_dead: None,
                killed_after=(1, 1),
            ),
            1,
        )


def test_a_process_that_is_never_ready_is_given_up(victim: Victim) -> None:
    with pytest.raises(Broken, match="not ready within"):
        kill_often(evolve(victim, command=("sleep", "60"), ready_within=0.1), 1)


def test_an_error_of_the_load_is_not_swallowed(victim: Victim) -> None:
    """Otherwise a harness without load would prove everything."""

    def fails(is_dead: Event) -> None:
        raise ValueError("no number")

    with pytest.raises(Broken, match=r"the load failed: .*no number"):
        kill_often(evolve(victim, command=("sleep", "60"), is_ready=lambda: True, load=fails), 1)
