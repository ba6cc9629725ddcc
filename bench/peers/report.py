"""The report on all schedulers, as it is printed and as a file."""

import json
from collections.abc import Sequence
from pathlib import Path

from attrs import asdict
from rich.console import Console

from bench.command.options import Options
from bench.peers import contender
from bench.peers.outcome import Crash, Outcome
from bench.report import markdown
from bench.report.figures import machine
from local.errors import EmulatorError

WAITING = 100_000  # for which the memory is shown
LATENESS = ("lateness in ms", "schedules", "p50", "p99", "max", "last", "early", "lost", "doubled")
CRASHES = ("`kill -9` in mid-burst", "before", "came late", "last after", "still to come", "lost", "doubled", "early")
CANCELS = (
    "cancel in the last second",
    "cancelled",
    "fired all the same",
    "too late",
    "never fired",
    "unanswered",
    "taken, of those 50 ms ahead",
)
MEMORY = ("memory, MB", "scheduled", "at rest", f"more for {WAITING:,}", "stored")


def show(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print the tables, in Markdown."""
    facts = machine()
    console.print(f"\n{facts['at']}, {facts['processors']} processors, Python {facts['python']}\n", soft_wrap=True)
    for text in (*tables(outcomes), *sentences(outcomes)):
        console.print(text + "\n", soft_wrap=True, markup=False)


def tables(outcomes: Sequence[Outcome]) -> list[str]:
    """Those that have rows."""
    kinds = (
        (LATENESS, [row for one in outcomes for row in lateness_rows(one)]),
        (CRASHES, [crash_row(one.name, one.crash) for one in outcomes if one.crash]),
        (CANCELS, [row for one in outcomes for row in cancel_rows(one)]),
        (MEMORY, [row for one in outcomes for row in memory_rows(one)]),
    )
    return [markdown.table(columns, rows) for columns, rows in kinds if rows]


def sentences(outcomes: Sequence[Outcome]) -> list[str]:
    """The settings of each, and why it has no figure where a dash is; or why it was left out."""
    return [
        f"{one.name} is left out. {one.skipped}"
        if one.skipped
        else " ".join((f"{one.name}: {one.settings}.", *one.cannot.values()))
        for one in outcomes
    ]


def dashes(outcome: Outcome, measure: str, columns: Sequence[str]) -> list[list[str]]:
    """A row without figures if it cannot do what is measured; otherwise none."""
    return [[outcome.name, *"–" * (len(columns) - 1)]] if measure in outcome.cannot else []


def lateness_rows(outcome: Outcome) -> list[list[str]]:
    """A row for each run."""
    return [
        [
            f"{outcome.name}, {row.name}",
            *(f"{number:,}" for number in (row.schedules, row.p50, row.p99, row.worst)),
            f"{row.last_seconds:.1f} s",
            *(f"{number:,}" for number in (row.early, row.lost, row.doubled)),
        ]
        for row in outcome.lateness
    ]


def crash_row(name: str, crash: Crash) -> list[str]:
    """What became of the burst."""
    late = crash.schedules - crash.before - crash.lost - crash.waiting
    return [
        name,
        f"{crash.before:,}",
        f"{max(late, 0):,}",
        f"{crash.last_seconds:.1f} s",
        f"{crash.waiting:,}",
        *(f"{number:,}" for number in (crash.lost, crash.doubled, crash.early)),
    ]


def cancel_rows(outcome: Outcome) -> list[list[str]]:
    """One, or none."""
    if not (row := outcome.cancels):
        return dashes(outcome, contender.CANCEL, CANCELS)
    numbers = (row.cancelled, row.fired_all_the_same, row.too_late, row.never_fired, row.unanswered)
    return [[outcome.name, *map(str, numbers), f"{row.taken_in_time} of {row.in_time}"]]


def memory_rows(outcome: Outcome) -> list[list[str]]:
    """One, or none."""
    if not (row := outcome.growth):
        return dashes(outcome, contender.MEMORY, MEMORY)
    numbers = (row.before.processes_mb + row.before.beside_mb, row.processes_mb(WAITING), row.store_mb(WAITING))
    return [[outcome.name, f"{row.waiting:,}", *(f"{number:,.0f}" for number in numbers)]]


def write_json(file: Path, options: Options, outcomes: Sequence[Outcome]) -> None:
    """Write all figures as JSON; EmulatorError if the file cannot be written."""
    content = {"machine": machine(), "options": asdict(options), "peers": [asdict(one) for one in outcomes]}
    try:
        file.write_text(json.dumps(content, indent=2, default=str) + "\n", encoding="utf-8")
    except OSError as error:
        raise EmulatorError(f"{file} cannot be written: {error.strerror}.") from None
