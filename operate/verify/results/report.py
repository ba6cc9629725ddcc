"""The table at the end of a run."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from operate.verify.results.findings import Outcome, exit_status
from operate.verify.session import Session

COLOURS = {Outcome.HELD: "green", Outcome.BROKEN: "red", Outcome.UNCHECKED: "yellow"}


def show(session: Session, console: Console) -> None:
    """Print what was found out, how late it was, and what it cost."""
    console.print(findings_table(session))
    if session.lateness:
        console.print(lateness_table(session))
    console.print(
        f"{session.bill.schedules} schedules; it cost about {session.bill.cents():.2f} US cents.", soft_wrap=True
    )
    console.print(conclusion(session), soft_wrap=True)


def conclusion(session: Session) -> str:
    """One sentence."""
    found = [finding.outcome for finding in session.findings]
    if exit_status(session.findings) == 0:
        return "Every promise that was checked holds."
    if Outcome.BROKEN in found:
        return f"{found.count(Outcome.BROKEN)} promises do not hold."
    return f"{found.count(Outcome.UNCHECKED)} promises could not be checked; --skip leaves out what you do not want."


def findings_table(session: Session) -> Table:
    """A row for each promise."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("promise", "", "found"):
        table.add_column(column)
    for finding in session.findings:
        colour = COLOURS[finding.outcome]
        table.add_row(escape(finding.promise), f"[{colour}]{finding.outcome}[/{colour}]", escape(finding.detail))
    return table


def lateness_table(session: Session) -> Table:
    """Milliseconds from the point in time until SQS had the message."""
    table = Table(title="Lateness (ms)", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for column in ("part", "schedules", "p50", "p99", "max"):
        table.add_column(column, justify="left" if column == "part" else "right")
    for row in session.lateness:
        table.add_row(row.part, *(str(number) for number in (row.schedules, row.p50, row.p99, row.longest)))
    return table
