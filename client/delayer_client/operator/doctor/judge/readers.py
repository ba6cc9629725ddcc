"""Judges the readers of the queues and the streams."""

from collections.abc import Iterator, Sequence
from typing import Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.facts import Reader, StreamFacts
from delayer_client.operator.doctor.finding import Finding, Severity

AREA: Final = "mappings"
STREAMS: Final = "streams"
RUNBOOK: Final = "operate/runbook.md#delayerqueuenotpolledalarm-executorqueuenotpolledalarm"
OF_STREAMS: Final = {
    "stream-enqueuer": "operate/runbook.md#streamnotpolledalarm",
    "relaxed-claimer": "operate/runbook.md#relaxednotpolledalarm",
    "stream-lifecycle": "operate/runbook.md#lifecycleschedulesnotpolledalarm-lifecyclerelaxednotpolledalarm-"
    "lifecycleledgernotpolledalarm-lifecycleoccurrencesnotpolledalarm-lifecyclewaitingnotpolledalarm",
    "stream-occurrences": "operate/runbook.md#lifecycleschedulesnotpolledalarm-lifecyclerelaxednotpolledalarm-"
    "lifecycleledgernotpolledalarm-lifecycleoccurrencesnotpolledalarm-lifecyclewaitingnotpolledalarm",
}
# As the alarms on the age of the iterator, in milliseconds; a minute where there is none.
BEHIND_FROM: Final = {"relaxed-claimer": 3_000_000.0, "stream-lifecycle": 900_000.0, "stream-occurrences": 900_000.0}
MINUTE_MS: Final = 60_000.0
BEHIND_LINKS: Final = {
    "relaxed-claimer": "operate/runbook.md#relaxediteratoragealarm",
    "stream-lifecycle": "operate/runbook.md#lifecycleiteratoragealarm-occurrencesiteratoragealarm",
    "stream-occurrences": "operate/runbook.md#lifecycleiteratoragealarm-occurrencesiteratoragealarm",
}

ENABLED: Final = Entry(
    code="mappings-enabled", severity=Severity.OK, area=AREA, means="Every queue and stream is read by its function."
)
DISABLED: Final = Entry(
    code="mapping-disabled",
    severity=Severity.PROBLEM,
    area=AREA,
    means="An event source mapping is disabled: its function reads nothing. A stream keeps its records for 24 hours.",
    do="Enable it: aws lambda update-event-source-mapping --uuid UUID --enabled. What waited fires by itself.",
    link=RUNBOOK,
)
GONE: Final = Entry(
    code="mapping-gone",
    severity=Severity.PROBLEM,
    area=AREA,
    means="An event source mapping of the stack has been deleted.",
    do="Deploy the template again.",
    link=RUNBOOK,
)
CHANGING: Final = Entry(
    code="mapping-changing",
    severity=Severity.NOTE,
    area=AREA,
    means="An event source mapping is just created, enabled, disabled or updated.",
    do="Look again in a minute.",
    link=RUNBOOK,
)
FAILS: Final = Entry(
    code="mapping-fails",
    severity=Severity.WARNING,
    area=AREA,
    means="Lambda says that the last read of a queue or a stream, or the call of its function, had a problem.",
    do="With a permission error, compare the role with the template, and deploy again; else read the function's log.",
    link=RUNBOOK,
)
KEPT_UP: Final = Entry(
    code="streams-keep-up", severity=Severity.OK, area=STREAMS, means="The functions that read streams are up to date."
)
NOT_MEASURED: Final = Entry(
    code="streams-not-measured",
    severity=Severity.NOTE,
    area=STREAMS,
    means="There is no figure of how far the streams are behind: CloudWatch has none, as on one machine.",
    do="On AWS look again in a few minutes. On one machine the area ticks shows whether the stream is read.",
)
BEHIND: Final = Entry(
    code="stream-behind",
    severity=Severity.WARNING,
    area=STREAMS,
    means="A function that reads a stream is further behind than its alarm allows.",
    do="Look at its errors and throttles, and remove the cause. It catches up by itself.",
    link="operate/runbook.md#iteratoragealarm",
)
ENTRIES: Final = (ENABLED, DISABLED, GONE, CHANGING, FAILS, KEPT_UP, NOT_MEASURED, BEHIND)


def judge(readers: Sequence[Reader]) -> Iterator[Finding]:
    """Finds the readers that are not enabled, or fail; one line if all is well."""
    found = [finding for one in readers for finding in _of(one)]
    yield from found or [ENABLED(f"All {len(readers)} event source mappings are enabled.", number=len(readers))]


def _of(one: Reader) -> Iterator[Finding]:
    link = next((link for name, link in OF_STREAMS.items() if one.function.endswith(name)), "")
    source = one.source.rpartition(":")[2] if ":sqs:" in one.source else "its stream"
    if not one.state:
        yield GONE(f"The event source mapping {one.name} is gone.", about=one.name)
    elif one.state in ("Disabled", "Disabling"):
        why = f" ({one.reason})" if one.reason else ""
        yield DISABLED(
            f"{one.function} does not read {source}: its mapping is disabled{why}.", about=one.name, link=link
        )
    elif one.state != "Enabled":
        yield CHANGING(f"The event source mapping {one.name} is {one.state.lower()}.", about=one.name)
    elif one.last_result.startswith("PROBLEM"):
        yield FAILS(f"{one.function} and {source}: {one.last_result}", about=one.name)


def judge_streams(facts: StreamFacts) -> Iterator[Finding]:
    """By the age of what was read last. Without records there is no figure, and nothing is behind."""
    late = [(name, age) for name, age in facts.behind.items() if age is not None and age > _allowed(name)]
    for name, age in late:
        link = next((link for end, link in BEHIND_LINKS.items() if name.endswith(end)), "")
        yield BEHIND(f"{name} is {age / 1000:,.0f} s behind its stream.", about=name, link=link, behindMs=age)
    known = [age for age in facts.behind.values() if age is not None]
    if not known:
        yield NOT_MEASURED("There is no figure of how far the streams are behind.")
    elif not late:
        yield KEPT_UP(f"They are at most {max(known) / 1000:,.1f} s behind.", behindMs=max(known))


def _allowed(name: str) -> float:
    return next((limit for end, limit in BEHIND_FROM.items() if name.endswith(end)), MINUTE_MS)
