"""The tables at the end of a run."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from delayer_client.operator.verify.results.findings import Outcome
from delayer_client.operator.verify.results.report import Report

COLOURS = {Outcome.HELD: "green", Outcome.BROKEN: "red", Outcome.UNCHECKED: "yellow"}


def show(report: Report, console: Console) -> None:
    """Print what was found out, how late it was, and what it cost."""
    console.print(findings_table(report))
    if report.lateness:
        console.print(lateness_table(report))
    console.print(f"{report.schedules} schedules; it cost about {report.cents:.2f} US cents.", soft_wrap=True)
    console.print(report.conclusion, soft_wrap=True)


def findings_table(report: Report) -> Table:
    """A row for each promise."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("promise", "", "found"):
        table.add_column(column)
    for finding in report.findings:
        colour = COLOURS[finding.outcome]
        table.add_row(escape(finding.promise), f"[{colour}]{finding.outcome}[/{colour}]", escape(finding.detail))
    return table


def lateness_table(report: Report) -> Table:
    """Milliseconds from the point in time until SQS had the message."""
    table = Table(title="Lateness (ms)", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for column in ("part", "schedules", "p50", "p99", "max"):
        table.add_column(column, justify="left" if column == "part" else "right")
    for row in report.lateness:
        table.add_row(row.part, *(str(number) for number in (row.schedules, row.p50, row.p99, row.longest)))
    return table
