"""The command `delayer` as it is installed, on the process of `delayer serve`; what operators do, on a stack, too."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from tests.cfn import ROOT
from tests.e2e.client import Client, EngineClient, StackClient
from tests.e2e.engine import environment

COMMAND = Path(sys.executable).with_name("delayer")
OWNER = "of-the-command-line"


@frozen
class Ran:
    """What a run has come to."""

    status: int
    out: str
    err: str

    @property
    def objects(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Ran]


def shell(client: Client, folder: Path, **settings: str) -> Run:
    """`delayer` in a shell that has these settings."""
    own = environment() | {
        "DELAYER_URL": client.api_url,
        "DELAYER_OWNER": OWNER,
        "DELAYER_CONFIG": str(folder / "config.toml"),
        **settings,
    }

    def run(*args: str, **more: str) -> Ran:
        done = subprocess.run(
            [str(COMMAND), *args],
            env={**own, **more},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
        assert "Traceback" not in done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def delayer(client: EngineClient, tmp_path: Path) -> Run:
    """As from a shell in the folder of `make local`."""
    return shell(client, tmp_path, DELAYER_DATA=str(client.engine.folder))


def test_a_schedule_is_made_waited_for_and_looked_at(client: Client, delayer: Run) -> None:
    """It takes seconds: a process starts, and waits for what is due in one."""
    url = client.receiver.url + "/command-line"
    done = delayer("schedule", "http", url, "--in", "1s", "--payload", '{"order": 17}', "--wait", "--timeout", "60s")
    assert done.status == 0, done.err
    assert "executed" in done.out
    [arrived] = client.arrivals("/command-line")
    assert json.loads(arrived.body) == {"order": 17}


@pytest.mark.thorough
def test_what_is_listed_is_cancelled(client: Client, delayer: Run) -> None:
    """It takes seconds: each command is a process."""
    for _ in range(2):
        made = delayer("schedule", "http", client.receiver.url, "--in", "2h", "--group", "cli", "--json")
        assert made.status == 0, made.err
    listed = [one["scheduleId"] for one in delayer("list", "--group", "cli", "--json").objects]
    assert len(listed) == 2
    assert delayer("cancel", *listed).status == 0
    again = delayer("cancel", listed[0])
    assert (again.status, again.out) == (0, f"Cancelled: {listed[0]} will never be handed over.\n")
    assert {one["state"] for one in delayer("list", "--group", "cli", "--json").objects} == {"cancelled"}
    assert delayer("cancel", "nonsense").status == 3


@pytest.mark.thorough
def test_a_group_is_cancelled_by_its_job(client: Client, delayer: Run) -> None:
    """It takes seconds: each command is a process."""
    for _ in range(3):
        delayer("schedule", "http", client.receiver.url, "--in", "2h", "--group", "cli-job")
    asked = delayer("cancel", "--group", "cli-job")
    assert asked.status == 2
    assert "Cancel 3 schedules" in asked.err
    [job] = delayer("cancel", "--group", "cli-job", "--yes", "--json").objects
    assert (job["state"], job["cancelled"]) == ("done", 3)


@pytest.mark.thorough
def test_a_series(client: Client, delayer: Run) -> None:
    """It takes seconds: each command is a process."""
    rule = ("0 9 * * MON-FRI", "http", client.receiver.url + "/command-line/series")
    made = delayer("series", "create", *rule, "--name", "cli-report", "--time-zone", "Europe/Lisbon", "--json")
    assert made.status == 0, made.err
    [series] = made.objects
    assert len(delayer("series", "next", "--name", "cli-report", "--count", "3", "--json").objects[0]["times"]) == 3
    assert delayer("series", "run-now", series["seriesId"]).status == 0
    assert client.arrivals("/command-line/series")
    assert delayer("series", "pause", series["seriesId"]).status == 0
    assert delayer("series", "resume", series["seriesId"]).status == 0
    assert delayer("series", "cancel", "--name", "cli-report").status == 0


def operated(delayer: Run) -> set[str]:
    """What operators look at, and the areas that the doctor has seen."""
    assert delayer("dead-letters", "list", "--json").status == 0
    suspended = delayer("flow", "list", "--json").objects[0]["suspensions"]
    assert OWNER not in str(suspended), "other tests suspend other owners"
    assert delayer("policy", "show", "nobody", "--json").objects[0]["policy"] is None
    done = delayer("doctor", "--json")
    assert done.status in (0, 6), done.err
    return {one["area"] for one in done.objects}


@pytest.mark.thorough
def test_what_operators_do(delayer: Run) -> None:
    """It takes seconds: each command is a process."""
    assert operated(delayer) == {"engine"}


@pytest.mark.thorough
def test_what_operators_do_on_a_stack(on_aws: StackClient, tmp_path: Path) -> None:
    """By the AWS settings that `make local-aws` has written. It takes seconds: each command is a process."""
    assert operated(shell(on_aws, tmp_path)) >= {"api", "ticks", "mappings", "queues", "dead letters"}


@pytest.mark.thorough
def test_exit_statuses(delayer: Run) -> None:
    """It takes seconds: each command is a process."""
    assert delayer("get", "nonsense").status == 3
    assert delayer("schedule", "http", "--in", "1m").status == 2
    assert delayer("schedule", "http", "ftp://x", "--in", "1m").status == 2
    nobody = delayer("list", DELAYER_URL="http://localhost:9")
    assert nobody.status == 5
    assert nobody.err == "No Delayer answers at http://localhost:9. Start one with `delayer serve`, or give --url.\n"
    assert delayer("--version").out.startswith("delayer ")
