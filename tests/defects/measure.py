"""Makes one change after the other in a copy of the tree, and runs what could find it until something does."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any, Final

from attrs import evolve, field, frozen

from tests.defects.change import TEMPLATE, Change, Gone
from tests.defects.covered import Covered, lines_of

AT_FIRST: Final = 60  # tests that run in the first process: most changes are found by them
AT_MOST: Final = 900  # seconds for one step, at least; a change that makes tests hang is found by that, too
SLOWER: Final = 4  # times: with the copies side by side, and other work beside them
TYPED: Final = "shared/delayer"  # its types are checked, and not how a change is formatted: nobody would write it so
LISTED: Final = ".defects-tests"  # the ids of the tests to run
FAILS: Final = ("FAILED", "ERROR")
FOUND_BY: Final = re.compile(r"(?:FAILED|ERROR) (\S.*)")
UNKNOWN: Final = re.compile(r"^ERROR: not found: (.+)$", re.MULTILINE)
READS_ALL: Final = (
    "tests/functions/test_handlers.py",
    "tests/template/test_policies.py",
    "tests/template",
    "tests/contract/test_aws_calls.py",
    "tests/golden",
)
STORIES: Final = ("tests/simulation/test_simulation.py", "tests/simulation/test_races.py")
END_TO_END: Final = {
    "firing": ("tests/e2e/test_firing.py", "tests/e2e/test_lifecycle.py", "tests/e2e/test_failures.py"),
    "ledger": ("tests/e2e/test_lifecycle.py", "tests/e2e/test_failures.py", "tests/e2e/operate"),
    "accept": ("tests/e2e/test_lifecycle.py", "tests/e2e/python_client", "tests/e2e/owners", "tests/e2e/timing"),
    "series": ("tests/e2e/series",),
    "flow": ("tests/e2e/flow",),
    "connections": ("tests/e2e/connections", "tests/e2e/access"),
    "HTTP": ("tests/e2e/test_lifecycle.py", "tests/e2e/actions", "tests/e2e/extension"),
}


@frozen(kw_only=True)
class Finding:
    """What became of a change."""

    change: Change
    by: str  # the test or the check that found it; empty: nothing did
    step: str = ""
    tests: int = 0  # how many tests run its line


@frozen
class Step:
    """Something to run: its name and its command."""

    name: str
    command: list[str]
    at_most: float = AT_MOST


@frozen(kw_only=True)
class Measure:
    """Measures changes of `tree`. `marks` is the selection of tests, as pytest takes it after -m; empty: all.

    Of the tests that run a line, those that take `at_most` seconds together are asked, the quickest of each file first.
    """

    tree: Path
    covered: Covered
    marks: str
    steps: frozenset[str]
    at_most: float
    copies: int = 2
    _free: "Queue[Path]" = field(init=False, factory=Queue)
    _lock: threading.Lock = field(init=False, factory=threading.Lock)

    def __call__(self, changes: list[Change]) -> Iterator[Finding]:
        """Each change with what found it, in the order in which they are done."""
        with tempfile.TemporaryDirectory(prefix="delayer-defects-") as folder, ThreadPoolExecutor(self.copies) as pool:
            for number in range(self.copies):
                self._free.put(copied(self.tree, Path(folder) / str(number)))
            yield from pool.map(self._one, changes)

    def _one(self, change: Change) -> Finding:
        copy = self._free.get()
        try:
            with made(change, copy) as (file, line, text):
                ids = [] if file == TEMPLATE else self._tests_of(file, lines_of(change, text, line))
                for step in self._steps_of(change, ids, copy):
                    if by := run(step, copy):
                        return Finding(change=change, by=by, step=step.name, tests=len(ids))
                return Finding(change=change, by="", tests=len(ids))
        except Gone as error:
            return Finding(change=change, by="", step=f"gone: {error}")
        finally:
            self._free.put(copy)

    def fail(self, ids: Sequence[str], copy: Path) -> set[str]:
        """What pytest says of those of these tests that fail in a copy."""
        wrong: set[str] = set()
        for step in self._tests("control", ids, copy):
            command = [one for one in step.command if one != "-x"]
            done = subprocess.run(command, cwd=copy, env=environment(), capture_output=True, text=True, check=False)
            wrong |= {_short(line) for line in done.stdout.splitlines() if line.startswith(FAILS)}
        return wrong

    def _tests_of(self, file: str, lines: Iterable[int]) -> list[str]:
        return self.covered.within(self.covered.tests_of(file, lines), self.at_most)

    def _steps_of(self, change: Change, ids: list[str], copy: Path) -> Iterator[Step]:
        """The quickest first."""
        yield from self._tests("line", ids[:AT_FIRST], copy)
        if change.layer in ("wiring", "IAM"):
            for one in READS_ALL:
                yield from self._tests("template", [one], copy)
        yield from self._tests("line", ids[AT_FIRST:], copy)
        if change.file != TEMPLATE:
            yield Step("types", [".venv/bin/mypy", "--no-error-summary", TYPED])
            if "stories" in self.steps:
                yield from self._tests("stories", STORIES, copy)
        if "e2e" in self.steps:
            yield from self._tests("e2e", END_TO_END[change.area], copy)

    def _tests(self, name: str, tests: Sequence[str], copy: Path) -> Iterator[Step]:
        there = [one for one in tests if (copy / one.partition("::")[0]).exists()]
        if there:
            yield Step(name, self._pytest(there, copy), max(AT_MOST, SLOWER * self.at_most))

    def _pytest(self, tests: list[str], copy: Path) -> list[str]:
        listed = copy / LISTED
        listed.write_text("\n".join(tests))
        marks = ["-m", self.marks] if self.marks else []
        return [
            *(".venv/bin/python", "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"),
            *("-p", "no:xdist", "-o", "addopts=--import-mode=importlib", *marks, f"@{LISTED}"),
        ]


def copied(tree: Path, to: Path) -> Path:
    """What git tracks, as it is in the working tree; the environment is that of the tree."""
    listed = subprocess.run(["git", "ls-files"], cwd=tree, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(tree / name, to / name, follow_symlinks=False)
    for made_by_make in (".venv", ".engines"):
        if (tree / made_by_make).exists():
            (to / made_by_make).symlink_to(tree / made_by_make)
    if (tree / ".mypy_cache").exists():
        subprocess.run(["cp", "-rp", str(tree / ".mypy_cache"), str(to)], check=True)
    subprocess.run(["git", "init", "--quiet"], cwd=to, check=True)
    return to


@contextmanager
def made(change: Change, copy: Path) -> Iterator[tuple[str, int, str]]:
    """Within this block the copy has the change. Gives the file, the line and the text before it."""
    path, changed, line = change.apply(copy)
    before = path.read_text()
    _put(path, changed)
    try:
        yield path.relative_to(copy).as_posix(), line, before
    finally:
        _put(path, before)


def _put(path: Path, text: str) -> None:
    """With a time of its own: Python takes what it compiled before if neither time nor size has changed."""
    at = path.stat().st_mtime + 2
    path.write_text(text)
    os.utime(path, (at, at))


def run(step: Step, copy: Path) -> str:
    """What failed; empty if nothing did."""
    process = subprocess.Popen(
        step.command,
        cwd=copy,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=step.at_most)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return f"{step.name}: no end"
    if process.returncode in (0, 5):  # 5: nothing was selected
        return ""
    if unknown := UNKNOWN.findall(printed):
        return _without(step, copy, unknown)
    failed = [_short(line) for line in printed.splitlines() if line.startswith(FAILS)]
    return (failed or printed.strip().splitlines()[-1:] or [f"exit code {process.returncode}"])[0][:300]


def environment() -> dict[str, str]:
    """Python may keep what it has compiled: to compile everything again takes longer than the tests."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPATH": ""}


