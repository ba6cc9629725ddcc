"""`delayer new-action` makes a folder that `delayer serve --actions` runs as it is, or says why it makes none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from delayer.extension.executor import __all__ as author_imports
from delayer.serve.beside.extensions import extensions_in
from tests.cfn import ROOT
from tests.client.cli.conftest import Cli
from tests.unit.serve.machines import Running

LONGEST = 40
SECONDS = 60  # a machine may be busy


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_is_three_files_and_says_what_comes_next(delayer: Cli, here: Path) -> None:
    done = delayer("new-action", "slack-post")
    assert done.status == 0
    made = sorted(str(one.relative_to(here)) for one in here.rglob("*") if one.is_file())
    folder = "my-actions/slack-post"
    assert made == [f"{folder}/README.md", f"{folder}/app.py", f"{folder}/test_slack_post.py"]
    assert sorted(done.out.splitlines()) == [f"Wrote {one}." for one in made]
    assert done.err == f"Run it: delayer serve --actions my-actions. Test it: pytest {folder}\n"
    assert (here / folder / "README.md").read_text().startswith("# slack-post\n")


def test_an_engine_runs_it_as_it_is(delayer: Cli, here: Path) -> None:
    for name in ("slack-post", "l" * LONGEST):
        assert delayer("new-action", name, "--into", "own/actions", "--json").status == 0
    running = Running(extensions=extensions_in([here / "own/actions"]), targets=None)
    schedule = running.schedule(action={"type": "slack-post"})
    running.settle()
    shown = running.call("GET", f"/schedules/{schedule}")[1]
    assert (shown["state"], shown["detail"]) == ("executed", "done at attempt 1")
    body = {"delaySeconds": 1, "action": {"type": "slack-post", "surplus": 1}}
    assert running.call("POST", "/schedules", body)[0] == 422


def test_its_test_passes_where_the_client_is_installed(delayer: Cli, here: Path) -> None:
    """Without a checkout: nothing but the two packages is on the path. It takes some seconds: another pytest runs."""
    delayer("new-action", "slack-post")
    delayer("new-action", "teams-post")
    path = os.pathsep.join([str(ROOT / "client"), str(ROOT / "shared")])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "my-actions"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "NAME is empty"),
        *((name, "cannot be the name of an action") for name in ("SlackPost", "slack_post", "slack--post", "9-lives")),
        ("../../etc", "cannot be the name of an action"),
        ("l" * (LONGEST + 1), f"{LONGEST} are the most"),
        ("http-request", "There is a built-in action http-request"),
        ("message", "would be Message, and this name has a meaning"),
        ("value-error", "has a meaning"),
        *((name, "would not be taken for an action") for name in ("executor-x", "policy-x", "subscriber-x")),
        *((name, "has a meaning") for name in map(str.lower, author_imports)),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_the_reason(delayer: Cli, here: Path, name: str, why: str) -> None:
    done = delayer("new-action", name)
    assert (done.status, done.out) == (2, "")
    assert why in done.err
    assert "Traceback" not in done.err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("folder", ["slack-post", "executor-slack-post"])
def test_what_is_there_is_left_alone(delayer: Cli, here: Path, folder: str) -> None:
    (here / "my-actions" / folder).mkdir(parents=True)
    done = delayer("new-action", "slack-post")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert f"my-actions/{folder} is there already" in done.err
    assert [one.name for one in here.rglob("*")] == ["my-actions", folder]


def test_a_file_in_the_place_of_the_folder_around_it(delayer: Cli, here: Path) -> None:
    (here / "file").touch()
    for into in ("file", "file/below"):
        done = delayer("new-action", "slack-post", "--into", into)
        assert (done.status, done.err) == (2, f"{into} is no folder. Name one with --into.\n")


def test_one_that_cannot_be_written_leaves_nothing_behind(
    delayer: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str, encoding: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    done = delayer("new-action", "slack-post")
    assert (done.status, "cannot be written: No space left on device" in done.err) == (2, True)
    assert list((here / "my-actions").iterdir()) == []
