"""Schedulers that are installed into the environment of the peers: what they have in common."""

import shutil
import uuid
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Self

from bench.peers import environment
from bench.peers.processes import Program

START_SECONDS = 20


class Installed:
    """Programs in processes of their own, with a folder. One of them schedules, and one works and is killed."""

    cannot: Mapping[str, str] = {}
    chunk = 500  # schedules for one command
    client = "client"
    worker = "worker"

    def __init__(self, name: str, settings: str, measures: Collection[str]) -> None:
        self.name = name
        self.settings = settings
        self.measures = measures
        self.programs: dict[str, Program] = {}

    def __enter__(self) -> Self:
        self.folder = environment.FOLDER / self.name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        try:
            self.interpreter = environment.python()
            self.begin()
        except BaseException:
            self.stop()
            raise
        return self

    def begin(self) -> None:
        """Start all programs, and wait until they are ready."""
        raise NotImplementedError

    def variables(self) -> Mapping[str, str]:
        """Of all programs."""
        return {}

    def start(self, name: str, *arguments: str) -> Program:
        """A program in Python; its log has this name."""
        return self.run(name, str(self.interpreter), *arguments)

    def run(self, name: str, *command: str) -> Program:
        """Any program."""
        self.programs[name] = Program(command, self.folder / f"{name}.log", self.variables())
        return self.programs[name]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """The last to have started first; then the folder is deleted."""
        for program in reversed(self.programs.values()):
            program.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def schedule(self, url: str, times: Sequence[int]) -> Mapping[str, int]:
        items = [(str(uuid.uuid4()), due) for due in times]
        for start in range(0, len(items), self.chunk):
            self.programs[self.client].ask("schedule", url=url, items=items[start : start + self.chunk])
        return dict(items)

    def cancel(self, schedule_id: str) -> str:
        return str(self.programs[self.client].ask("cancel", schedule_id=schedule_id))

    def kill(self) -> None:
        self.programs[self.worker].kill()

    def waiting(self, missing: Collection[str]) -> int:
        return min(int(self.programs[self.client].ask("waiting")), len(missing))
