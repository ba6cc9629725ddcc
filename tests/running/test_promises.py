"""Each promise of README is held end to end, every day: `make test ARGS="-m promise"` runs these tests."""

import ast
import re
from collections.abc import Iterator

from tests.cfn import ROOT

PROMISES = re.compile(r"^(\d+)\. \*\*", re.MULTILINE)


def numbers_of(test: ast.FunctionDef) -> Iterator[int]:
    """Of the promises that an everyday test holds."""
    marks = [ast.unparse(one) for one in test.decorator_list]
    if "pytest.mark.thorough" not in marks:
        for mark in marks:
            yield from map(int, re.findall(r"^pytest\.mark\.promise\((\d+)\)$", mark))


def test_each_promise_is_held_every_day() -> None:
    section = (ROOT / "README.md").read_text().partition("\n## What it promises\n")[2].partition("\n## ")[0]
    promised = {int(number) for number in PROMISES.findall(section)}
    held = {
        number
        for file in (ROOT / "tests/e2e").rglob("test_*.py")
        for test in ast.walk(ast.parse(file.read_text()))
        if isinstance(test, ast.FunctionDef)
        for number in numbers_of(test)
    }
    assert len(promised) >= 7
    assert promised == held
