"""The ports that keep no rows: time, logs, queues, a topic, functions, objects, secrets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, TypeVar

from attrs import field, frozen
from attrs.validators import ge, le

from delayer.schedule.instants import MAX_DELAY_SECONDS, MINUTE, Millis

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
# Of the owner delayer:system: the secret behind the tokens of all connections.
TOKEN_KEY: Final = "token-key"  # noqa: S105 - its name


class Unavailable(Exception):
    """AWS failed, throttled or timed out; the effect may or may not have taken place."""


Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Clock(Protocol):
    """The time, and waiting for an instant."""

    def now(self) -> Millis:
        """Milliseconds since the epoch, rounded down: never ahead of the true time."""
        ...

    def sleep_until(self, instant: Millis) -> None:
        """Returns at the instant or after it, at once if it has passed."""
        ...


Result = TypeVar("Result", covariant=True)


class Workers(Protocol):
    """Do things side by side for one thread that leads, and that never waits for one of them alone."""

    def begin(self) -> None:
        """Called at the beginning of each invocation."""
        ...

    def start(self, number: int, do: Callable[[], object]) -> None:
        """At once, whatever else is under way."""
        ...

    def do(self, number: int, do: Callable[[], object]) -> None:
        """As `start`, but in the thread that calls: nobody else would have to wait for it."""
        ...

    def ended(self, until: Millis | None) -> list[tuple[int, object]]:
        """Returns what has come to its end since the last time: its number, and what it returned or raised.

        If there is nothing it waits for the first, until this instant at most; None: for as long as that takes.
        """
        ...

    def leave_behind(self, number: int) -> None:
        """Its end is not told any more: whoever waited for it goes on without."""
        ...


class Parallel(Protocol):
    """Does the same to many things at the same time."""

    def map(self, do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        """The outcomes in the order of the items. `do` handles its own errors."""
        ...


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
    "SetAside",  # records of a stream that were set aside, because their shard waited for them
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
# No alarm and no widget shows these. A metric is paid for by the month in which it is written; each value is a line.
WRITTEN_WITH_ALL: Final[frozenset[Metric]] = frozenset(
    {"Announced", "Asked", "Claimed", "Delivered", "Enqueued", "Journaled", "Swept"}
)


class Observer(Protocol):
    """Writes logs and metrics for an operator."""

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


@frozen(kw_only=True)
class Outgoing:
    """A message to be sent."""

    body: str
    delay_seconds: int = field(default=0, validator=[ge(0), le(MAX_DELAY_SECONDS)])
    message_group: str = ""  # the others do not wait for a backlog of one group; empty: a group of its own
    once: str = ""  # for a FIFO queue, which takes one of all messages with the same text here


@frozen(kw_only=True)
class ReceivedMessage:
    """A message as a function receives it."""

    message_id: str
    body: str
    source: str = ""  # the name of its queue
    sent_at: Millis = 0  # when it was sent; 0 if that is not known
    origin: str = ""  # the name of the queue from which SQS has moved it, if it has
    receives: int = 1  # about how often it was received, with this time; perhaps no function has seen it before
    receipt: str = ""  # with which it is deleted or given back


class NotBegun(str):
    """The id of a message with which nothing was done at all, for want of time: it may come again at once."""


class Queue(Protocol):
    """Carries messages from one function to the next."""

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        """Sends all, in as few requests as may be. Returns the positions of those not known to be sent."""
        ...

    def give_back(self, messages: Sequence[ReceivedMessage], seconds: int = 0) -> None:
        """Gives back messages that were not handled: others may receive them after so many seconds.

        Up to ten. If that fails, others may after the visibility timeout.
        """
        ...

    def pull(self, at_most: int) -> list[ReceivedMessage]:
        """Up to ten that are visible, at once: none if SQS finds none right now. Raises Unavailable."""
        ...

    def delete(self, received: ReceivedMessage) -> None:
        """Deletes a message that was handled. If this fails, it comes again, and its ledger row says that it was."""
        ...

    def visible(self) -> int:
        """About how many messages wait to be received, delayed ones not counted."""
        ...

    def delayed(self) -> int:
        """About how many messages are there that cannot be received yet, because they were sent with a delay."""
        ...


@frozen(kw_only=True)
class Announcement:
    """A lifecycle event, ready to be published."""

    text: str  # a CloudEvent
    attributes: tuple[tuple[str, str], ...]  # by which subscribers filter; none is empty


def nobody_asks(_position: int) -> None:
    """For callers to whom a refusal is all the same."""


class Topic(Protocol):
    """Publishes lifecycle events to whoever subscribes."""

    def publish(self, announcements: Sequence[Announcement], refused: Callable[[int], None] = nobody_asks) -> list[int]:
        """Publishes all, in as few requests as may be. Returns the positions of those not known to be published.

        `refused` gets the position of each that the topic will never take: it is lost, and not among those returned.
        """
        ...


class NoAnswer(Exception):
    """The function gave none. The text says why, in words of ours: nothing of the function's own text is in it.

    `is_outage`: it was asked, and did not answer, or broke. What Lambda itself refuses, or what is no answer, is none.
    """

    def __init__(self, reason: str, *, is_outage: bool = False) -> None:
        super().__init__(reason)
        self.is_outage = is_outage


class NotInvoked(NoAnswer):
    """A function that was not invoked, and has done nothing: there is none, or it may not be invoked."""


class Function(Protocol):
    """A function of Lambda."""

    def ask(self, question: Mapping[str, Any]) -> object:
        """The answer, as JSON. It is asked once, and may have done its work without an answer. Raises NoAnswer."""
        ...


class Objects(Protocol):
    """One bucket. Each method raises Unavailable."""

    def put(self, key: str, content: bytes) -> None:
        """Stores JSON, in the place of what has this key."""
        ...

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        """Keys that begin so, in order, after one of them (empty: from the first)."""
        ...

    def get(self, key: str) -> bytes | None:
        """None if there is none."""
        ...

    def remove(self, key: str) -> None:
        """Removes an object. It is no error if there is none."""
        ...


class Secrets(Protocol):
    """Keeps the values of connections. Each method raises Unavailable."""

    def create(self, owner: str, secret: str, text: str) -> None:
        """Under a fresh name. To create it again changes nothing."""
        ...

    def delete(self, owner: str, secret: str) -> None:
        """At once, whether it is there or not."""
        ...

    def read(self, owner: str, secret: str) -> str | None:
        """None: it is not there, or not there yet. Raises Unavailable."""
        ...
