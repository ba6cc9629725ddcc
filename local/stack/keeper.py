"""Keeps the state of a stack: has it filled at the start, and brought to rest and saved at a stop."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from local.errors import EmulatorError
from local.keeping.beginning import Choice, refused
from local.keeping.kept import KeptState
from local.keeping.manifest import Manifest

REST_SECONDS: Final = 45.0  # an executor ends an attempt within 30 s
LAST_SECONDS: Final = 2.0  # for the outcomes of attempts that have been made; without them they are repeated
POLL_SECONDS: Final = 0.05
QUIET_TIMES: Final = 2  # in a row: what moves on while it is counted may be overlooked once

Left = dict[str, int]  # in words -> how many
Request = Callable[[str, str, object], Any]  # method, path, content -> the answer


@frozen(kw_only=True)
class Saved:
    """A stop has saved this."""

    manifest: Manifest
    left: Left  # what it did not wait for; empty after a stop that came to rest
    seconds: float  # that the stop took


class Keeper:
    """The state of one run of a stack. `request` reaches the emulator's own paths."""

    def __init__(self, kept: KeptState, request: Request) -> None:
        self.kept = kept
        self.request = request

    @classmethod
    def of(cls, folder: Path, port: int, parameters: dict[str, str], keep: Choice, request: Request) -> "Keeper":
        """Take the folder, and decide what to begin with. EmulatorError if nothing can be begun."""
        kept = KeptState(folder, port, parameters)
        try:
            kept.begin(keep)
        except EmulatorError:
            kept.close()
            raise
        return cls(kept, request)

    @property
    def restores(self) -> bool:
        """Whether there is a state to begin with."""
        return self.kept.beginning.restored is not None

    def settings(self) -> dict[str, str]:
        """For the emulator's process."""
        return {"DELAYER_STATE_FOLDER": str(self.kept.folder), "DELAYER_STACK": self.kept.stack}

    def fill(self) -> None:
        """Put back what is saved. EmulatorError if it does not fit; it is still saved then."""
        if self.restores:
            try:
                self.request("PUT", "/_local/state/fill", {})
            except EmulatorError as error:
                raise refused(self.kept.folder, str(error), self.kept.port) from error

    def release(self) -> None:
        """Let the stack begin. What is overdue fires at once, not with the next minute."""
        self.kept.mark()
        self.request("PUT", "/_local/state/release", {"ticks": self.restores})

    def save(self, seconds: float = REST_SECONDS, hurry: Callable[[], bool] = lambda: False) -> Saved:
        """Bring the stack to rest, and save.

        `hurry` ends the waiting but for a moment, in which functions write down what they have done already; then what
        is under way is saved as it is.
        """
        began = time.monotonic()
        self.request("PUT", "/_local/state/rest", {})
        if left := self.wait(lambda: hurry() or time.monotonic() > began + seconds):
            last = time.monotonic() + LAST_SECONDS
            left = self.wait(lambda: time.monotonic() > last)
        manifest = Manifest(**self.request("PUT", "/_local/state/save", self.kept.manifest().written()))
        self.kept.saved()
        return Saved(manifest=manifest, left=left, seconds=time.monotonic() - began)

    def wait(self, is_over: Callable[[], bool]) -> Left:
        """Until nothing is under way, or until it is over; what is left then."""
        quiet = 0
        while True:
            left: Left = self.request("PUT", "/_local/state/left", {})
            quiet = 0 if left else quiet + 1
            if quiet == QUIET_TIMES or (left and is_over()):
                return left
            time.sleep(POLL_SECONDS)

    def close(self) -> None:
        """Let another process have the folder."""
        self.kept.close()
