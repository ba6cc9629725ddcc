"""A reader who does one block after the other: in one shell, or in one Python."""

import contextlib
import io
import os
import subprocess
from collections.abc import Callable, Sequence
from typing import Any, Final

from attrs import define, field

from tests.cfn import ROOT
from tests.docs.blocks.elsewhere import runner_of
from tests.docs.blocks.fences import Fence, all_fences
from tests.e2e.docs.place import Place

TUTORIAL: Final = "use/tutorial.md"
SECONDS: Final = 90  # of one block
REFUSED: Final = range(1, 64)  # curl ends with 22, `delayer` with 1 to 7; 70 is a defect, 127 no such program


@define
class Session:
    """A page, or one tab of it. Variables stay from block to block."""

    place: Place
    name: str
    names: dict[str, Any] = field(factory=dict)  # of Python

    def perform(self, fence: Fence) -> None:
        """Fails with what the block has shown, if it does not come to its end."""
        text = self.place.moved(fence.text, self.name)
        shown = self.in_python(text) if fence.language == "python" else self.in_shell(text, fence)
        self.place.notice(shown, self.name)

    def in_python(self, text: str) -> str:
        """In this process, with the environment of the session."""
        shown, kept = io.StringIO(), dict(os.environ)
        os.environ.update(self.place.environment(self.name))
        try:
            with contextlib.redirect_stdout(shown):
                exec(compile(text, self.name, "exec"), self.names)
        finally:
            os.environ.clear()
            os.environ.update(kept)
        return shown.getvalue()

    def in_shell(self, text: str, fence: Fence) -> str:
        """In a shell that has the variables of the one before."""
        variables = self.place.work_of(self.name) / "variables"
        variables.touch()
        script = f"set -a\n. {variables}\n{text}\nexport -p > {variables}\n"
        done = subprocess.run(
            ["/bin/bash", "-ec", script],
            cwd=ROOT,
            env=self.place.environment(self.name),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
        )
        said = f"{fence.place} ended with {done.returncode}\n{text}\n{done.stdout}\n{done.stderr}"
        if fence.marker == "refused":
            assert done.returncode in REFUSED, said
        else:
            assert done.returncode == 0, said
        assert "Traceback" not in done.stderr, said
        return done.stdout


def sessions(is_wanted: Callable[[str], bool]) -> dict[str, list[Fence]]:
    """The blocks of these pages that are run, by page and tab: each is an owner of its own, and in nobody's way."""
    found: dict[str, list[Fence]] = {}
    for fence in all_fences():
        if fence.is_run and not runner_of(fence) and is_wanted(fence.page):
            name = f"{fence.page.removesuffix('.md')} {fence.tab or fence.language}".replace(" ", "-").replace("/", "-")
            found.setdefault(name, []).append(fence)
    return found


def performed(place: Place, name: str, fences: Sequence[Fence]) -> None:
    """All of them, in their order."""
    session = Session(place=place, name=name)
    for fence in fences:
        session.perform(fence)
