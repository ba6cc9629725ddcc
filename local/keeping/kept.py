"""The state of one run: its lock, what it begins with, its marker, and what its end says."""

import os
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

from local.keeping import marker
from local.keeping.beginning import Beginning, Choice, decide, found_in
from local.keeping.manifest import Manifest


class KeptState:
    """The folder of a state while one process uses it."""

    def __init__(self, folder: Path, port: int, parameters: Mapping[str, str]) -> None:
        self.folder = folder
        self.port = port
        self.parameters = parameters
        self.run = str(uuid.uuid4())
        self.lock = marker.Lock.take(folder, port)
        self.signs = marker.SignsOfLife(folder)
        self.beginning = Beginning()
        self.stack = str(uuid.uuid4())
        self.has_begun = False  # whether this run may have done what cannot be undone

    def begin(self, keep: Choice) -> Beginning:
        """Decide what this run begins with. EmulatorError if that is for the user to decide."""
        self.beginning = decide(found_in(self.folder), keep, self.port, self.parameters)
        if self.beginning.restored:
            self.stack = self.beginning.restored.stack
        return self.beginning

    def mark(self) -> None:
        """Before the run does the first thing that cannot be undone."""
        self.has_begun = True
        marker.put(self.folder, marker.Marker(run=self.run, pid=os.getpid(), began_at=int(time.time())))
        self.signs.start()

    def manifest(self) -> Manifest:
        """Of the state that is to be saved now."""
        return Manifest(
            emulator="",  # the emulator itself knows
            run=self.run,
            saved_at=int(time.time()),
            port=self.port,
            stack=self.stack,
            parameters=dict(self.parameters),
        )

    def saved(self) -> None:
        """The state is on the disk."""
        self.signs.stop()
        marker.take_away(self.folder)

    def close(self) -> None:
        """Let another process use the folder."""
        self.signs.stop()
        self.lock.release()
