"""Which tests run a line: from the contexts of a run under coverage."""

import ast
import json
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final

from attrs import define, field
from coverage import CoverageData

from tests.defects.change import Change

PHASE: Final = "|"  # pytest-cov puts the phase of a test behind its id


@define
class Covered:
    """Reads `.coverage`, and how long each test took."""

    data: CoverageData
    seconds: dict[str, float] = field(factory=dict)
    _files: dict[str, str] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        for file in self.data.measured_files():
            for folder in ("shared/delayer/", "functions/"):
                if folder in file:
                    self._files[folder + file.rpartition(f"/{folder}")[2]] = file

    @classmethod
    def read(cls, coverage: Path, seconds: Path) -> "Covered":
        """The files that `record` has written."""
        data = CoverageData(str(coverage))
        data.read()
        return cls(data, json.loads(seconds.read_text()) if seconds.exists() else {})

    def tests_of(self, file: str, lines: Iterable[int]) -> list[str]:
        """The ids of the tests that ran one of these lines: those of its own file of tests first.

        The others follow, the quickest first, and of each file one at first.
        """
        known = self._files.get(file)
        if known is None:
            return []
        contexts = self.data.contexts_by_lineno(known)
        ids = {one.rpartition(PHASE)[0] for line in lines for one in contexts.get(line, []) if one}
        quickest_first = sorted(ids, key=lambda one: (self.seconds.get(one, 1.0), one))
        namesake = f"/test_{Path(file).stem}.py::"
        own = [one for one in quickest_first if namesake in one]
        return [*own, *_spread([one for one in quickest_first if namesake not in one])]

    def within(self, ids: Sequence[str], seconds: float) -> list[str]:
        """As many of them, from the first on, as take this long: lines that all tests run would take an hour."""
        sums = accumulate(self.seconds.get(one, 1.0) for one in ids)
        return [one for one, until in zip(ids, sums, strict=True) if until <= seconds]


def _spread(ids: list[str]) -> list[str]:
    """In rounds: of each file the next one."""
    rounds: dict[str, int] = {}
    order = []
    for place, one in enumerate(ids):
        file = one.partition("::")[0]
        rounds[file] = rounds.get(file, -1) + 1
        order.append((rounds[file], place, one))
    return [one for _, _, one in sorted(order)]


def lines_of(change: Change, text: str, line: int) -> range:
    """The lines of the statement that the change is in, as it stands before it."""
    last = line + change.before.count("\n")
    innermost = min(
        (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt) and _holds(node, line)),
        key=lambda node: (node.end_lineno or node.lineno) - node.lineno,
        default=None,
    )
    return range(innermost.lineno if innermost else line, last + 1)


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)
