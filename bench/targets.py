"""What the figures are held against. Pure."""

from collections.abc import Sequence

from attrs import frozen

from bench.api import ApiCall
from bench.imports import ImportTime
from bench.lateness import Lateness
from bench.requests import PerSchedule

STEADY_P50_MS = 30
STEADY_P99_MS = 250
BURST_SECONDS = 10
WRITES = 4
SQS_REQUESTS = 0.7
IMPORT_MS = 450


@frozen
class Verdict:
    """One target."""

    target: str
    measured: str
    reached: bool


def of_steady(row: Lateness) -> list[Verdict]:
    """Half of all within a few hundredths of a second, nearly all within a quarter."""
    return [
        Verdict(f"{row.name}: p50 ≤ {STEADY_P50_MS} ms", f"{row.p50} ms", row.p50 <= STEADY_P50_MS),
        Verdict(f"{row.name}: p99 ≤ {STEADY_P99_MS} ms", f"{row.p99} ms", row.p99 <= STEADY_P99_MS),
    ]


def of_burst(row: Lateness) -> Verdict:
    """The last of a burst."""
    reached = row.last_seconds <= BURST_SECONDS and not row.lost
    return Verdict(f"{row.name}: all within {BURST_SECONDS} s", f"{row.last_seconds:.1f} s", reached)


def of_requests(sums: PerSchedule) -> list[Verdict]:
    """The two that make the price."""
    return [
        # Retries of the SDK may add a write; none may be missing.
        Verdict(f"table writes per schedule: {WRITES}", f"{sums.writes:.3f}", round(sums.writes, 2) == WRITES),
        Verdict(f"SQS requests per schedule ≤ {SQS_REQUESTS}", f"{sums.sqs:.2f}", round(sums.sqs, 2) <= SQS_REQUESTS),
    ]


def of_imports(rows: Sequence[ImportTime]) -> list[Verdict]:
    """The slowest, and the library that must stay out."""
    slowest = max(rows, key=lambda row: row.ms)
    guilty = [row.function for row in rows if row.imports_pydantic]
    return [
        Verdict(
            f"every function imports within {IMPORT_MS} ms",
            f"{slowest.ms:.0f} ms ({slowest.function})",
            slowest.ms <= IMPORT_MS,
        ),
        Verdict("no function imports pydantic", ", ".join(guilty) or "none does", not guilty),
    ]


def of_correctness(rows: Sequence[Lateness]) -> Verdict:
    """What must hold in every run."""
    early, lost, doubled = (sum(getattr(row, name) for row in rows) for name in ("early", "lost", "doubled"))
    measured = f"{early} early, {lost} lost, {doubled} doubled"
    return Verdict("nothing early, lost or doubled", measured, not early + lost + doubled)


def of_api(rows: Sequence[ApiCall]) -> Verdict:
    """What must hold for every call."""
    failed = sum(row.measured.failed + sum(row.warm_up_failures.values()) for row in rows)
    measured = f"{failed} were not" if failed else f"all of {sum(row.measured.calls for row in rows)} were"
    return Verdict("every call answered as expected", measured, all(row.is_correct for row in rows))
