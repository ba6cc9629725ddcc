"""The sentences of a page in Markdown, without code, tables and the targets of links."""

import re
from collections.abc import Iterator

from attrs import frozen

FENCE = re.compile(r"^\s*(```|~~~)")
NO_PROSE = re.compile(r"^\s*(\||#|<!--|<|--8<--|===|!!!|\?\?\?|\[\^|\*\[|\{)")
ITEM = re.compile(r"^\s*([-*+]|\d+\.|:)\s+")
END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(*_]*[A-Z0-9`])")
INLINE = (
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),
    (re.compile(r"\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"`[^`]*`"), "CODE"),
    (re.compile(r"<[^>]*>"), ""),
    (re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)"), ""),
)


@frozen(kw_only=True)
class Sentence:
    """As it is read."""

    line: int  # of its paragraph, from one
    text: str


def sentences(page: str) -> list[Sentence]:
    """In their order. A piece of code counts as one short word."""
    return [
        Sentence(line=line, text=text.strip())
        for line, paragraph in _paragraphs(page)
        for text in END.split(_plain(paragraph))
        if re.search(r"[a-z]", text)
    ]


def _plain(text: str) -> str:
    for pattern, instead in INLINE:
        text = pattern.sub(instead, text)
    return " ".join(text.split())


def _paragraphs(page: str) -> Iterator[tuple[int, str]]:
    """With the number of their first line; each entry of a list is one."""
    begun, lines = 0, list[str]()
    for number, line in enumerate([*_without_code(page), ""], start=1):
        ends = not line.strip() or NO_PROSE.match(line)
        if lines and (ends or ITEM.match(line)):
            yield begun, " ".join(lines)
            lines = []
        if not ends:
            begun = begun if lines else number
            lines.append(ITEM.sub("", line))


def _without_code(page: str) -> Iterator[str]:
    """Its lines; those of the front matter and of code are empty."""
    until = "---" if page.startswith("---\n") else ""
    for number, line in enumerate(page.splitlines()):
        mark = FENCE.match(line)
        if until:
            until = "" if number and line.strip() == until else until
            yield ""
        elif mark:
            until = mark[1]
            yield ""
        else:
            yield line
