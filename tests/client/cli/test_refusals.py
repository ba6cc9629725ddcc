"""What is said when it does not work, and the exit statuses."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from delayer_client.cli.commands.operators.doctor import SIGNS
from delayer_client.cli.exits import MEANING, Exit
from delayer_client.cli.extras import Missing, needing
from delayer_client.cli.session import Surroundings
from tests.client.cli.conftest import HOOK, Cli

PIPED = 'set -o pipefail; "$0" -m delayer_client.cli configure --show "$@" | head -1'


def answering(delayer: Cli, status: int, body: object = None, **headers: str) -> Cli:
    """Of an API that always answers the same."""

    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json=body, headers=headers)

    surroundings = Surroundings(transport=httpx.MockTransport(answer), sleep=lambda _seconds: None)
    return Cli(surroundings=surroundings, fake=delayer.fake)


def problem(status: int, detail: str = "Why.") -> dict[str, object]:
    return {"type": "urn:delayer:problem:x", "title": "X", "status": status, "detail": detail}


@pytest.mark.parametrize(
    ("status", "exit_status"),
    [(401, 4), (403, 4), (404, 3), (409, 1), (410, 3), (412, 1), (413, 2), (422, 2), (429, 5), (500, 5), (503, 5)],
)
def test_each_refusal_has_its_exit_status(delayer: Cli, status: int, exit_status: int) -> None:
    done = answering(delayer, status, problem(status))("get", "x")
    assert (done.status, done.out) == (exit_status, "")
    assert "Why." in done.err


def test_a_script_gets_the_problem(delayer: Cli) -> None:
    done = answering(delayer, 404, problem(404))("get", "x", "--json")
    assert json.loads(done.err) == problem(404)


def test_no_stack(delayer: Cli) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    surroundings = Surroundings(transport=httpx.MockTransport(refuse), sleep=lambda _seconds: None)
    run = Cli(surroundings=surroundings, fake=delayer.fake)
    local, remote = run("list"), run("schedule", "http", HOOK, "--in", "1m", "--api-url", "https://delayer.example.com")
    assert (local.status, remote.status) == (5, 5)
    assert local.err == (
        "No Delayer answers at http://localhost:8080. Start one with `delayer serve`, or give --url.\n"
    )
    assert remote.err == "No Delayer answers at https://delayer.example.com. Is --url right?\n"


def test_something_else_answers(delayer: Cli) -> None:
    done = answering(delayer, 200, ["hello"])("get", "x")
    assert done.status == 5
    assert "is no Delayer" in done.err


def test_a_quota_says_when_to_try_again(delayer: Cli) -> None:
    done = answering(delayer, 429, problem(429), **{"Retry-After": "60"})("get", "x")
    assert "Try it again in 60 s." in done.err


def test_no_token(delayer: Cli) -> None:
    assert "DELAYER_TOKEN" in answering(delayer, 401, {"message": "Unauthorized"})("list").err


def test_a_defect_is_no_traceback(delayer: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_request: httpx.Request) -> httpx.Response:
        raise RuntimeError("oh")

    run = Cli(surroundings=Surroundings(transport=httpx.MockTransport(fail)), fake=delayer.fake)
    done = run("list")
    assert done.status == 70
    assert "RuntimeError: oh" in done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("DELAYER_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        run("list")


def test_an_interruption(delayer: Cli) -> None:
    def interrupt(_request: httpx.Request) -> httpx.Response:
        raise KeyboardInterrupt

    run = Cli(surroundings=Surroundings(transport=httpx.MockTransport(interrupt)), fake=delayer.fake)
    assert run("list").status == 130


def test_an_extra_that_is_not_installed_is_named() -> None:
    with pytest.raises(Missing, match=r"pip install '\./client\[cli,aws\]'"), needing("aws"):
        raise ModuleNotFoundError("No module named 'boto3'", name="boto3")


def test_every_exit_status_has_a_meaning() -> None:
    assert set(MEANING) == set(Exit)
    assert list(SIGNS) == ["ok", "note", "unknown", "warning", "problem"]


def test_help_imports_neither_the_client_nor_boto3() -> None:
    text = "import sys; from delayer_client.cli import app; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, env=_path())
    assert {"typer"} <= set(done.stdout.split())
    assert not {"httpx", "boto3", "botocore", "starlette", "msgspec"} & set(done.stdout.split())


def test_a_reader_that_has_gone_is_no_error(tmp_path: Path) -> None:
    """It takes some seconds: the command is a process with a pipe."""
    config = tmp_path / "config.toml"
    config.write_text("".join(f'[profiles.p{number}]\nurl = "http://localhost"\n' for number in range(5000)))
    for flags in (["--json"], []):
        done = subprocess.run(
            ["bash", "-c", PIPED, sys.executable, *flags],
            capture_output=True,
            text=True,
            env={**_path(), "DELAYER_CONFIG": str(config)},
        )
        assert done.stderr == ""
        assert len(done.stdout.splitlines()) == 1


def full(stream: Any) -> Any:
    """As standard output is when the disk is full."""
    if stream is sys.stdout:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return stream


@pytest.mark.parametrize("flags", [("--json",), ()], ids=["for a script", "for a person"])
def test_an_id_is_not_lost_with_what_cannot_be_written(
    delayer: Cli, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    """It is on standard error; and what follows is done all the same."""
    live = delayer.scheduled("--in", "1h")
    monkeypatch.setattr("delayer_client.cli.showing.output.check", full)
    made = delayer("schedule", "http", HOOK, "--in", "2h", "--name", "mine", *flags)
    ended = delayer("cancel", "mine", live, *flags)
    listed = delayer("list", *flags)
    monkeypatch.undo()
    [found] = [one["scheduleId"] for one in delayer("list", "--json").objects if one.get("name") == "mine"]
    assert found in made.err
    assert all(one in ended.err for one in (found if flags else "mine", live))
    for done in (made, ended, listed):
        assert (done.status, done.out) == (74, "")
        assert "Standard output takes nothing: No space left on device." in done.err
        assert "defect" not in done.err
    assert {one["state"] for one in delayer("list", "--json").objects} == {"cancelled"}


def test_what_standard_error_does_not_take_keeps_no_answer_back(delayer: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("delayer_client.cli.showing.output._print", _fails)
    done = delayer("cancel", "nobody")
    assert done.status == 3
    assert delayer("schedule", "http", HOOK, "--in", "2h", "--header", "X-Api-Key: s", "--json").objects[0]["hints"]


def _fails(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("args", ["configure --show --json", "configure --show", "--help", "--version"])
@pytest.mark.parametrize("to", ["> /dev/full", ">&-"])
def test_a_full_disk_and_a_closed_output_are_no_defect(args: str, to: str, tmp_path: Path) -> None:
    """It takes more than a second: the command is a process of its own."""
    config = tmp_path / "config.toml"
    config.write_text('[profiles.mine]\nurl = "http://localhost"\n')
    done = subprocess.run(
        ["bash", "-c", f'"$0" -m delayer_client.cli {args} {to}', sys.executable],
        capture_output=True,
        text=True,
        env={**_path(), "DELAYER_CONFIG": str(config)},
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    if to == ">&-" and args.startswith("--"):
        return  # who closes it does not want to read a help text
    assert done.returncode == 74
    assert "Standard output takes nothing: " in done.stderr
    assert "mine" in done.stderr or args.startswith("--")


def test_profiles_that_cannot_be_written_are_no_defect(
    delayer: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DELAYER_CONFIG", str(tmp_path / "file" / "config.toml"))
    done = delayer("configure", "--url", "http://localhost")
    assert done.status == 2
    assert "cannot be" in done.err


def _path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
