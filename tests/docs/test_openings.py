"""A docstring says what its object is or does, with a subject and a verb: it does not open with a free "What …"."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.cfn import ROOT
from tests.running.of_each import of_each

FOLDERS = ("shared", "client", "functions", "operate", "local")
SEEN = re.compile(r'"""\s*Wh[ao]')  # most files have none, and need not be taken apart
FREE = re.compile(r"(What|Who|Whose|Whom|Whoever|Whatever)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def free_openings(text: str) -> Iterator[str]:
    """The first lines of the docstrings that open so; a question may."""
    for node in ast.walk(ast.parse(text)) if SEEN.search(text) else ():
        if isinstance(node, DOCUMENTED):
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            if FREE.match(first) and not first.endswith("?"):
                yield first


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("What is stored of a schedule.", True),
        ("Whoever may call.", True),
        ("Says what is stored of a schedule.", False),
        ("Whole numbers.", False),
        ("What does it cost?", False),
    ],
)
def test_what_a_free_opening_is(docstring: str, expected: bool) -> None:
    found = [*free_openings(f'def one() -> None:\n    """{docstring}\n\n    What follows may open so."""\n')]
    assert bool(found) == expected


@of_each(FOLDERS)
def test_no_docstring_opens_so(folder: str) -> None:
    """It reads about 900 files, which takes more than a second."""
    sources = sorted((ROOT / folder).rglob("*.py"))
    assert sources
    found = [f"{path.relative_to(ROOT)}: {one}" for path in sources for one in free_openings(path.read_text())]
    assert found == []
