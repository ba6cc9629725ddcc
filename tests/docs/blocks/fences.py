"""The blocks of the pages that somebody could run: shell and Python. And what a page says of them in a comment.

A comment right before a block, which no reader sees, says what is done with it:

- none: it is run on a stack, by tests/e2e/docs;
- `<!-- refused -->`: it is run there, too, and the answer is no;
- `<!-- aws -->`: it needs AWS. It is parsed, and its options and fields are checked, by test_checked.py here;
- `<!-- not run: why -->`: the same.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from tests.cfn import ROOT

DOCS: Final = ROOT / "docs"
SHELL: Final = ("sh", "bash", "console")
LANGUAGES: Final = (*SHELL, "python")
FENCE: Final = re.compile(r'(?P<indent> *)(?P<ticks>`{3,})(?P<language>[\w-]*)(?: title="(?P<title>[^"]+)")?.*')
TAB: Final = re.compile(r'(?P<indent> *)=== "(?P<label>[^"]+)"')
MARKER: Final = re.compile(r" *<!-- (?P<kind>refused|aws|not run: (?P<why>.+)) -->")


@frozen(kw_only=True)
class Fence:
    """One block of a page."""

    page: str  # as in mkdocs.yml
    line: int  # of the page, to name it
    number: int  # of all blocks of the page, from 0
    language: str
    title: str  # of a file that it shows
    tab: str  # the label of the tab that it stands in, or nothing
    marker: str  # as the comment has it, or nothing
    text: str

    @property
    def place(self) -> str:
        """Where it stands, for a person."""
        return f"docs/{self.page}:{self.line}"

    @property
    def id(self) -> str:
        """For pytest. It stays the same while text around it is edited."""
        return f"{self.page.removesuffix('.md')}-{self.number}"

    @property
    def is_run(self) -> bool:
        """On the stack, unless a test elsewhere does it."""
        return self.marker in ("", "refused") and self.language in LANGUAGES


def pages() -> list[Path]:
    """All but the records of decisions, which show no commands to be carried out."""
    return sorted(path for path in DOCS.rglob("*.md") if "adr" not in path.relative_to(DOCS).parts)


def fences_in(page: str, text: str) -> Iterator[Fence]:
    """Of all languages, in their order."""
    lines = text.splitlines()
    tab, number, at = ("", 0), 0, 0
    while at < len(lines):
        line = lines[at]
        if (label := TAB.fullmatch(line)) is not None:
            tab = (label["label"], len(label["indent"]))
        elif line.strip() and len(line) - len(line.lstrip()) <= tab[1]:
            tab = ("", 0)
        found = FENCE.fullmatch(line)
        if found is None:
            at += 1
            continue
        end = next(n for n in range(at + 1, len(lines)) if lines[n].strip() == found["ticks"])
        yield Fence(
            page=page,
            line=at + 1,
            number=number,
            language=found["language"],
            title=found["title"] or "",
            tab=tab[0],
            marker=marker_before(lines, at),
            text="".join(f"{one.removeprefix(found['indent'])}\n" for one in lines[at + 1 : end]),
        )
        number, at = number + 1, end + 1


def marker_before(lines: list[str], at: int) -> str:
    """What the comment says right before this line; nothing if there is none, or if it is another comment."""
    before = next((line for line in reversed(lines[:at]) if line.strip()), "")
    found = MARKER.fullmatch(before)
    return found["kind"] if found else ""


def all_fences() -> list[Fence]:
    """Of all pages."""
    return [
        fence for path in pages() for fence in fences_in(path.relative_to(DOCS).as_posix(), path.read_text("utf-8"))
    ]
