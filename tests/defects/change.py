"""One deliberate change of the code, as data: it names function and text, so that it outlives a move of files."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from attrs import frozen

TEMPLATE: Final = "template.yaml"
CODE: Final = ("shared/delayer", "functions")


class Gone(LookupError):
    """The function or the text that a change names is not in the tree any more."""


@frozen(kw_only=True)
class Change:
    """In `function` the `nth` place (from 0) that reads `before` reads `after`."""

    area: str
    layer: str
    operator: str
    file: str  # where it stood when it was drawn; a function that has moved is looked for in the whole tree
    function: str  # `function`, `Class.method`, or the logical id of a resource of the template
    before: str
    after: str
    nth: int = 0
    equivalent: str = ""  # why nobody could notice it; empty: somebody has to

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.operator} {self.function}: {self.before!r} -> {self.after!r}"

    def apply(self, root: Path) -> tuple[Path, str, int]:
        """The file below `root`, its changed text, and the line of the change. Gone if it has no place there."""
        for path in self._candidates(root):
            text = path.read_text()
            for start, end in spans(text, self.function, path.name == TEMPLATE):
                at = _nth(text[start:end], self.before, self.nth)
                if at is not None:
                    at += start
                    changed = text[:at] + self.after + text[at + len(self.before) :]
                    return path, changed, text.count("\n", 0, at) + 1
        raise Gone(self.name)

    def _candidates(self, root: Path) -> Iterator[Path]:
        first = root / self.file
        if first.exists():
            yield first
        if self.file != TEMPLATE:
            yield from (path for code in CODE for path in sorted((root / code).rglob("*.py")) if path != first)


def _nth(text: str, part: str, nth: int) -> int | None:
    at = -1
    for _ in range(nth + 1):
        at = text.find(part, at + 1)
        if at < 0:
            return None
    return at


def nth_of(text: str, part: str, at: int) -> int:
    """Which of the places that read `part` begins at `at`."""
    nth, found = 0, text.find(part)
    while found < at:
        nth, found = nth + 1, text.find(part, found + 1)
    return nth


def spans(text: str, function: str, is_template: bool) -> list[tuple[int, int]]:
    """Where the functions of this name begin and end, in characters."""
    return _spans(text, is_template).get(function, [])


@cache
def _spans(text: str, is_template: bool) -> dict[str, list[tuple[int, int]]]:
    """Of each function. A file is read again and again: its functions are looked up once."""
    found: dict[str, list[tuple[int, int]]] = {}
    named = resources(text) if is_template else ((name, span) for name, _, span in functions(text))
    for name, span in named:
        found.setdefault(name, []).append(span)
    return found


def resources(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The resources of the template: two spaces, a name, a colon, up to the next."""
    lines = text.splitlines(keepends=True)
    starts, at = [], 0
    for line in lines:
        if line.startswith("  ") and line[2:3].isalpha() and ":" in line:
            starts.append((line[2 : line.index(":", 3)] if not line.startswith("  Fn::") else line.strip(" :\n"), at))
        at += len(line)
    ends = [start for _, start in starts[1:]] + [len(text)]
    for (name, start), end in zip(starts, ends, strict=True):
        yield name, (start, end)


def functions(text: str) -> Iterator[tuple[str, ast.FunctionDef, tuple[int, int]]]:
    """Each function with its name within the module, and where it begins and ends."""
    lines = Lines(text)

    def walk(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.FunctionDef, tuple[int, int]]]:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                yield f"{prefix}{node.name}", node, lines.span(node)
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield from walk(node.body, f"{prefix}{node.name}.")

    yield from walk(ast.parse(text).body, "")


class Lines:
    """Finds the characters of a node: its columns count bytes, and its lines begin at 1."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """The character at a line and a column."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Where a node begins and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)
