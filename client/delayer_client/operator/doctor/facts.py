"""The doctor has seen these facts. Nothing here is judged yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, TypeVar


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """The doctor could not look."""

    why: str
    permission: str = ""  # that is missing; empty if it is something else


T = TypeVar("T")
Seen: TypeAlias = T | Unseen


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of the API to GET /schedules?limit=1."""

    url: str
    status: int  # 0: it did not answer
    shown_with: str  # how the call showed who makes it: signature, token, nothing
    error: str = ""  # why there was no answer
    body: Mapping[str, Any] = field(default_factory=dict)  # empty if it was no JSON object
    milliseconds: int = 0
    ahead_seconds: float | None = None  # how far its clock is ahead of this machine's; None without a Date header


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The caller, as the API sees it."""

    owner: str  # empty if it cannot be known from here
    authorization: str  # the stack's: AWS_IAM, JWT, NONE; empty if the stack cannot be read


@dataclass(frozen=True, kw_only=True)
class ApiFacts:
    """The API, and the caller."""

    answer: Answer
    caller: Caller
    for_any_host: tuple[str, ...] = ()  # the caller's connections that name no hosts


@dataclass(frozen=True, kw_only=True)
class StackFacts:
    """As CloudFormation describes it."""

    name: str
    status: str
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class TickRule:
    """The rule that starts the tasks of each minute."""

    name: str = "EveryMinute"  # in EventBridge
    state: str = ""  # ENABLED, DISABLED; empty if it is gone


@dataclass(frozen=True, kw_only=True)
class TickRows:
    """The rows that each tick leaves in the control table. None: not there."""

    swept_at: datetime | None  # the last tick that swept
    closed_until: datetime | None  # everything before it is swept, for good
    heartbeat_at: datetime | None  # the last that came through the stream
    awaited: Sequence[datetime] = ()  # heartbeats that were sent and have not come through


@dataclass(frozen=True, kw_only=True)
class TickFacts:
    """The rows, and the rule of the tasks."""

    rows: Seen[TickRows]
    rule: Seen[TickRule]
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Reader:
    """An event source mapping, by which a function reads a queue or a stream."""

    name: str  # in the template
    function: str
    source: str  # the ARN of the queue or the stream
    state: str  # Enabled, Disabled, Creating, …; empty if it is gone
    last_result: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class StreamFacts:
    """How far the functions that read streams are behind, in milliseconds; None without a figure."""

    behind: Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True)
class CanaryFacts:
    """Lateness of the canaries of the last fifteen minutes, in milliseconds, the oldest first."""

    is_on: bool
    near: Sequence[float]
    far: Sequence[float]
    created_at: datetime  # the stack, or its last change
    period_seconds: int  # the delayer period


@dataclass(frozen=True, kw_only=True)
class Queue:
    """One queue of the stack."""

    name: str  # in the template
    visible: int
    delayed: int
    in_flight: int


@dataclass(frozen=True, kw_only=True)
class QueueFacts:
    """All queues of the stack."""

    queues: Sequence[Queue]
    ages: Seen[Mapping[str, float]]  # of the oldest message, in seconds, by the queue's name; those that are known


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """One alarm of the stack."""

    name: str  # in the template
    state: str  # OK, ALARM, INSUFFICIENT_DATA
    description: str = ""
    reason: str = ""
    since: str = ""
    is_enabled: bool = True
    topics: Sequence[str] = ()
    is_silent: bool = False  # it rings when data stop to come, and there are none


@dataclass(frozen=True, kw_only=True)
class AlarmFacts:
    """All alarms, and who hears them."""

    alarms: Seen[Sequence[Alarm]]
    subscribers: Seen[int]  # of the alarm topic, that have confirmed
    is_local: bool


@dataclass(frozen=True, kw_only=True)
class StoredFacts:
    """The contents of the dead-letter store: by the beginning of the key, how many by reason."""

    reasons: Mapping[str, Mapping[str, int]]
    is_whole: bool  # False: there is more than was looked at


@dataclass(frozen=True, kw_only=True)
class StoredRule:
    """Of a series that is not over."""

    owner: str
    series: str
    cron: str  # in the dialect of EventBridge


@dataclass(frozen=True, kw_only=True)
class RuleFacts:
    """The rules in the dialect of EventBridge."""

    rules: Sequence[StoredRule]
    is_whole: bool  # False: there is more than was looked at


@dataclass(frozen=True, kw_only=True)
class AccountFacts:
    """How many functions the account runs at a time."""

    scale: str
    needed: int
    allowed: Seen[int]
    unreserved: Seen[int]
    peak: Seen[float | None]  # of the last fifteen minutes
    asked_for: Seen[float | None]  # a raise that AWS has not decided yet


@dataclass(frozen=True, kw_only=True)
class FunctionFacts:
    """Counts of the last fifteen minutes; of errors and throttles by function, without those that have none."""

    errors: Mapping[str, float]
    throttles: Mapping[str, float]
    stray_percents: float = 0  # attempts at a URL with a % that begins no escape
