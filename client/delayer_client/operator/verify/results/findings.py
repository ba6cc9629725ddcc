"""The findings of a run about each promise."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from delayer_client.operator.verify.instants import Millis

# Two clocks are compared: the executor waits by Lambda's, the message is stamped by the clock of SQS.
CLOCKS_MS: Millis = 20


class Outcome(StrEnum):
    """How a promise was found."""

    HELD = "held"
    BROKEN = "BROKEN"
    UNCHECKED = "not checked"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One row of the table at the end."""

    promise: str
    outcome: Outcome
    detail: str


@dataclass(frozen=True, kw_only=True)
class Lateness:
    """Of the schedules of one part; milliseconds."""

    part: str
    schedules: int
    p50: Millis
    p99: Millis
    longest: Millis


def held(promise: str, detail: str) -> Finding:
    """Says that a promise was tried, and holds."""
    return Finding(promise=promise, outcome=Outcome.HELD, detail=detail)


def broken(promise: str, detail: str) -> Finding:
    """Says that a promise was tried, and does not hold."""
    return Finding(promise=promise, outcome=Outcome.BROKEN, detail=detail)


def unchecked(promise: str, detail: str) -> Finding:
    """Says that a promise could not be tried; the detail says what is missing."""
    return Finding(promise=promise, outcome=Outcome.UNCHECKED, detail=detail)


def of_firing(
    part: str, due: Mapping[str, Millis], arrivals: Mapping[str, Sequence[Millis]], allowed_ms: Millis
) -> tuple[Finding, Lateness | None]:
    """Whether each schedule arrived once, not before its point in time and not too late; and how late they were."""
    promise = f"{part}: fires on time, and once"
    found = {schedule_id: arrivals[schedule_id] for schedule_id in due if arrivals.get(schedule_id)}
    faults = _faults(due, found, allowed_ms)
    if not found:
        return broken(promise, f"none of {len(due)} arrived"), None
    late = sorted(found[schedule_id][0] - due[schedule_id] for schedule_id in found)
    measured = Lateness(
        part=part, schedules=len(late), p50=percentile(late, 50), p99=percentile(late, 99), longest=late[-1]
    )
    if faults:
        return broken(promise, f"of {len(due)}: " + ", ".join(faults)), measured
    return held(promise, f"{len(due)} of {len(due)}, each within {allowed_ms} ms"), measured


def _faults(due: Mapping[str, Millis], found: Mapping[str, Sequence[Millis]], allowed_ms: Millis) -> list[str]:
    early = sum(found[one][0] < due[one] - CLOCKS_MS for one in found)
    late = sum(found[one][0] > due[one] + allowed_ms for one in found)
    doubled = sum(len(instants) > 1 for instants in found.values())
    counted = {
        "never arrived": len(due) - len(found),
        "early": early,
        f"more than {allowed_ms} ms late": late,
        "fired twice": doubled,
    }
    return [f"{number} {what}" for what, number in counted.items() if number]


def exit_status(findings: Sequence[Finding]) -> int:
    """0 if everything that was asked for was checked and held, otherwise 1."""
    return 0 if findings and all(finding.outcome is Outcome.HELD for finding in findings) else 1


def percentile(ascending: Sequence[int], percent: float) -> int:
    """The nearest-rank percentile: the smallest value that is not below this share of all values."""
    return ascending[max(math.ceil(len(ascending) * percent / 100), 1) - 1]
