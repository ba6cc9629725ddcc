"""The command says what a run begins with, and what its end has saved."""

import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from local.command import keeping, options, run
from local.command.interrupts import Interrupts
from local.command.options import parse
from local.errors import EmulatorError
from local.keeping.beginning import Beginning, Choice
from local.project import PROJECT
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
    beginning = Beginning(restored=manifest(), notes=("A parameter has changed: Shards is now 2, and was 1.",))
    assert keeping.beginning_with(beginning).splitlines() == [
        "A parameter has changed: Shards is now 2, and was 1.",
        "It begins with the state of 1970-01-01 00:16:40 UTC: 12 schedules waiting. What is overdue fires now.",
    ]
    assert keeping.beginning_with(Beginning()) == ""


def test_it_says_what_it_has_saved() -> None:
    saved = Saved(manifest=manifest(waiting=1), left={}, seconds=1.23)
    assert keeping.ended(saved, ".local/8080/state").splitlines() == [
        "Stopped after 1.2 s. Saved in .local/8080/state: 1 schedule waiting.",
        "Start it again with `make local KEEP=1`.",
    ]


def test_it_names_what_it_did_not_wait_for() -> None:
    left = {"stream records for subscriber-own": 3, "invocations of executor-http-request": 1}
    text = keeping.ended(Saved(manifest=manifest(), left=left, seconds=45), "folder")
    assert "Not waited for: stream records for subscriber-own (3), invocations of executor-http-request (1)." in text


def test_a_state_that_is_not_used_is_mentioned(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = EmulatedStack(8080)
    stack.folder = tmp_path / ".local" / "8080"
    monkeypatch.setattr(keeping, "PROJECT", tmp_path)
    assert keeping.begun(stack) == ""
    save(stack.folder / "state")
    assert keeping.begun(stack) == "A state is saved in .local/8080/state; only KEEP=1 uses it."


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        (None, "Stopped. Nothing was saved."),
        (Choice.CLEAN, "Stopped before anything had begun. Nothing is lost: what was saved before is as it was."),
    ],
)
def test_an_end_that_has_nothing_to_save_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], keep: Choice | None, said: str
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run", interrupted)
    monkeypatch.setattr(run, "allow_unread", lambda: None)
    monkeypatch.setattr(options, "parse", lambda: SimpleNamespace(keep=keep))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert run.main() == 0
    assert said in capsys.readouterr().out


class Stack:
    """That keeps its state, and notes that it has saved it."""

    keep = Choice.CLEAN

    def __init__(self, has_begun: bool = True, runs: bool = True) -> None:
        self.has_begun = has_begun
        self.process: Any = SimpleNamespace(is_running=lambda: runs)
        self.done: list[str] = []
        self.folder = PROJECT / ".local" / "8080"

    def save(self, _hurry: Any) -> Saved:
        self.done.append("saved")
        return Saved(manifest=manifest(), left={}, seconds=1)


@pytest.fixture(autouse=True)
def _streams_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)


def ending(stack: Any, error: BaseException, interrupts: Interrupts | None = None) -> None:
    with run.saved_at_the_end(stack, interrupts or Interrupts()):
        raise error


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        EmulatorError("a function cannot start"),
        BrokenPipeError(),
        OSError(5, "EIO"),
        SystemExit(1),
    ],
    ids=["Ctrl-C", "failed", "pipe", "terminal", "rich"],
)
@pytest.mark.parametrize("runs", [True, False], ids=["runs", "ended"])
def test_the_state_is_saved_however_the_run_ends(error: BaseException, runs: bool) -> None:
    stack = Stack(runs=runs)
    if isinstance(error, KeyboardInterrupt) and runs:
        ending(stack, error)
    else:
        with pytest.raises(BaseException) as raised:  # noqa: PT011 - whichever
            ending(stack, error)
        assert isinstance(raised.value, EmulatorError) or raised.value is error
    assert stack.done == ["saved"] * runs


def test_a_run_that_has_begun_and_cannot_save_says_so() -> None:
    with pytest.raises(EmulatorError, match="The next start with KEEP=1 says what is lost"):
        ending(Stack(runs=False), KeyboardInterrupt())


def test_a_run_that_has_not_begun_saves_nothing_and_loses_nothing() -> None:
    stack = Stack(has_begun=False)
    with pytest.raises(KeyboardInterrupt):
        ending(stack, KeyboardInterrupt())
    assert stack.done == []


def test_a_stop_while_the_start_ends_saves(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the marker on there is something to lose: what was restored fires already."""
    stack = Stack(has_begun=False)
    stopped: list[str] = []

    def start() -> None:
        stack.has_begun = True
        raise KeyboardInterrupt

    stack.start, stack.stop = start, lambda: stopped.append("stopped")  # type: ignore[attr-defined]
    monkeypatch.setattr(run, "EmulatedStack", lambda *_, **__: stack)
    monkeypatch.setattr(run, "Receiver", lambda _port: nullcontext())
    monkeypatch.setattr(run, "refuse_used", lambda _port: None)
    run.run(parse(["--keep"]), Interrupts())
    assert (stack.done, stopped) == (["saved"], ["stopped"])


class Gone:
    """A pipe whose reader has ended."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError

    def flush(self) -> None:
        raise BrokenPipeError

    def fileno(self) -> int:
        raise OSError


def test_nothing_that_is_printed_keeps_the_state_from_being_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Gone())
    monkeypatch.setattr(sys, "stderr", Gone())
    stack = Stack()
    ending(stack, KeyboardInterrupt())
    assert stack.done == ["saved"]


def test_only_a_third_ctrl_c_ends_the_saving() -> None:
    """Who presses twice in impatience wants an end, and not to lose everything. A terminal is never impatient."""
    interrupts, seen = Interrupts(), []

    class Slow(Stack):
        def save(self, hurry: Any) -> Saved:
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
                seen.append((number, hurry()))
                interrupts(number, None)
            return super().save(hurry)

    stack = Slow()
    with pytest.raises(EmulatorError, match="Stopped before its state was saved"):
        ending(stack, KeyboardInterrupt(), interrupts)
    assert seen == [
        (signal.SIGHUP, False),
        (signal.SIGINT, False),
        (signal.SIGHUP, True),
        (signal.SIGTERM, True),
    ]
    assert stack.done == []


@pytest.mark.parametrize("ignored", [True, False], ids=["nohup", "terminal"])
def test_the_end_of_the_terminal_is_like_ctrl_c(monkeypatch: pytest.MonkeyPatch, ignored: bool) -> None:
    handlers: dict[int, Any] = {}
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(signal, "getsignal", lambda _number: signal.SIG_IGN if ignored else signal.SIG_DFL)
    Interrupts().install()
    assert set(handlers) == {signal.SIGINT, signal.SIGTERM} | (set() if ignored else {signal.SIGHUP})
    for handler in handlers.values():
        handler.has_ended = False
        with pytest.raises(KeyboardInterrupt):
            handler(signal.SIGHUP, None)
