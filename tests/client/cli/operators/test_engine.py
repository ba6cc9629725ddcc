"""Operators' commands on an engine: the same ones, by the socket in its folder, without AWS."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from delayer.engines.ports import Unavailable
from delayer.serve.operators.control import OperatorCommands
from delayer.serve.operators.control_socket import ControlSocket
from delayer.serve.turns.machine import Machine
from delayer.serve.turns.turn import TurnJob
from delayer_client import HttpRequest
from delayer_client.operator import OperatorEngine
from delayer_client.operator.doctor import engine as doctor
from delayer_client.testing import Answer, FakeDelayer
from tests.client.cli.conftest import Cli, cli_of
from tests.client.testing.inside import fake_and_machine

STATUS: dict[str, Any] = {
    "version": "1.2.3",
    "process": 4,
    "startedAt": "2027-01-04T09:00:00.000Z",
    "waiting": 5,
    "underWay": 0,
    "late": 0,
    "lateness": [{"upToMs": 10, "number": 7}, {"number": 0}],
    "counts": {},
    "deadLetters": {"failed": 0, "dead-lettered": 0},
    "freeBytes": 10**11,
    "restricted": False,
    "logBytes": 1_000,
}


Inside = tuple[FakeDelayer, Machine]


@pytest.fixture
def inside() -> Inside:
    """An engine in memory."""
    return fake_and_machine()


@pytest.fixture
def delayer(inside: Inside) -> Cli:
    return cli_of(inside[0])


@pytest.fixture
def folder(inside: Inside, tmp_path: Path) -> Iterator[Path]:
    """Its folder; it runs."""
    _, machine = inside

    def in_turn(do: Callable[[], Any]) -> Any:
        outcomes: list[Any] = []
        machine.turn([TurnJob(do=do, deliver=outcomes.append)], calls_only=True)
        if isinstance(outcomes[0], Exception):
            raise outcomes[0]
        return outcomes[0]

    commands = OperatorCommands(machine=machine, in_turn=in_turn, status=lambda: STATUS, sleep=lambda _: None)
    path = tmp_path / "data"
    path.mkdir(mode=0o700)
    control = ControlSocket(folder=path, answer=commands)
    control.open()
    yield path
    control.close()


def test_flow_from_suspension_to_release(delayer: Cli, folder: Path) -> None:
    data = ("--data", str(folder))
    suspended = delayer("flow", "suspend", "--target", "example.com", "--reason", "repairs", *data)
    assert (suspended.status, suspended.out.splitlines()[0]) == (0, "Suspended:")
    assert "repairs" in delayer("flow", "list", *data).out
    assert delayer("flow", "release", "--target", "example.com", *data).out.splitlines()[0] == "Released:"


def test_policies(delayer: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELAYER_DATA", str(folder))
    done = delayer("policy", "set", "ann", "--policy", '{"series": 3}', "--yes", "--json")
    assert done.status == 0, done.err
    assert [one["owner"] for one in delayer("policy", "list", "--json").objects] == ["ann"]


def test_dead_letters_are_redriven(delayer: Cli, folder: Path) -> None:
    """More than one step does."""
    delayer.fake.answer(Answer.fail_for_good("no"))
    client = delayer.fake.client()
    for _ in range(30):
        client.schedule(HttpRequest(url="https://example.com/hook"), delay=timedelta(seconds=1))
    delayer.fake.advance(timedelta(seconds=5))
    data = ("--data", str(folder))
    keys = [one["key"] for one in delayer("dead-letters", "list", "--json", *data).objects]
    assert len(keys) == 30
    assert json.loads(delayer("dead-letters", "show", keys[0], "--json", *data).out)["body"]
    counted = delayer("dead-letters", "redrive", "--all", "--dry-run", *data)
    assert "30 matched" in counted.out
    delayer.fake.answer(Answer.http(200))
    done = delayer("dead-letters", "redrive", "--all", "--yes", *data)
    assert (done.status, "30 schedules redriven" in done.out) == (0, True)
    delayer.fake.advance(timedelta(minutes=1))
    assert len(delayer.fake.handed_over) == 60
    assert delayer("dead-letters", "list", *data).out == ""


@pytest.mark.parametrize(
    "flags", [("--stack", "x"), ("--by-name",), ("--url", "http://localhost:1"), ("--aws-profile", "p")], ids=str
)
def test_a_stack_and_an_engine_are_not_meant_at_once(flags: tuple[str, ...], delayer: Cli, folder: Path) -> None:
    done = delayer("flow", "list", "--data", str(folder), *flags)
    assert (done.status, f"leave out {flags[0]}, or --data" in done.err) == (2, True)


def test_a_flag_for_a_stack_counts_before_the_folder_of_the_environment(
    delayer: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELAYER_DATA", str(folder))
    done = delayer("flow", "list", "--url", "http://localhost:1")
    assert (done.status, "aws.env" in done.err) == (4, True)


def test_no_engine_runs(delayer: Cli, tmp_path: Path) -> None:
    nowhere = delayer("flow", "list", "--data", str(tmp_path / "x"))
    assert (nowhere.status, nowhere.err) == (
        5,
        f"There is no folder {tmp_path / 'x'}. Give that of an engine with --data.\n",
    )
    stopped = delayer("flow", "list", "--data", str(tmp_path))
    assert (stopped.status, stopped.err) == (
        5,
        f"No engine runs on {tmp_path}. Start it: delayer serve --data {tmp_path}\n",
    )


def test_the_engine_of_another_user(delayer: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("socket.socket.connect", refuse)
    done = delayer("flow", "list", "--data", str(folder))
    assert (done.status, "is that of another user" in done.err) == (4, True)
    monkeypatch.undo()


@pytest.mark.parametrize("answer", [b"", b'{"ok": tr'], ids=repr)
def test_an_engine_that_ends_before_it_has_answered(answer: bytes, delayer: Cli, tmp_path: Path) -> None:
    """To repeat the command does no harm."""
    control = ControlSocket(folder=tmp_path, answer=lambda _: answer)
    control.open()
    control_end = _closing(control)
    done = delayer("flow", "list", "--data", str(tmp_path))
    control_end()
    assert (done.status, "has ended before it answered" in done.err) == (5, True)


def _closing(control: ControlSocket) -> Callable[[], None]:
    """A conversation ends with its first answer."""
    answer = control.answer

    def once(line: bytes) -> bytes:
        raise BrokenPipeError(answer(line))

    control.answer = once
    return control.close


def test_a_command_that_was_not_carried_out(delayer: Cli, inside: Inside, tmp_path: Path) -> None:
    def fail(_do: object) -> None:
        raise Unavailable("commit: disk I/O error")

    commands = OperatorCommands(machine=inside[1], in_turn=fail, status=dict)
    control = ControlSocket(folder=tmp_path, answer=commands)
    control.open()
    done = delayer("flow", "list", "--data", str(tmp_path))
    control.close()
    assert (done.status, "operator-flow failed: commit: disk I/O error" in done.err) == (5, True)


def test_a_socket_elsewhere_is_found(delayer: Cli, tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    control = ControlSocket(folder=folder, answer=lambda _: b'{"ok": true, "result": {"waiting": 3}}\n')
    control.open()
    assert OperatorEngine(folder).status() == {"waiting": 3}
    control.close()


# ------------------------------------------------------------ the doctor


def test_the_doctor_of_an_engine_in_order(delayer: Cli, folder: Path) -> None:
    done = delayer("doctor", "--data", str(folder))
    assert (done.status, done.out) == (0, "3 things in order; --all shows them.\n")
    assert {one["code"] for one in delayer("doctor", "--json", "--data", str(folder)).objects} == {
        "engine-running",
        "engine-disk",
        "engine-on-time",
    }


def test_the_doctor_finds_no_engine(delayer: Cli, tmp_path: Path) -> None:
    done = delayer("doctor", "--data", str(tmp_path))
    assert (done.status, "No engine runs on" in done.out) == (6, True)


def test_the_doctor_sees_what_waits_and_who_may_look(delayer: Cli, folder: Path) -> None:
    delayer("flow", "suspend", "--target", "example.com", "--reason", "repairs", "--data", str(folder))
    folder.chmod(0o755)
    codes = {one["code"] for one in delayer("doctor", "--json", "--data", str(folder)).objects}
    assert {"engine-flow", "engine-folder-open"} <= codes


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"restricted": True, "freeBytes": 10**7}, "engine-disk-full"),
        ({"freeBytes": 5 * 10**8}, "engine-disk-low"),
        ({"logBytes": 10**8}, "engine-log-long"),
        ({"late": 3}, "engine-late"),
        ({"deadLetters": {"dead-lettered": 2}}, "engine-dead-letters"),
        ({"deadLetters": {"failed": 2}}, "engine-failed"),
        ({"counts": {"Unexpected": 1}}, "engine-unexpected"),
    ],
    ids=str,
)
def test_what_the_doctor_finds(change: dict[str, Any], code: str) -> None:
    found = {one.code for one in doctor.judged({**STATUS, **change})}
    assert code in found
    assert code not in {one.code for one in doctor.judged(STATUS)}
    assert found <= {one.code for one in doctor.ENTRIES}
