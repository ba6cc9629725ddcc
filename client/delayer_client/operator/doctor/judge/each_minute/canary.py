"""The canary: whether a schedule of Delayer's own takes the whole path, near and far."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.facts import CanaryFacts
from delayer_client.operator.doctor.finding import Finding, Severity

AREA: Final = "canary"
LATE_MS: Final = 1000.0  # as the alarms
NEAR_FIRST: Final = timedelta(minutes=6)  # after a deployment
ARRIVES: Final = Entry(
    code="canary-arrives", severity=Severity.OK, area=AREA, means="Canaries arrive, and within a second."
)
NOT_YET: Final = Entry(
    code="canary-not-yet",
    severity=Severity.NOTE,
    area=AREA,
    means="The stack was deployed minutes ago, and no canary of this kind can have arrived yet.",
    do="Look again when the delayer period and six minutes are over.",
    link="operate/operations.md#the-canary",
)
OFF: Final = Entry(
    code="canary-off",
    severity=Severity.NOTE,
    area=AREA,
    means="The parameter Canary is off: nothing shows that schedules fire while nobody schedules any.",
    do="Deploy with Canary=on, unless this is meant so.",
    link="operate/operations.md#the-canary",
)
MISSING: Final = Entry(
    code="canary-missing",
    severity=Severity.PROBLEM,
    area=AREA,
    means="No canary of this kind has arrived for a quarter of an hour: users' schedules do not fire either.",
    do="Follow one canary through the logs, with LogLevel=DEBUG: task-1minute-enqueuer writes its scheduleId.",
    link="operate/runbook.md#canarynearalarm",
)
LATE: Final = Entry(
    code="canary-late",
    severity=Severity.WARNING,
    area=AREA,
    means="Most canaries of this kind arrive more than a second late.",
    do="Look at the throttles of stream-enqueuer and delayer-relay, and at the delayer queue.",
    link="operate/runbook.md#canarynearalarm",
)
ENTRIES: Final = (ARRIVES, NOT_YET, OFF, MISSING, LATE)


def judge(facts: CanaryFacts, now: datetime) -> Iterator[Finding]:
    """Near and far, each by itself: what is missing says where to look."""
    if not facts.is_on:
        yield OFF("The canary is switched off.")
        return
    age = now - facts.created_at
    yield _of("near", facts.near, is_new=age < NEAR_FIRST)
    yield _of("far", facts.far, is_new=age < NEAR_FIRST + timedelta(seconds=facts.period_seconds))


def _of(kind: str, values: Sequence[float], *, is_new: bool) -> Finding:
    link = "operate/runbook.md#canaryfaralarm" if kind == "far" else ""
    if not values:
        if is_new:
            return NOT_YET(f"No {kind} canary has arrived yet.", about=kind)
        return MISSING(f"No {kind} canary has arrived for a quarter of an hour.", about=kind, link=link)
    late = [value for value in values if value > LATE_MS]
    figures: dict[str, Any] = {"arrived": len(values), "late": len(late), "latestMs": max(values)}
    if 2 * len(late) > len(values):
        return LATE(
            f"{len(late)} of {len(values)} {kind} canaries were over a second late, at most {max(values):,.0f} ms.",
            about=kind,
            **figures,
        )
    return ARRIVES(f"The {kind} canary arrives, at most {max(values):,.0f} ms late.", about=kind, **figures)
