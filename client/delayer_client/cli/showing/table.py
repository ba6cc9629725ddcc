"""A table that fits the window: columns that matter less are left out first."""

from collections.abc import Sequence
from typing import Final, Literal

from attrs import field, frozen
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

GAP: Final = 2  # blanks between columns


@frozen(kw_only=True)
class Column:
    """One column. `least` is the width to which it may be cut, or folded; 0: it is neither."""

    title: str
    cells: Sequence[str]
    rank: int  # 0 is shown always; the higher, the sooner it is left out
    least: int = 0
    folds: bool = False  # into several lines, so that nothing of it is lost
    style: str = ""
    styles: Sequence[str] = field(factory=tuple)  # of each cell

    @property
    def width(self) -> int:
        """To show all of it."""
        return max((cell_len(one_line(cell)) for cell in (self.title, *self.cells)), default=0)

    @property
    def needed(self) -> int:
        """To show it at all."""
        return min(self.width, self.least) if self.least else self.width


def folding(title: str, cells: Sequence[str], least: int = 8, styles: Sequence[str] = ()) -> Column:
    """One that is whole in any window: of a table that operators act upon."""
    return Column(title=title, cells=cells, rank=0, least=max(least, cell_len(title)), folds=True, styles=styles)


def fitting(columns: Sequence[Column], width: int) -> dict[int, int]:
    """Returns the columns that there is room for, by their place, with their widths. Empty ones are left out."""
    by_rank = sorted(range(len(columns)), key=lambda place: columns[place].rank)
    filled = [
        place for place in by_rank if any(columns[place].cells) or not (columns[place].rank or columns[place].folds)
    ]
    kept: dict[int, int] = {}
    left = width + GAP
    for place in filled:
        if columns[place].rank == 0 or columns[place].needed + GAP <= left:
            kept[place] = columns[place].needed
            left -= columns[place].needed + GAP
    while left > 0 and (folded := [at for at in kept if columns[at].folds and kept[at] < columns[at].width]):
        kept[max(folded, key=lambda at: columns[at].width / kept[at])] += 1  # all are about as high
        left -= 1
    for place in kept:  # what is left is given to those that are cut, the most important first
        more = max(0, min(left, columns[place].width - kept[place]))
        kept[place] += more
        left -= more
    return dict(sorted(kept.items()))


def table(console: Console, columns: Sequence[Column], width: int | None = None) -> Table:
    """The table that rich shows."""
    widths = fitting(columns, width or console.width)
    made = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", show_edge=False)
    for place, wide in widths.items():
        one = columns[place]
        overflow: Literal["fold", "ellipsis"] = "fold" if one.folds else "ellipsis"
        made.add_column(one.title, style=one.style, no_wrap=not one.folds, overflow=overflow, width=wide)
    rows = max((len(columns[place].cells) for place in widths), default=0)
    for row in range(rows):
        made.add_row(*(_cell(columns[place], row) for place in widths))
    return made


def _cell(column: Column, row: int) -> Text:
    style = column.styles[row] if column.styles else ""
    return Text(one_line(column.cells[row]), style=style)


def one_line(text: str) -> str:
    """A text that others wrote cannot move the cursor, or colour the window."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in " ".join(text.split()))


def details(rows: Sequence[tuple[str, str]]) -> Table:
    """Names and values, one under the other. Empty values are left out."""
    made = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        if value:
            made.add_row(Text(one_line(name)), Text("\n".join(one_line(line) for line in value.splitlines())))
    return made
