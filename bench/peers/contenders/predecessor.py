"""The model of delayer-aws."""

import shutil
import sys
import uuid
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Self

from bench.peers import environment
from bench.peers.contender import CANCEL, MEASURES, MEMORY, UNANSWERED, Memory
from bench.peers.predecessor.algorithm import point_in_time
from bench.peers.predecessor.store import Store
from bench.peers.processes import Program

CANNOT = {CANCEL: "It has no cancel.", MEMORY: "What waits is in the stores of AWS."}


class Predecessor:
    """Its functions are a process; its table and its queue are a file, which stays when they are killed."""

    settings = "no setting; its API, which refuses what is due within 90 s, is left out"
    cannot: Mapping[str, str] = CANNOT
    measures: Collection[str] = tuple(one for one in MEASURES if one not in CANNOT)
    fills_per_second = 5000.0
    comes_back_seconds = 75  # its functions start with the next minute

    def __enter__(self) -> Self:
        self.folder = environment.FOLDER / "delayer-aws"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.file = self.folder / "store.sqlite"
        self.store = Store(self.file)
        self.functions = self.started("at-once")
        return self

    def started(self, when: str) -> Program:
        """The functions, from now or from the next minute on."""
        command = [sys.executable, "-m", "bench.peers.programs.predecessor", str(self.file), when]
        program = Program(command, self.folder / "functions.log")
        program.answer()
        return program

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.functions.kill()
        self.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def schedule(self, url: str, times: Sequence[int]) -> Mapping[str, int]:
        due = {str(uuid.uuid4()): at for at in times}
        self.store.put((schedule_id, point_in_time(at), url) for schedule_id, at in due.items())
        return due

    def cancel(self, schedule_id: str) -> str:  # noqa: ARG002 - it has no such call
        return UNANSWERED

    def kill(self) -> None:
        self.functions.kill()

    def restart(self) -> None:
        self.functions = self.started("at-the-next-minute")

    def waiting(self, missing: Collection[str]) -> int:
        return min(self.store.waiting(), len(missing))

    def memory(self) -> Memory | None:
        return None
