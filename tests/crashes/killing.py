"""Kills a real process again and again, at a moment of chance while it is under load, and looks what it promised then.

A killed process leaves its files as the operating system has them: nothing that was written is lost. So this proves
nothing about syncs; the crash points do (images.py). It proves what a new life does with the rest of the former one.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Final

from attrs import field, frozen

from tests.crashes.trying import Broken, Shown, shown

LOOK_EVERY: Final = 0.01  # seconds
TAIL: Final = 2_000  # characters of what a process said that are shown


@frozen(kw_only=True)
class Victim:
    """A command and its promises.

    `is_ready` says whether it takes calls; an OSError means that it does not. `load` makes calls until the event is
    set, which is when the process is dead; that a call fails then is no defect, but any other error of it is. `check`
    is called when the next life is ready. It raises Broken, or any other error, if a promise was broken.
    """

    command: Sequence[str]
    folder: Path  # where it runs, and where its output goes
    is_ready: Callable[[], bool]
    load: Callable[[Event], None]
    check: Callable[[int], None]  # with the number of the kill
    begins: Callable[[], None] = lambda: None  # before each life
    environment: Mapping[str, str] = field(factory=lambda: dict(os.environ))
    ready_within: float = 20.0  # seconds
    killed_after: tuple[float, float] = (0.05, 1.0)  # seconds of load, at least and at most
    killed_in_start: float = 0.2  # of the lives; they are killed before they are ready, while they recover


def kill_often(victim: Victim, times: int, seed: int = 0, say: Shown = shown) -> float:
    """Starts, loads, kills and checks so many times. Returns the longest time until a new life was ready, in seconds.

    Raises Broken at the first broken promise; its text has the number of the kill, and the end of the output.
    """
    chance, began = Random(seed), time.monotonic()
    output = victim.folder / "output.txt"
    with _life(victim, output) as process:
        longest = _wait(victim, process)
        _load_and_kill(victim, process, chance)
    for number in range(1, times + 1):
        while chance.random() < victim.killed_in_start:
            with _life(victim, output) as process:
                time.sleep(chance.uniform(0, longest))
        with _life(victim, output) as process:
            longest = max(longest, _wait(victim, process))
            try:
                victim.check(number)
            except Exception as error:
                raise Broken(f"after kill {number} (seed {seed}): {error}\n{_tail(output)}") from error
            if number < times:
                _load_and_kill(victim, process, chance)
        say(f"{number:,} of {times:,} kills, {time.monotonic() - began:.0f} s")
    say("")
    return longest


@contextmanager
def _life(victim: Victim, output: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """One process, in a group of its own. In the end nothing of it is left, neither its children."""
    victim.begins()
    with output.open("ab") as said:
        process = subprocess.Popen(
            victim.command,
            cwd=victim.folder,
            env=victim.environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(victim: Victim, process: "subprocess.Popen[bytes]") -> float:
    """Until it is ready. Returns how long that took, in seconds. Raises Broken."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < victim.ready_within:
        if process.poll() is not None:
            raise Broken(f"it ended with status {process.returncode}:\n{_tail(victim.folder / 'output.txt')}")
        with suppress(OSError):
            if victim.is_ready():
                return time.monotonic() - began
        time.sleep(LOOK_EVERY)
    raise Broken(f"it was not ready within {waited:.0f} s:\n{_tail(victim.folder / 'output.txt')}")


def _load_and_kill(victim: Victim, process: "subprocess.Popen[bytes]", chance: Random) -> None:
    """Only the process itself is killed first: what its children do without it is part of what is tried.

    The next life begins when the load has ended.
    """
    is_dead = Event()
    errors: list[Exception] = []

    def load() -> None:
        try:
            victim.load(is_dead)
        except OSError as error:  # a call that the process did not live to answer
            if not is_dead.is_set():
                errors.append(error)
        except Exception as error:  # noqa: BLE001 - it ends the round below
            errors.append(error)

    thread = Thread(target=load, daemon=True)
    thread.start()
    is_dead.wait(chance.uniform(*victim.killed_after))
    if process.poll() is not None:
        raise Broken(f"it ended by itself, with status {process.returncode}:\n{_tail(victim.folder / 'output.txt')}")
    is_dead.set()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    thread.join(victim.ready_within)
    if thread.is_alive():
        raise Broken("the load goes on although the process is dead")
    if errors:
        raise Broken(f"the load failed: {errors[0]!r}\n{_tail(victim.folder / 'output.txt')}") from errors[0]


def _tail(output: Path) -> str:
    return output.read_text(errors="replace")[-TAIL:] if output.exists() else ""
