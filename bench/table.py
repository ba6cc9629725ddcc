"""The report for people."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.report import Report, machine

LEGEND = """\
runs: invocations of the function; s: their duration in seconds
DDB, SQS, S3: requests that the function made
WCU, RCU: DynamoDB's write and read units
polls: the SQS requests of its event source mapping: receives that returned messages, and deletes
"""


def show(report: Report, console: Console) -> None:
    """Print what was measured."""
    facts = machine()
    console.print(f"\n{facts['at']}, {facts['processors']} processors, Python {facts['python']}\n")
    tables = [
        lateness_table(report) if report.lateness else None,
        throughput_table(report) if report.throughput else None,
        requests_table(report) if report.requests else None,
        sums_table(report) if report.per_schedule else None,
        imports_table(report) if report.imports else None,
        verdicts_table(report) if report.verdicts else None,
    ]
    for table in tables:
        if table:
            console.print(table)
    if report.requests:
        console.print(LEGEND)


def grid(title: str, *columns: str) -> Table:
    """An empty table: a text column, and numbers to the right."""
    table = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    return table


def lateness_table(report: Report) -> Table:
    """Milliseconds between point in time and arrival."""
    table = grid(
        "Lateness at the receiver (ms)", "run", "count", "p50", "p99", "max", "early", "lost", "doubled", "last"
    )
    for row in report.lateness:
        numbers = (row.schedules, row.p50, row.p99, row.worst, row.early, row.lost, row.doubled)
        table.add_row(row.name, *map(str, numbers), f"{row.last_seconds:.2f} s")
    return table


def throughput_table(report: Report) -> Table:
    """POSTs per second."""
    table = grid("POST /schedules", "clients", "POSTs", "per second", "p50")
    if found := report.throughput:
        table.add_row(str(found.clients), str(found.posts), f"{found.per_second:.0f}", f"{found.p50_ms:.0f} ms")
    return table


def requests_table(report: Report) -> Table:
    """What each function used, per 1,000 schedules."""
    table = grid(
        f"Per 1,000 schedules, metered over {report.metered_schedules}",
        "function",
        "runs",
        "s",
        "DDB",
        "WCU",
        "RCU",
        "SQS",
        "polls",
        "S3",
    )
    scale = 1000 / report.metered_schedules
    for row in report.requests:
        numbers = (row.invocations, row.seconds, row.dynamodb, row.write_units, row.read_units)
        table.add_row(row.function, *(f"{number * scale:.0f}" for number in (*numbers, row.sqs, row.mapping, row.s3)))
    return table


def sums_table(report: Report) -> Table:
    """What is compared with the cost model."""
    table = grid("Per schedule, and what is fixed", "what", "number")
    if sums := report.per_schedule:
        ticks = sums.ticks or 1
        table.add_row("table writes: put, delete, claim, outcome", f"{sums.writes:.3f}")
        table.add_row("read units, without the minute task", f"{sums.reads:.3f}")
        table.add_row("SQS requests, of functions and event source mappings", f"{sums.sqs:.2f}")
        table.add_row("Lambda invocations, without the minute task", f"{sums.invocations:.2f}")
        table.add_row("deleted by the fast track; the rest was swept", f"{sums.fast_track:.0%}")
        table.add_row("fixed per tick: writes of heartbeat and control rows", f"{sums.fixed_writes / ticks:.1f}")
        table.add_row("fixed per tick: read units of the minute task", f"{sums.fixed_reads / ticks:.1f}")
    return table


def imports_table(report: Report) -> Table:
    """Milliseconds per function."""
    table = grid("Import time (median, ms)", "function", "ms", "pydantic")
    for row in report.imports:
        table.add_row(row.function, f"{row.ms:.0f}", "yes" if row.imports_pydantic else "no")
    return table


def verdicts_table(report: Report) -> Table:
    """Each target, and whether it was reached."""
    table = grid("Targets", "target", "measured", "reached")
    for verdict in report.verdicts:
        table.add_row(verdict.target, verdict.measured, "[green]yes[/green]" if verdict.reached else "[red]no[/red]")
    return table
