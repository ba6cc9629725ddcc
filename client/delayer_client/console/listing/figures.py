"""Figures of what was listed. Nothing is asked here."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from math import ceil

from attrs import frozen

from delayer_client.api.models import Schedule
from delayer_client.console.words import schedules as words
from delayer_client.states import BAD, WAITING, has_fired, is_retried


@frozen(kw_only=True)
class Failing:
    """One action and target that fails."""

    kind: str
    target: str
    number: int
    last: Schedule


@frozen(kw_only=True)
class Lateness:
    """Of what has fired, in milliseconds."""

    number: int
    p50: float | None
    p99: float | None
    most: float | None


@frozen(kw_only=True)
class Bar:
    """How much is due within a piece of time."""

    since: datetime
    until: datetime
    number: int


def percentile(values: Sequence[float], share: float) -> float | None:
    """The nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None


def fired(schedules: Iterable[Schedule]) -> list[Schedule]:
    """Returns the schedules that have ended by their attempts, by when they were due. What is retried has not."""
    return [one for one in schedules if has_fired(one)]


def lateness(schedules: Iterable[Schedule]) -> Lateness:
    """Of those that have fired."""
    values = [float(one.lateness_ms or 0) for one in fired(schedules)]
    p50, p99 = percentile(values, 0.5), percentile(values, 0.99)
    return Lateness(number=len(values), p50=p50, p99=p99, most=max(values, default=None))


def failing(schedules: Iterable[Schedule]) -> list[Failing]:
    """By action and target, the most frequent first. What has failed for good, and what is attempted again."""
    groups: dict[tuple[str, str], list[Schedule]] = {}
    for one in schedules:
        if has_failed(one):
            groups.setdefault((words.kind(one), words.target(one)), []).append(one)
    found = [Failing(kind=kind, target=host, number=len(some), last=some[-1]) for (kind, host), some in groups.items()]
    return sorted(found, key=lambda one: (-one.number, one.kind, one.target))


def has_failed(one: Schedule) -> bool:
    """For good, or in the last attempt."""
    return one.state in BAD or is_retried(one)


def waits(one: Schedule, now: datetime) -> bool:
    """Whether it waits although it is due: it is overdue, or between two attempts."""
    is_late = one.state in WAITING and bool(one.point_in_time and one.point_in_time < now)
    return bool(one.overdue) or is_late or (one.state == "claimed" and one.next_attempt_at is not None)


def bars(schedules: Iterable[Schedule], since: datetime, until: datetime, number: int) -> list[Bar]:
    """How many are due, in pieces of the same length."""
    width = (until - since) / number
    counts = [0] * number
    for one in schedules:
        if one.point_in_time and since <= one.point_in_time < until:
            counts[min(int((one.point_in_time - since) / width), number - 1)] += 1
    return [
        Bar(since=since + width * place, until=since + width * (place + 1), number=count)
        for place, count in enumerate(counts)
    ]
