"""The command says what a run begins with, and what its end has saved."""

import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from local.command import keeping, options, run
from local.command.options import parse
from local.errors import EmulatorError
from local.keeping.beginning import Beginning, Choice
from local.stack.emulated_stack import EmulatedStack
from local.stack.keeper import Saved
from tests.cfn import ROOT
from tests.unit.local.keeping.samples import manifest, save


@pytest.mark.parametrize(
    ("arguments", "keep"),
    [([], None), (["--keep"], Choice.CLEAN), (["--keep", "1"], Choice.CLEAN), (["--keep", "old"], Choice.OLD)],
    ids=str,
)
def test_nothing_is_kept_unless_it_is_asked_for(arguments: list[str], keep: Choice | None) -> None:
    assert parse(arguments).keep is keep


@pytest.mark.parametrize(("given", "keep"), [("", None), ("1", Choice.CLEAN), ("old", Choice.OLD), ("new", Choice.NEW)])
def test_make_has_a_variable_for_it(given: str, keep: Choice | None) -> None:
    make = shutil.which("make")
    assert make
    command = [make, "--dry-run", "--no-print-directory", "local", f"KEEP={given}"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    arguments = shlex.split(shown[shown.rindex("python -m local") :].replace("\\\n", " "))[3:]
    assert parse(arguments).keep is keep


def test_it_says_what_it_begins_with() -> None:
    beginning = Beginning(restored=manifest(), notes=("Another parameter than before: Shards is 2, it was 1.",))
    assert keeping.beginning_with(beginning).splitlines() == [
        "Another parameter than before: Shards is 2, it was 1.",
        "It begins with the state of 1970-01-01 00:16:40 UTC: 12 schedules waiting. What is overdue fires now.",
    ]
    assert keeping.beginning_with(Beginning()) == ""


def test_it_says_what_it_has_saved() -> None:
    saved = Saved(manifest=manifest(waiting=1), left={}, seconds=1.23)
    assert keeping.ended(saved, ".local/8080/state").splitlines() == [
        "Stopped after 1.2 s. Saved in .local/8080/state: 1 schedule waiting.",
        "Start it again with KEEP=1, on the same port.",
    ]


def test_it_names_what_it_did_not_wait_for() -> None:
    left = {"stream records for subscriber-own": 3, "invocations of executor-http-request": 1}
    text = keeping.ended(Saved(manifest=manifest(), left=left, seconds=45), "folder")
    assert "Not waited for: 3 stream records for subscriber-own, 1 invocations of executor-http-request." in text


def test_a_state_that_is_not_used_is_mentioned(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = EmulatedStack(8080)
    stack.folder = tmp_path / ".local" / "8080"
    monkeypatch.setattr(keeping, "PROJECT", tmp_path)
    assert keeping.begun(stack) == ""
    save(stack.folder / "state")
    assert keeping.begun(stack) == "A state is saved in .local/8080/state; only KEEP=1 uses it."


@pytest.mark.parametrize(
    ("keep", "said", "code"),
    [
        (None, "Stopped. Nothing was saved.", 0),
        (Choice.CLEAN, "Stopped before its state was saved. The next start with KEEP=1 says what is lost.", 1),
    ],
)
def test_an_end_that_saves_nothing_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], keep: Choice | None, said: str, code: int
) -> None:
    def interrupted(_given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run", interrupted)
    monkeypatch.setattr(options, "parse", lambda: SimpleNamespace(keep=keep))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert run.main() == code
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "runs", "saves"),
    [
        (KeyboardInterrupt(), True, True),
        (EmulatorError("a function cannot start"), True, True),
        (EmulatorError("the emulator has ended"), False, False),
    ],
    ids=["Ctrl-C", "failed", "ended"],
)
def test_the_state_is_saved_however_the_run_ends(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, runs: bool, saves: bool
) -> None:
    done: list[str] = []
    stack: Any = SimpleNamespace(keep=Choice.CLEAN, process=SimpleNamespace(is_running=lambda: runs))
    monkeypatch.setattr(run, "save", lambda _stack: done.append("saved"))
    end: Callable[[], Any] = lambda: ending(stack, error)  # noqa: E731
    if isinstance(error, EmulatorError):
        with pytest.raises(EmulatorError):
            end()
    else:
        end()
    assert done == ["saved"] * saves


def test_only_a_third_ctrl_c_ends_the_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who presses twice in impatience wants an end, and not to lose everything."""
    monkeypatch.setattr(signal, "signal", lambda number, handler: handlers.__setitem__(number, handler))
    handlers: dict[int, Any] = {}
    seen = []

    def saved(hurry: Callable[[], bool]) -> Any:
        for press in handlers[signal.SIGINT], handlers[signal.SIGTERM]:
            seen.append(hurry())
            press(0, None)

    stack: Any = SimpleNamespace(save=saved)
    with pytest.raises(KeyboardInterrupt):
        run.save(stack)
    assert seen == [False, True]


def ending(stack: Any, error: BaseException) -> None:
    with run.saved_at_the_end(stack):
        raise error
