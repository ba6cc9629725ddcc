"""The command `delayer` in this process, against a Delayer in memory whose clock is moved when somebody waits."""

import json
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from typer.main import get_command
from typer.testing import CliRunner

from delayer_client.cli.app import app
from delayer_client.cli.profiles import VARIABLES
from delayer_client.cli.session import Session, Surroundings
from delayer_client.testing import FakeDelayer

HOOK = "https://example.com/hook"
COMMAND = get_command(app)  # a hundred commands, which CliRunner would put together for each run


@frozen
class Ran:
    """What a run of the command has come to."""

    status: int
    out: str
    err: str

    @property
    def objects(self) -> list[Any]:
        """Of `--json`."""
        return [json.loads(line) for line in self.out.splitlines()]


@frozen(kw_only=True)
class Cli:
    """Runs `delayer`."""

    surroundings: Surroundings
    fake: FakeDelayer

    def __call__(self, *args: str, input: str | bytes | None = None) -> Ran:  # noqa: A002 - as CliRunner's
        with CliRunner().isolation(input=input) as (out, err, _):
            try:
                COMMAND.main(args=args, prog_name="delayer", obj=self.surroundings)
                status = 0
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
            sys.stdout.flush()
            sys.stderr.flush()
            written = [stream.getvalue().decode() for stream in (out, err)]
        return Ran(status, *written)

    def at_a_terminal(self) -> "Cli":
        """Somebody can be asked."""
        return evolve(self, surroundings=evolve(self.surroundings, is_terminal=lambda: True))

    def with_operators(self, operators: Callable[[Session], Any]) -> "Cli":
        """What operators call."""
        return evolve(self, surroundings=evolve(self.surroundings, operators=operators))

    def scheduled(self, *flags: str) -> str:
        """The id of a new schedule."""
        [made] = self("schedule", "http", HOOK, *(flags or ("--in", "10m")), "--json").objects
        found: str = made["scheduleId"]
        return found


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the user's own, nor of who runs the tests; a window of 80 columns."""
    for name in (*VARIABLES.values(), "NO_COLOR", "DELAYER_CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DELAYER_CONFIG", str(tmp_path / "config" / "config.toml"))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("COLUMNS", "80")


def cli_of(fake: FakeDelayer) -> Cli:
    """Of this Delayer; nobody can be asked."""
    surroundings = Surroundings(
        transport=fake.transport,
        now=lambda: fake.now,
        sleep=lambda seconds: fake.advance(timedelta(seconds=seconds)),
        is_terminal=lambda: False,
    )
    return Cli(surroundings=surroundings, fake=fake)


@pytest.fixture
def delayer() -> Cli:
    return cli_of(FakeDelayer())
