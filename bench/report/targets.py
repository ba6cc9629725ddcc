"""The targets, and whether the figures reach them. No input or output here."""

from collections.abc import Sequence

from attrs import frozen

from bench.measure.api import ApiCall
from bench.measure.imports import ImportTime
from bench.measure.lateness import Lateness
from bench.measure.requests import PerSchedule

STEADY_P50_MS = 30
STEADY_P99_MS = 250
ISOLATION = 2  # times the 99th percentile beside a target that is well
BURST_SECONDS = 10
WRITES = 4
SQS_REQUESTS = 0.7
IMPORT_MS = 450


@frozen(kw_only=True)
class Verdict:
    """One target, and whether it was reached."""

    target: str
    measured: str
    reached: bool


def of_steady(row: Lateness) -> list[Verdict]:
    """Half of all schedules are at most a few hundredths of a second late, nearly all at most a quarter of a second."""
    return [at_most(row, "p50", row.p50, STEADY_P50_MS), at_most(row, "p99", row.p99, STEADY_P99_MS)]


def of_isolation(normal: Lateness, row: Lateness) -> Verdict:
    """A target that is bad harms another one by no more than this, from its first request on (ADR 0113)."""
    return at_most(row, "p99", row.p99, ISOLATION * normal.p99)


def at_most(row: Lateness, name: str, measured_ms: int, target_ms: int) -> Verdict:
    """A percentile is not above its target."""
    return Verdict(
        target=f"{row.name}: {name} ≤ {target_ms} ms", measured=f"{measured_ms} ms", reached=measured_ms <= target_ms
    )


def of_burst(row: Lateness) -> Verdict:
    """The last schedule of a burst is not too late, and none is lost."""
    return Verdict(
        target=f"{row.name}: all within {BURST_SECONDS} s",
        measured=f"{row.last_seconds:.1f} s",
        reached=row.last_seconds <= BURST_SECONDS and not row.lost,
    )


def of_requests(sums: PerSchedule) -> list[Verdict]:
    """The two numbers that decide the price."""
    return [
        Verdict(
            target=f"table writes per schedule: {WRITES}",
            measured=f"{sums.writes:.3f}",
            # Rounded, because a retry of the SDK may add a write.
            reached=round(sums.writes, 2) == WRITES,
        ),
        Verdict(
            target=f"SQS requests per schedule ≤ {SQS_REQUESTS}",
            measured=f"{sums.sqs:.2f}",
            reached=round(sums.sqs, 2) <= SQS_REQUESTS,
        ),
    ]


def of_imports(rows: Sequence[ImportTime]) -> list[Verdict]:
    """The slowest function is fast enough, and no function imports pydantic."""
    slowest = max(rows, key=lambda row: row.ms)
    with_pydantic = [row.function for row in rows if row.imports_pydantic]
    return [
        Verdict(
            target=f"every function imports within {IMPORT_MS} ms",
            measured=f"{slowest.ms:.0f} ms ({slowest.function})",
            reached=slowest.ms <= IMPORT_MS,
        ),
        Verdict(
            target="no function imports pydantic",
            measured=", ".join(with_pydantic) or "none does",
            reached=not with_pydantic,
        ),
    ]


def of_correctness(rows: Sequence[Lateness]) -> Verdict:
    """No schedule was early, lost or doubled in any run."""
    early, lost, doubled = (
        sum(row.early for row in rows),
        sum(row.lost for row in rows),
        sum(row.doubled for row in rows),
    )
    return Verdict(
        target="nothing early, lost or doubled",
        measured=f"{early} early, {lost} lost, {doubled} doubled",
        reached=not early + lost + doubled,
    )


def of_api(rows: Sequence[ApiCall]) -> Verdict:
    """Every call got the expected response."""
    failed = sum(row.measured.failed + sum(row.warm_up_failures.values()) for row in rows)
    return Verdict(
        target="every call answered as expected",
        measured=f"{failed} were not" if failed else f"all of {sum(row.measured.calls for row in rows)} were",
        reached=all(row.is_correct for row in rows),
    )
