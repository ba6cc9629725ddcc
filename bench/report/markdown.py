"""Tables for a page of the documentation. No input or output here."""

from collections.abc import Sequence


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first column is text, the others are numbers, aligned to the right."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (columns, *rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    head, *body = (line(row, widths) for row in cells)
    rule = "|".join(rule_of(number, width) for number, width in enumerate(widths))
    return "\n".join([head, f"|{rule}|", *body])


def line(row: Sequence[str], widths: Sequence[int]) -> str:
    """One row."""
    padded = (
        cell.rjust(width) if number else cell.ljust(width)
        for number, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return f"| {' | '.join(padded)} |"


def rule_of(number: int, width: int) -> str:
    """The line below the head of a column."""
    return "-" * (width + 1) + ":" if number else "-" * (width + 2)
