"""Logs and metrics (ADR 0031)."""

from typing import Final, Literal, Protocol

from delayer.core.schedule.instants import MINUTE, Millis

# The comment beside each is its description in docs/reference/metrics.md.
Count = Literal[
    "Accepted",  # schedules that were answered 201
    "Attention",  # what somebody must look at, of whatever kind: one alarm rings for all of it
    "Announced",  # lifecycle events that were published
    "Asked",  # schedules whose policy was asked for their time
    "BroughtBack",  # records of a stream that were set aside and then handled, those included that Lambda gave up on
    "Cancelled",  # schedules that their owners cancelled
    "CircuitOpened",  # circuits that have opened, those included that opened again after a probe that failed
    "Claimed",  # claims, repeated ones too, canaries included
    "DeadLettered",  # bodies written to the dead-letter store under dead-lettered/
    "Decided",  # times that were decided
    "Delivered",  # lifecycle events that a subscriber took
    "Dropped",  # schedules that a rule or a stop ended, late canaries included
    "Enqueued",  # records sent to the delayer queue, canaries included
    "Executed",  # attempts that the target accepted
    "Failed",  # schedules that failed: their target refused them, or their attempts are used up
    "Journaled",  # lifecycle events that were written into the journal
    "Late",  # schedules whose first attempt began a second or more after the point in time, in the precise lane
    "Refused",  # requests that were answered 4xx
    "Retried",  # attempts that failed and are followed by another
    # objects with set-aside records that are more than an hour old and could not be brought back in this round
    "NotBroughtBack",
    "SeriesFailed",  # series that have stopped, because their rule failed
    "SeriesHealed",  # occurrences that were put though no event had led to them
    "SeriesStepped",  # occurrences that were put after something happened to the one before
    "NotHandled",  # messages that were left in a queue once more, though they have been in it for half an hour
    "NotDecided",  # tries of a policy that failed, and schedules that wait for a policy that is not there
    "SetAside",  # records of a stream that were set aside, because they held up their shard
    "StrayPercents",  # attempts at a URL with a % that begins no escape, as an earlier version took them: %25 is sent
    # ticks that did not sweep everything: nothing without a heartbeat, only what is urgent during a backlog
    "SweepHeld",
    "Swept",  # records deleted by the sweep, canaries included
    "TimeRefused",  # schedules that failed because their policy refused to decide a time
    # lifecycle events that could not be published: they could not be read or encoded, or SNS refuses them for ever
    "Unannounced",
    "Uncounted",  # creations that were allowed because the live count could not be read
    "Undelivered",  # lifecycle events that come again, because a subscriber raised or could not read them
    "Unexpected",  # requests that were answered 500, and schedules that a job could not cancel because of a defect
]
Lateness = Literal[
    "Lateness",  # from the point in time to the first attempt, in the precise lane
    "RelaxedLateness",  # from the point in time to the first attempt, in the relaxed lane
    "CanaryNearLateness",  # how late a canary arrived that was due within the delayer period
    "CanaryFarLateness",  # how late a canary arrived that was due beyond the delayer period
    "UndecidedAge",  # how long the oldest schedule has been waiting for its time
]
Metric = Literal[Count, Lateness]

# One is too many of these. Each is counted as Attention, too (ADR 0157).
NEEDS_SOMEBODY: Final[frozenset[Metric]] = frozenset(
    {"DeadLettered", "NotBroughtBack", "NotHandled", "SeriesFailed", "TimeRefused", "Unannounced", "Unexpected"}
)
TOO_LONG: Final[dict[Metric, Millis]] = {"UndecidedAge": 15 * MINUTE}  # so is a measure that is as high
# Lines of the way of each schedule, and of each tick: a trace, with LogLevel=DEBUG (ADR 0162).
TRACED: Final = frozenset(
    {
        "accepted",
        "bucket swept",
        "canary",
        "claimed",
        "decided",
        "delivered",
        "enqueued",
        "looked after series",
        "no step: it is not current",
        "not yet, sent again",
        "nothing was ever scheduled",
        "stepped",
        "swept",
    }
)
# No alarm and no widget shows these. A metric is paid for by the month in which it is written; each value is a line.
WRITTEN_WITH_ALL: Final[frozenset[Metric]] = frozenset(
    {"Announced", "Asked", "Claimed", "Delivered", "Enqueued", "Journaled", "Swept"}
)


class Observer(Protocol):
    """What an operator sees."""

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """One structured log line; one of a trace, if `event` is in TRACED."""
        ...

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """A line that somebody should look at."""
        ...

    def count(self, metric: Count, number: int = 1) -> None:
        """Adds to a counter."""
        ...

    def measure_lateness(self, lateness: Millis, metric: Lateness = "Lateness") -> None:
        """One observation in milliseconds. `Lateness`: of the users' precise schedules alone, once they have a time."""
        ...
