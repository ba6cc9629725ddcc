"""What is said beside the members of a class or of a list in the code: the comments above each, or behind it."""

import io
import re
import tokenize
from functools import cache
from pathlib import Path

from docs.hooks.reference.text import ROOT

VALUE = re.compile(r"[\"']([^\"']+)[\"'],?$")


@cache
def beside(path: str, name: str) -> dict[str, str]:
    """The comment of each text in `class NAME` or in `NAME = …[`, by that text; none for one without."""
    lines = block((ROOT / path).read_text(encoding="utf-8"), name)
    said: dict[str, str] = {}
    above: list[str] = []
    for code, comment in lines:
        value = VALUE.search(code)
        if value:
            said[value[1]] = " ".join([*above, *([comment] if comment else [])])
        above = [*above, comment] if comment and not code else []
    return said


def block(source: str, name: str) -> list[tuple[str, str]]:
    """The lines of a class or a list: the code, and the comment on it."""
    lines = source.splitlines()
    begin = next(at for at, line in enumerate(lines) if re.match(rf"(class {name}\b.*:|{name} = .*\[)$", line))
    length = next(at for at, line in enumerate(lines[begin + 1 :]) if line and not line.startswith((" ", "#")))
    comments = _comments(source)
    return [
        (line[: comments[at][0]].strip(), comments[at][1]) if at in comments else (line.strip(), "")
        for at, line in enumerate(lines[begin + 1 : begin + 1 + length], begin + 1)
    ]


def _comments(source: str) -> dict[int, tuple[int, str]]:
    """Where each begins, and its text, by the number of its line."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0] - 1: (token.start[1], token.string.lstrip("# "))
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def users(words: frozenset[str], folders: tuple[Path, ...]) -> dict[str, list[str]]:
    """The modules in which each of these words stands as a text."""
    found: dict[str, list[str]] = {word: [] for word in sorted(words)}
    for path in (path for folder in folders for path in sorted(folder.rglob("*.py"))):
        for word in set(re.findall(r'"(\w+)"', path.read_text(encoding="utf-8"))) & words:
            found[word].append(_module_of(path))
    return found


def _module_of(path: Path) -> str:
    """Of the layer as it is imported; of a function by its path."""
    if path.is_relative_to(ROOT / "functions"):
        return path.relative_to(ROOT).as_posix()
    return path.relative_to(ROOT / "shared").with_suffix("").as_posix().replace("/", ".")
