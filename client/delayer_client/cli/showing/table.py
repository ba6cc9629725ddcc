"""A table that fits the window: columns that matter less are left out first."""

from collections.abc import Sequence
from typing import Final

from attrs import field, frozen
from rich.console import Console
from rich.table import Table
from rich.text import Text

GAP: Final = 2  # blanks between columns


@frozen(kw_only=True)
class Column:
    """One column. `least` is the width to which it may be cut; 0: it is not cut."""

    title: str
    cells: Sequence[str]
    rank: int  # 0 is shown always; the higher, the sooner it is left out
    least: int = 0
    style: str = ""
    styles: Sequence[str] = field(factory=tuple)  # of each cell

    @property
    def width(self) -> int:
        """To show all of it."""
        return max((len(cell) for cell in (self.title, *self.cells)), default=0)

    @property
    def needed(self) -> int:
        """To show it at all."""
        return min(self.width, self.least) if self.least else self.width


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """Those that there is room for, in their order. Empty ones are left out."""
    filled = [one for one in columns if any(one.cells) or one.rank == 0]
    kept: list[Column] = []
    for one in sorted(filled, key=lambda column: column.rank):
        if one.rank > 0 and sum(other.needed + GAP for other in kept) + one.needed > width:
            continue
        kept.append(one)
    return [one for one in columns if one in kept]


def table(console: Console, columns: Sequence[Column], width: int | None = None) -> Table:
    """What rich shows."""
    shown = fitting(columns, width or console.width)
    made = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", show_edge=False)
    for one in shown:
        made.add_column(one.title, style=one.style, no_wrap=True, overflow="ellipsis", min_width=one.needed)
    for row in range(len(shown[0].cells) if shown else 0):
        made.add_row(*(_cell(one, row) for one in shown))
    return made


def _cell(column: Column, row: int) -> Text:
    style = column.styles[row] if column.styles else ""
    return Text(one_line(column.cells[row]), style=style)


def one_line(text: str) -> str:
    """What others wrote cannot move the cursor, or colour the window."""
    return "".join(sign if sign.isprintable() else "�" for sign in " ".join(text.split()))


def details(rows: Sequence[tuple[str, str]]) -> Table:
    """Names and values, one under the other. Empty values are left out."""
    made = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        if value:
            made.add_row(name, Text("\n".join(one_line(line) for line in value.splitlines())))
    return made
