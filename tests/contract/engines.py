"""What plays AWS in the contract tests: moto in this process, the emulator, and a DynamoDB over SQLite.

Three engines that have no line in common. What an adapter means holds on all of them; where one of them differs from
AWS, the test says so. Every day the fakes are compared with moto alone: the other two are `thorough`. Each of these is
started when the first test needs it, and ends with the session.
"""

import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import boto3
import pytest
from attrs import define, field, frozen
from botocore.config import Config

from delayer.engines.sqlite.database import Database
from local.stack.emulated_stack import EmulatedStack
from local.stack.ports import free_port
from tests.cfn import ROOT

REGION: Final = "eu-west-1"
FAKE: Final = "fake"
SQLITE: Final = "sqlite"  # in memory
SQLITE_FILE: Final = "sqlite-file"
MOTO: Final = "moto"
EMULATOR: Final = "emulator"
DYNOXIDE: Final = "dynoxide"


def wanted(*engines: str) -> list[Any]:
    """Parameters of a fixture: what takes a process of its own is thorough."""
    return [pytest.param(one, marks=() if one == MOTO else pytest.mark.thorough, id=one) for one in engines]


DYNAMODBS: Final = wanted(MOTO, EMULATOR, DYNOXIDE)
SQLITES: Final = [SQLITE, SQLITE_FILE]
OTHERS: Final = wanted(MOTO, EMULATOR)  # they have SQS, SNS and S3, too
STATEMENTS: Final = wanted(MOTO, EMULATOR)  # they take those of PartiQL as AWS does

NOTHING: Final = Path(__file__).parent / "nothing.yaml"  # the emulator wants a template
BINARY: Final = ROOT / ".engines/node_modules/@dynoxide/linux-x64/dynoxide"
START_SECONDS: Final = 20


def _in_memory(layout: str) -> Database:
    return Database(layout=layout)


@frozen
class OnSqlite:
    """An engine of this machine: its databases are in memory, or in files as `delayer serve` has them."""

    database: Callable[[str], Database]  # an empty one with this layout


@define
class Engines:
    """Their clients. `moto` must be switched on already."""

    _started: ExitStack = field(factory=ExitStack)
    _emulator: EmulatedStack | None = None
    _dynoxide: str = ""
    _clients: dict[tuple[str, str], Any] = field(factory=dict)
    _files: "count[int]" = field(factory=count)

    def on_sqlite(self, engine: str) -> OnSqlite:
        """One of SQLITES."""
        return OnSqlite(_in_memory if engine == SQLITE else self._in_file)

    def _in_file(self, layout: str) -> Database:
        folder = self._started.enter_context(TemporaryDirectory(prefix="contract-"))
        database = Database(path=f"{folder}/{next(self._files)}.db", layout=layout)
        self._started.callback(database.close)
        return database

    def client(self, engine: str, service: Any) -> Any:
        """Of one engine, by boto3's name of the service. Skips the test if the engine is not installed."""
        if (engine, service) not in self._clients:
            self._clients[engine, service] = self._make(engine, service)
        return self._clients[engine, service]

    def _make(self, engine: str, service: Any) -> Any:
        match engine:
            case "moto":
                return boto3.client(service, region_name=REGION)
            case "emulator":
                if self._emulator is None:
                    self._emulator = self._started.enter_context(EmulatedStack(template=NOTHING))
                return self._emulator.client(service)
        self._dynoxide = self._dynoxide or self._start_dynoxide()
        return boto3.client(service, region_name=REGION, endpoint_url=self._dynoxide, config=Config(proxies={}))

    def _start_dynoxide(self) -> str:
        if not BINARY.exists():
            pytest.skip("dynoxide is not installed: `make .engines/installed` needs npm, and Linux on x86-64")
        port = free_port()
        quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen([BINARY, "--host", "127.0.0.1", "--port", str(port)], **quiet)
        self._started.callback(process.wait)
        self._started.callback(process.kill)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                return f"http://127.0.0.1:{port}"
        raise AssertionError("dynoxide does not start")

    def stop(self) -> None:
        """Ends what was started."""
        self._started.close()
