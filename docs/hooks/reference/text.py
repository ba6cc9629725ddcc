"""Words, links and tables of the generated pages. Links are written from docs/, as `docs:adr/index.md`."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RECORD = re.compile(r"(?<!\[)\bADR (\d{4})\b")
LINK = re.compile(r"\]\(docs:([^)#\s]+)")
UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


@cache
def records() -> dict[str, str]:
    """The file of each decision record, by its number."""
    return {path.name[:4]: path.name for path in sorted((ROOT / "adr").glob("[0-9]*.md"))}


def record(number: int | str) -> str:
    """A link to a decision record."""
    number = f"{int(number):04d}"
    return f"[ADR {number}](docs:adr/{records()[number]})"


def linked(text: str) -> str:
    """With a link wherever a record is named."""
    return RECORD.sub(lambda named: record(named[1]), text)


def placed(text: str, path: str) -> str:
    """With links as they are on the page `path`, which is below docs/."""
    folder = posixpath.dirname(path)
    return LINK.sub(lambda link: f"]({posixpath.relpath(link[1], folder)}", text)


def duration(seconds: float) -> str:
    """In the largest unit that fits: `1 minute`, `840 seconds`, `14 days`."""
    for size, unit in UNITS:
        if seconds >= size and seconds % size == 0:
            return counted(int(seconds // size), unit)
    return f"{seconds:g} seconds"


def counted(number: int, unit: str) -> str:
    """`1 minute`, `1,000 schedules`."""
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """`a, b and c`."""
    return f" {last} ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    text = " ".join(text.split())
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?", ":")) else ".")


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """None for no rows."""
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([f"| {' | '.join(heading)} |", "|" + "---|" * len(heading), *lines, ""]) if lines else ""


def cell(text: str) -> str:
    """On one line; a bar would end the cell."""
    return " ".join(text.split()).replace("|", "\\|")


def plain(text: str) -> str:
    """What Markdown would take for HTML or emphasis stays as it is."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else part.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
        for part in parts
    )
