"""The report as it is printed."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.command.options import SERVE, Options
from bench.measure.api import ApiCall
from bench.report import markdown
from bench.report.figures import Report, machine

LEGEND = """\
runs: invocations of the function; s: their duration in seconds
DDB, SQS, S3: requests that the function made
WCU, RCU: DynamoDB's write and read units
polls: the SQS requests of its event source mapping: receives that returned messages, and deletes
"""


def show(report: Report, options: Options, console: Console) -> None:
    """Print what was measured."""
    console.print(f"\n{heading(options)}\n", soft_wrap=True)
    tables = [
        lateness_table(report) if report.lateness else None,
        throughput_table(report) if report.throughput else None,
        requests_table(report) if report.requests else None,
        sums_table(report) if report.per_schedule else None,
        series_table(report) if report.per_occurrence else None,
        imports_table(report) if report.imports else None,
        verdicts_table(report) if report.verdicts else None,
    ]
    for table in tables:
        if table:
            console.print(table)
    if report.requests:
        console.print(LEGEND)
    if report.api:
        console.print("API calls\n", style="bold")
        console.print(api_table(report.api), soft_wrap=True, markup=False)
    for failure in failures_of(report):
        console.print(f"Failed: {failure}", soft_wrap=True, markup=False, style="red")


def heading(options: Options) -> str:
    """When, on which machine and, if a stack was measured, with which template parameters."""
    facts = machine()
    parameters = " ".join(f"{name}={value}" for name, value in sorted(options.parameters.items()))
    stack = f", stack with {parameters}" if set(options.parts) - {"imports", SERVE} else ""
    return f"{facts['at']}, {facts['processors']} processors, Python {facts['python']}{stack}"


def api_table(rows: Sequence[ApiCall]) -> str:
    """A row for each call of the API, in Markdown."""
    columns = ("call", "calls", "failed", "per second", "median ms", "write units", "read units", "SQS", "invocations")
    return markdown.table(columns, [api_row(row) for row in rows])


def api_row(row: ApiCall) -> list[str]:
    """One call. The failures of its warm-up are counted, too."""
    measured, units = row.measured, row.units
    return [
        row.name,
        f"{measured.calls:,}",
        str(measured.failed + sum(row.warm_up_failures.values())),
        f"{measured.per_second:.0f}",
        milliseconds(measured.p50_ms),
        f"{units.writes:.2f}",
        f"{units.reads:.2f}",
        ", ".join(f"{function} {number:.2f}" for function, number in sorted(units.sqs.items())) or "0",
        f"{sum(units.invocations.values()):.2f}",
    ]


def milliseconds(number: float | None) -> str:
    """None is shown as a dash."""
    return "–" if number is None else f"{number:.0f}"


def failures_of(report: Report) -> list[str]:
    """A sentence for each kind of unexpected response."""
    posts = report.throughput.failures if report.throughput else {}
    return [
        *(f"POST /schedules, throughput: {times} × {what}" for what, times in posts.items()),
        *(failure for row in report.api for failure in row.failures()),
    ]


def grid(title: str, *columns: str) -> Table:
    """An empty table: the first column is text, and is broken if need be; the others are numbers, to the right."""
    table = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=number > 0)
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
    table = grid("POST /schedules", "clients", "POSTs", "failed", "per second", "p50")
    if throughput := report.throughput:
        numbers = (
            str(throughput.clients),
            str(throughput.calls),
            str(throughput.failed),
            f"{throughput.per_second:.0f}",
        )
        table.add_row(*numbers, f"{milliseconds(throughput.p50_ms)} ms")
    return table


def requests_table(report: Report) -> Table:
    """What each function used per 1,000 schedules."""
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
        table.add_row("Lambda invocations, without minute task and journal", f"{sums.invocations:.2f}")
        table.add_row("deleted by the fast track; the rest was swept", f"{sums.fast_track:.0%}")
        table.add_row("fixed per tick: writes of heartbeat and control rows", f"{sums.fixed_writes / ticks:.1f}")
        table.add_row("fixed per tick: read units of the minute task", f"{sums.fixed_reads / ticks:.1f}")
    return table


def series_table(report: Report) -> Table:
    """What an occurrence of a series costs, beside a plain schedule of the same run."""
    table = grid("Per occurrence of a series, and per plain schedule", "what", "occurrence", "plain")
    if (series := report.per_occurrence) and (plain := report.per_plain):
        table.add_row("write units", f"{series.writes:.2f}", f"{plain.writes:.2f}")
        table.add_row("read units, without the minute task", f"{series.reads:.2f}", f"{plain.reads:.2f}")
        table.add_row("SQS requests", f"{series.sqs:.2f}", f"{plain.sqs:.2f}")
        table.add_row("Lambda invocations", f"{series.invocations:.2f}", f"{plain.invocations:.2f}")
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