def _short(line: str) -> str:
    """A line of pytest's summary without its reason."""
    return line.partition(" - ")[0]


def _without(step: Step, copy: Path, unknown: list[str]) -> str:
    """Some ids cannot be asked for, as they hold what no file holds in one line. The others are run."""
    listed = copy / LISTED
    known = [one for one in listed.read_text().splitlines() if not any(name.endswith(one) for name in unknown)]
    listed.write_text("\n".join(known))
    return run(step, copy) if known else ""


def controlled(findings: list[Finding], measure: Measure) -> list[Finding]:
    """Without those that were found by a test which fails in an unchanged copy, too: it has found nothing."""
    ids = sorted({match[1] for one in findings if (match := FOUND_BY.match(one.by))})
    with tempfile.TemporaryDirectory(prefix="delayer-defects-") as folder:
        wrong = measure.fail(ids, copied(measure.tree, Path(folder) / "unchanged"))
    return [evolve(one, by="", step=f"fails without it: {one.by}") if one.by in wrong else one for one in findings]


def write(findings: list[Finding], to: Path) -> None:
    """The findings as data."""
    rows = [
        {"change": one.change.name, "file": one.change.file, "area": one.change.area, "layer": one.change.layer}
        | {"by": one.by, "step": one.step, "tests": one.tests, "equivalent": one.change.equivalent}
        for one in findings
    ]
    to.write_text(json.dumps(rows, indent=1) + "\n")


def known(path: Path) -> dict[str, dict[str, Any]]:
    """What was measured before, by the change's name: a run that was ended goes on where it was."""
    return {row["change"] + row["file"]: row for row in json.loads(path.read_text())} if path.exists() else {}


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)
