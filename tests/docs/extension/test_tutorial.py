"""The tutorials are performed: each file and each command of the page, in a copy, until the action fires."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from attrs import frozen

from local.errors import EmulatorError
from local.stack.ports import free_ports, refuse_used
from tests.cfn import ROOT
from tests.docs.blocks.fences import Fence, fences_in

NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".engines", ".local", ".schemathesis", ".hypothesis", ".pytest_cache", "__pycache__", "site"
)
PORTS = 3  # of `make local`: the API, the AWS endpoint and the receiver
TUTORIALS: dict[str, tuple[str, str | None]] = {  # from where to where, on each page
    "extend/extending.md": ("\n### 1. Make it\n", None),
    "extend/subscribers.md": ("\n## Make it\n", "\n## What an event holds\n"),
    "use/policies.md": ("\n## Add a policy\n", "\n## Reference\n"),
}
MORE = {"extend/extending.md": "extend/how-to.md"}  # what can be done, too
SETTINGS = {"extend/how-to.md": ("\n## A permission, a setting\n", "\n## Leave it out of a stack\n")}
LINE_OF_THE_TABLE = "template.yaml, in the table "
BEHIND_THE_LOOP = "template.yaml, behind the loop "
AT_THE_END = "template.yaml, at the end of "
THE_SAME_LINE = ", instead of the same line"  # the one that begins as this one does, up to the `=`


def steps(page: str, sections: Mapping[str, tuple[str, str | None]] = TUTORIALS) -> list[Fence]:
    """The blocks of a page, in their order. The title of a block is the file that it is written into."""
    if page not in sections:
        return []
    begin, end = sections[page]
    section = (ROOT / "docs" / page).read_text().split(begin)[1]
    section = section.split(end)[0] if end else section
    return list(fences_in(page, section))


def performed(page: str) -> list[Fence]:
    """What can be done, too, is done before all of it is checked."""
    whole = steps(page)
    at = [step.text for step in whole].index("make lint\n")
    return [*whole[:at], *steps(MORE.get(page, ""), SETTINGS), *whole[at:]]


@frozen
class Copy:
    """The project in another folder, with this .venv, and free ports in the place of those of the page."""

    root: Path
    port: int

    def perform(self, step: Fence, running: list[subprocess.Popen[bytes]]) -> None:
        """Writes the file, runs the commands, or waits for what the running stack shows."""
        if step.title:
            self._write(step)
        elif step.text == "make local\n":
            running.append(self._start())
            self._wait_for("Ctrl-C", running[-1])
        elif step.language == "sh":
            done = subprocess.run(
                ["bash", "-ec", self._moved(step.text)], cwd=self.root, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{step.text}\n{done.stdout}\n{done.stderr}"
        elif step.language == "text":
            self._wait_for(step.text.partition(") ")[2].strip(), running[-1])

    def _write(self, step: Fence) -> None:
        """A whole file, or a part of one that is there."""
        if step.title.startswith(LINE_OF_THE_TABLE):
            self._insert(rf"^  {step.title.removeprefix(LINE_OF_THE_TABLE)}:\n(?:    .+\n)+", step.text)
        elif step.title.startswith(BEHIND_THE_LOOP):
            loop = step.title.removeprefix(BEHIND_THE_LOOP)
            self._insert(rf"^  Fn::ForEach::{loop}:\n(?:    .+\n)+\n", f"{step.text}\n")
        elif step.title.startswith(AT_THE_END):
            self._insert(rf"^(?P<indent> *){step.title.removeprefix(AT_THE_END)}:\n(?:(?P=indent)  .+\n)+", step.text)
        elif step.title.endswith(THE_SAME_LINE):
            file = self.root / step.title.removesuffix(THE_SAME_LINE)
            [line] = re.findall(rf"^{re.escape(step.text.partition('=')[0])}=.*\n", file.read_text(), re.MULTILINE)
            file.write_text(file.read_text().replace(line, step.text))
        else:
            (self.root / step.title).parent.mkdir(parents=True, exist_ok=True)
            (self.root / step.title).write_text(step.text)

    def _insert(self, place: str, text: str) -> None:
        """Into the template, behind what this pattern finds: a table of its Mappings, a list, or a loop."""
        template = self.root / "template.yaml"
        [found] = re.finditer(place, template.read_text(), re.MULTILINE)
        template.write_text(template.read_text().replace(found[0], found[0] + text))

    def _moved(self, commands: str) -> str:
        return (
            commands.replace("localhost:8080", f"localhost:{self.port}")
            .replace(":8082", f":{self.port + 2}")
            .replace(".local/8080", f".local/{self.port}")
        )

    def _start(self) -> subprocess.Popen[bytes]:
        with (self.root / "shown.txt").open("wb") as shown:
            command = ["make", "local", f"PORT={self.port}"]
            return subprocess.Popen(command, cwd=self.root, stdout=shown, stderr=shown, start_new_session=True)

    def _wait_for(self, text: str, process: subprocess.Popen[bytes]) -> None:
        assert text
        until = time.monotonic() + 110
        while text not in (shown := (self.root / "shown.txt").read_text()):
            assert process.poll() is None, shown
            assert time.monotonic() < until, f"not shown: {text}\n{shown}"
            time.sleep(0.1)


def three_free_ports() -> int:
    """The first of three neighbours: `make local` takes them."""
    while True:
        first, _ = free_ports()
        try:
            for port in range(first, first + PORTS):
                refuse_used(port)
        except EmulatorError:
            continue
        return first


class Performance:
    """A tutorial in a copy of its own. What it starts is ended as by Ctrl-C."""

    def __init__(self, root: Path) -> None:
        shutil.copytree(ROOT, root, ignore=NOT_COPIED, symlinks=True)
        assert (ROOT / ".venv/installed").exists(), "made by `make test`"
        (root / ".venv").symlink_to((ROOT / ".venv").resolve())
        for file in (*root.glob("requirements-*.txt"), root / "client/pyproject.toml"):  # so that nothing is installed
            os.utime(file, (0, 0))
        self.copy = Copy(root, three_free_ports())
        self.running: list[subprocess.Popen[bytes]] = []

    def end(self) -> None:
        while self.running:
            process = self.running.pop()
            os.killpg(process.pid, signal.SIGINT)
            process.wait(timeout=30)


@pytest.fixture(scope="module")
def performances(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Performance]]:
    """The one of a page, made for its first step. It ends when that of another page begins, or with the last one."""
    made: dict[str, Performance] = {}

    def end_all() -> None:
        for performance in made.values():
            performance.end()

    def performance_of(page: str) -> Performance:
        if page not in made:
            end_all()
            made[page] = Performance(tmp_path_factory.mktemp("tutorial") / "delayer")
        return made[page]

    yield performance_of
    end_all()


@pytest.mark.parametrize("page", TUTORIALS)
def test_a_tutorial_shows_all_that_it_needs(page: str) -> None:
    """It makes something new, tests it, checks it, runs it, and says what is to be seen."""
    commands = "".join(step.text for step in steps(page) if step.language == "sh")
    for command in ("make new-", ".venv/bin/pytest tests/functions/", "make lint", "make local", "curl "):
        assert command in commands
    assert steps(page)[-1].language == ("sh" if page == "extend/subscribers.md" else "text")


STEPS = [
    pytest.param(page, number, step, id=f"{page}-{number}")
    for page in TUTORIALS
    for number, step in enumerate(performed(page))
    if step.title or step.language in ("sh", "text")
]


@pytest.mark.parametrize(("page", "number", "step"), STEPS)
def test_a_step_does_what_the_page_says(
    performances: Callable[[str], Performance], page: str, number: int, step: Fence
) -> None:
    """One after the other; each needs those before it."""
    performances(page).copy.perform(step, performances(page).running)
