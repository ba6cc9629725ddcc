"""The tutorials are performed: each file and each command of their pages, in a copy, until the action fires.

All three are made in one copy, which is tested, checked, and runs: what reads the whole project takes longest, and says
the same of three additions as of one.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from attrs import frozen

from local.stack.ports import free_port
from operate.deploy.expand import expand
from operate.deploy.reading import read_template
from tests.cfn import ROOT
from tests.docs.blocks.fences import Fence, fences_in
from tests.running.of_each import of_each

NOT_COPIED = shutil.ignore_patterns(
    *(".git", ".venv", ".engines", ".local", ".schemathesis", ".hypothesis", ".pytest_cache", "__pycache__", "site"),
    ".mypy_cache",  # another process may be writing it
)
PORTS = 3  # of `make local-aws`: the API, the AWS endpoint and the receiver
TUTORIALS: dict[str, tuple[str, str | None]] = {  # from where to where, on each page
    "extend/extending.md": ("\n### 1. Make it\n", None),
    "extend/subscribers.md": ("\n## Make it\n", "\n## What an event holds\n"),
    "use/policies.md": ("\n## Add a policy\n", "\n## Reference\n"),
}
MORE = {"extend/extending.md": "extend/how-to.md"}  # what can be done, too
SETTINGS = {"extend/how-to.md": ("\n## A permission, a setting\n", "\n## Leave it out of a stack\n")}
LINE_OF_THE_TABLE = "template.yaml, in the table "
BEHIND_THE_LOOP = "template.yaml, behind the loop "
PYTEST = ".venv/bin/pytest"
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
    at = [step.text for step in whole].index("make format\n")
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
        elif step.text == "make local-aws\n":
            running.append(self._start())
            self._wait_for("Ctrl-C", running[-1])
        elif step.language == "sh":
            self.run(step.text)
        elif step.language == "text":
            self._wait_for(step.text.partition(") ")[2].strip(), running[-1])

    def run(self, commands: str) -> None:
        """As a reader types them."""
        done = subprocess.run(["bash", "-ec", self._moved(commands)], cwd=self.root, capture_output=True, text=True)
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"

    def _write(self, step: Fence) -> None:
        """A whole file, or a part of one that is there."""
        if step.title.startswith(LINE_OF_THE_TABLE):
            self._put_line(step.title.removeprefix(LINE_OF_THE_TABLE), step.text)
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

    def _put_line(self, table: str, text: str) -> None:
        """Into a table of the Mappings, in place of the line that it has of the same name, if it has one."""
        template = self.root / "template.yaml"
        before, mappings = template.read_text().split("\nMappings:\n")
        [found] = re.finditer(rf"^  {table}:\n(?:    .+\n)+", mappings, re.MULTILINE)
        name = f"{text.partition(':')[0]}:"
        others = "".join(line for line in found[0].splitlines(keepends=True) if not line.startswith(name))
        template.write_text(f"{before}\nMappings:\n{mappings.replace(found[0], others + text)}")

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
            command = ["make", "local-aws", f"PORT={self.port}"]
            return subprocess.Popen(command, cwd=self.root, stdout=shown, stderr=shown, start_new_session=True)

    def _wait_for(self, text: str, process: subprocess.Popen[bytes]) -> None:
        assert text
        until = time.monotonic() + 110
        while text not in (shown := (self.root / "shown.txt").read_text()):
            assert process.poll() is None, shown
            assert time.monotonic() < until, f"not shown: {text}\n{shown}"
            time.sleep(0.1)


class Performance:
    """The tutorials in a copy of their own. What they start is ended as by Ctrl-C."""

    def __init__(self, root: Path) -> None:
        shutil.copytree(ROOT, root, ignore=NOT_COPIED, symlinks=True)
        assert (ROOT / ".venv/installed").exists(), "made by `make test`"
        (root / ".venv").symlink_to((ROOT / ".venv").resolve())
        # Types that are checked already need not be checked again. A file that changes meanwhile is, which mypy sees.
        subprocess.run(["cp", "-rp", str(ROOT / ".mypy_cache"), str(root)], check=False, capture_output=True)
        for file in (*root.glob("requirements-*.txt"), root / "client/pyproject.toml"):  # so that nothing is installed
            os.utime(file, (0, 0))
        self.copy = Copy(root, free_port())
        self.running: list[subprocess.Popen[bytes]] = []

    def perform(self, steps: list[Fence]) -> None:
        """In their order."""
        for step in steps:
            self.copy.perform(step, self.running)

    def end(self) -> None:
        while self.running:
            process = self.running.pop()
            os.killpg(process.pid, signal.SIGINT)
            process.wait(timeout=30)


MAKES, CHECKS, TESTS, RUNS = "makes", "checks", "tests", "runs"
CHECK = ("make format\n", "make lint\n")


def parts_of(page: str) -> dict[str, list[Fence]]:
    """The steps of a page: what makes something and tests it, what checks the whole project, what tests what the
    template gives to it, and what runs it."""
    whole = [step for step in performed(page) if step.title or step.language in ("sh", "text")]
    local = [step.text for step in whole].index("make local-aws\n")
    first, last = (1 + [step.text for step in whole].index(command) for command in CHECK)
    return {MAKES: whole[: first - 1], CHECKS: whole[first - 1 : last], TESTS: whole[last:local], RUNS: whole[local:]}


@pytest.fixture(scope="module")
def all_made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Performance]:
    """A copy in which what all pages make is, each tested as its page says."""
    performance = Performance(tmp_path_factory.mktemp("tutorial") / "delayer")
    for page in TUTORIALS:
        performance.perform(parts_of(page)[MAKES])
    yield performance
    performance.end()


@of_each(TUTORIALS)
def test_a_tutorial_shows_all_that_it_needs(page: str) -> None:
    """It makes something new, tests it, checks it, runs it, and says what is to be seen."""
    commands = "".join(step.text for step in steps(page) if step.language == "sh")
    for command in ("make new-", ".venv/bin/pytest tests/functions/", "make lint", "make local-aws", "curl "):
        assert command in commands
    assert steps(page)[-1].language == ("sh" if page == "extend/subscribers.md" else "text")


def test_what_is_written_into_the_template_is_not_in_a_stack_that_names_nothing(tmp_path: Path) -> None:
    """Or the tests of the template fail in the copy (ADR 0172). It takes a second: the template is expanded twice.

    But for what an executor alone may do: that costs nothing, and allows nobody anything.
    """
    shutil.copy(ROOT / "template.yaml", tmp_path)
    copy = Copy(tmp_path, 0)
    for step in (one for page in TUTORIALS for one in performed(page)):
        if step.title.startswith((BEHIND_THE_LOOP, LINE_OF_THE_TABLE)):
            copy.perform(step, [])
    nothing = {"Policies": "none", "Lanes": "none", "Subscribers": "none"}
    before, after = (expand(read_template(root / "template.yaml"), nothing)["Resources"] for root in (ROOT, tmp_path))
    assert set(after) - set(before) == {"ExecutorslackpostPermissions"}


@pytest.mark.thorough
def test_all_that_was_made_passes_its_tests(all_made: Performance) -> None:
    """Those that the pages say, each once: they read the whole project, which takes most of a minute."""
    commands = {step.text.strip() for page in TUTORIALS for step in parts_of(page)[TESTS]}
    tests = {path for command in commands if command.startswith(PYTEST) for path in command.split()[1:]}
    for command in sorted(commands):
        if not command.startswith(PYTEST):
            all_made.copy.run(command)
    all_made.copy.run(f"{PYTEST} {' '.join(sorted(tests))}")


@pytest.mark.thorough
@pytest.mark.parametrize("command", CHECK)
def test_all_that_was_made_passes_the_checks(all_made: Performance, command: str) -> None:
    """The whole project is checked, as the pages say: this takes most of a minute without what mypy knows already."""
    for page in TUTORIALS:
        assert [step.text for step in parts_of(page)[CHECKS]] == list(CHECK)
    all_made.perform([step for step in parts_of(page)[CHECKS] if step.text == command])


@pytest.mark.thorough
def test_all_that_was_made_runs(all_made: Performance) -> None:
    """On one stack, which starts in seconds. What is scheduled is due in two more."""
    first, *others = (parts_of(page)[RUNS] for page in TUTORIALS)
    all_made.perform(first)
    for steps_of_a_page in others:
        all_made.perform([step for step in steps_of_a_page if step.text != "make local-aws\n"])
