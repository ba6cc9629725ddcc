"""Judges the messages in the queues, and in those of what came back."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.facts import Queue, QueueFacts, Unseen
from delayer_client.operator.doctor.finding import Finding, Severity

AREA: Final = "queues"
DEEP: Final = 5_000  # as the alarms
OLD: Final = 1200.0  # seconds, of a queue in which messages are delayed
OF_OTHERS: Final = 900.0  # seconds
OF_SERIES: Final = 300.0  # seconds
LINKS: Final = {  # of dead-letter queues, by how their names begin
    "Task": "operate/runbook.md#taskdeadletterqueuealarm",
    "Sweep": "operate/runbook.md#sweepdeadletterqueuealarm",
    "Group": "operate/runbook.md#groupdeadletterqueuealarm",
    "Journal": "operate/runbook.md#journaldeadletterqueuealarm",
    "Subscribers": "operate/runbook.md#subscribersdeadletterqueuealarm",
    "Policies": "operate/runbook.md#policiesdeadletterqueuealarm",
}
OLD_LINKS: Final = {
    "Journal": "operate/runbook.md#journalbehindalarm",
    "Series": "operate/runbook.md#seriesbehindalarm",
    "Subscriber": "operate/runbook.md#subscriberbehindalarm",
    "Policy": "operate/runbook.md#policybehindalarm",
    "Delayer": "operate/runbook.md#delayerqueueoldalarm-executorqueueoldalarm",
    "Executor": "operate/runbook.md#delayerqueueoldalarm-executorqueueoldalarm",
}

DRAINED: Final = Entry(
    code="queues-drained",
    severity=Severity.OK,
    area=AREA,
    means="Nothing waits too long in a queue, and none has come back.",
)
DEAD: Final = Entry(
    code="dead-letter-queue-filled",
    severity=Severity.PROBLEM,
    area=AREA,
    means="A dead-letter queue has messages: something was tried for more than a day, and given up.",
    do="Remove the cause, which the log of its function has, then redrive the queue.",
    link="project/glossary.md#dead-letters",
)
SUSPECTS: Final = Entry(
    code="suspects-wait",
    severity=Severity.WARNING,
    area=AREA,
    means="Messages that came back a thousand times wait among the suspects: something keeps their function from them.",
    do="Read the warnings in the log of the function, and remove the cause. Do not purge the queue.",
    link="operate/runbook.md#suspectsalarm",
)
TOO_DEEP: Final = Entry(
    code="queue-deep",
    severity=Severity.WARNING,
    area=AREA,
    means="More than 5,000 messages are due in a queue.",
    do="Raise RelayConcurrency or ExecutorConcurrency, or the limit of the account. The queue drains by itself.",
    link="operate/runbook.md#delayerqueuedeepalarm-executorqueuedeepalarm",
)
TOO_OLD: Final = Entry(
    code="queue-old",
    severity=Severity.WARNING,
    area=AREA,
    means="The oldest message of a queue is older than its alarm allows.",
    do="If many messages wait, raise the concurrency. If only a few, read in the log of the function why they fail.",
    link="operate/runbook.md#delayerqueueoldalarm-executorqueueoldalarm",
)
ENTRIES: Final = (DRAINED, DEAD, SUSPECTS, TOO_DEEP, TOO_OLD)


def judge(facts: QueueFacts) -> Iterator[Finding]:
    """Finds the errors of each; one line if there are none."""
    queues, ages = facts.queues, {} if isinstance(facts.ages, Unseen) else facts.ages
    found = [finding for one in queues for finding in _of(one, ages.get(one.name))]
    waiting = sum(one.visible for one in queues)
    delayed = sum(one.delayed for one in queues)
    yield from found or [
        DRAINED(
            f"In {len(queues)} queues {waiting:,} messages are ready and {delayed:,} are delayed; {_oldest(ages)}",
            ready=waiting,
            delayed=delayed,
        )
    ]


def _oldest(ages: Mapping[str, float]) -> str:
    return f"the oldest is {max(ages.values()):,.0f} s old." if ages else "how old they are is not measured."


def _of(queue: Queue, age: float | None) -> Iterator[Finding]:
    number = queue.visible + queue.in_flight
    figures: dict[str, Any] = {"ready": queue.visible, "delayed": queue.delayed, "inFlight": queue.in_flight}
    if "DeadLetter" in queue.name:
        if number:
            yield DEAD(f"{queue.name} has {number:,} messages.", about=queue.name, link=_link(LINKS, queue), **figures)
    elif "Suspects" in queue.name:
        if number:
            yield SUSPECTS(f"{queue.name} has {number:,} messages.", about=queue.name, **figures)
    elif queue.visible > DEEP:
        yield TOO_DEEP(f"{queue.visible:,} messages are due in {queue.name}.", about=queue.name, **figures)
    elif age is not None and age >= _allowed(queue):
        yield TOO_OLD(
            f"The oldest message of {queue.name} has been there for {age / 60:,.0f} minutes.",
            about=queue.name,
            link=_link(OLD_LINKS, queue),
            ageSeconds=age,
            **figures,
        )


def _allowed(queue: Queue) -> float:
    if queue.name.startswith(("Delayer", "Executor")):
        return OLD
    return OF_SERIES if queue.name.startswith("Series") else OF_OTHERS


def _link(links: dict[str, str], queue: Queue) -> str:
    return next((link for name, link in links.items() if queue.name.startswith(name)), "")
