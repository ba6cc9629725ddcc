"""The parents of the functions' processes, as the emulator has them: one of the libraries, and one for each layer."""

import io
import os
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from local.emulator.processes.parent_process import messages
from local.project import PROJECT

# What an interpreter needs to start, and what TLS needs. No key is among them: a parent must not be able to call AWS.
PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
# glibc gives each thread a heap of its own, which would cost every process some megabytes.
SETTINGS: Final = {"MALLOC_ARENA_MAX": "2", "MALLOC_TRIM_THRESHOLD_": "65536"}


LONGEST_FORK: Final = 120.0  # seconds; the first order waits until the parent has imported its layers


class Parent:
    """One process that forks others for us."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.turn = threading.Lock()

    def fork(self, order: dict[str, Any], *files: int) -> int:
        """The number of the new process. Raises EOFError or OSError if the parent has ended, RuntimeError otherwise."""
        with self.turn:
            messages.send(self.control, order, files)
            answer = messages.receive(self.control, LONGEST_FORK)
            if "error" in answer:
                raise RuntimeError(f"A process cannot be forked: {answer['error']}")
            number: int = answer["pid"]
            return number


class Parents:
    """Starts them when they are needed first. They end when the emulator does."""

    def __init__(self) -> None:
        self.turn = threading.RLock()
        self.by_layers: dict[tuple[bytes, ...], Parent] = {}
        self.folders: dict[bytes, str] = {}  # archive -> where it is unpacked; Python hashes each only once

    def start(self) -> None:
        """Start to import the libraries, so that they are there when they are needed."""
        self.of(())

    def fork(self, layers: Sequence[bytes], order: dict[str, Any], *files: int) -> int:
        """The number of a new process of these layers. A parent that has ended is started once more."""
        try:
            return self.of(layers).fork(order, *files)
        except (EOFError, OSError):
            with self.turn:
                self.by_layers.clear()
            return self.of(layers).fork(order, *files)

    def of(self, layers: Sequence[bytes]) -> Parent:
        """The parent of the functions that have these layers, in their order."""
        key = tuple(layers)
        with self.turn:
            if key not in self.by_layers:
                self.by_layers[key] = self._forked(key) if key else _started()
            return self.by_layers[key]

    def _forked(self, layers: tuple[bytes, ...]) -> Parent:
        """It unpacks its layers itself: here that would keep everything else waiting."""
        folders = [mkdtemp(prefix="layer-") for _ in layers]
        for folder, archive in zip(folders, layers, strict=True):
            Path(f"{folder}.zip").write_bytes(archive)
        ours, theirs = socket.socketpair()
        with theirs:
            self.of(()).fork({"kind": "parent", "folders": folders}, theirs.fileno())
        return Parent(ours)

    def unpacked(self, archive: bytes) -> str:
        """The folder with the content of a zip archive: all processes of a function share it, and only read it."""
        with self.turn:
            if archive not in self.folders:
                folder = mkdtemp(prefix="code-")
                with zipfile.ZipFile(io.BytesIO(archive)) as content:
                    content.extractall(folder)  # which keeps what is in it inside the folder
                self.folders[archive] = folder
            return self.folders[archive]


def _started() -> Parent:
    ours, theirs = socket.socketpair()
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    with theirs:
        subprocess.Popen(
            [sys.executable, "-m", "local.emulator.processes.parent_process.parent", str(theirs.fileno())],
            cwd=PROJECT,
            env={**environment, **SETTINGS},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
    return Parent(ours)
