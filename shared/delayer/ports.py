"""What the use cases need of the world. Each port has an AWS adapter (`aws/`) and a fake (`fakes/`),
both held to the same contract tests.

A port raises `Unavailable` when AWS did not do what was asked, or when it is not known whether it did.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from attrs import field, frozen
from attrs.validators import ge, le

from delayer.core.bucket import Bucket
from delayer.core.enqueueing import MAX_DELAY_SECONDS
from delayer.core.events import Event
from delayer.core.executing import Result
from delayer.core.instants import Millis
from delayer.core.ledger import LedgerRow
from delayer.core.schedule import Schedule
from delayer.core.set_aside import Kept
from delayer.core.sweeping import Progress, Shards
from delayer.core.wire import ExecutorMessage

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Unavailable(Exception):
    """AWS failed, throttled or timed out; the effect may or may not have taken place."""


class Clock(Protocol):
    """The time, and the patience to wait for it."""

    def now(self) -> Millis:
        """Milliseconds since the epoch, rounded down: never ahead of the true time."""
        ...

    def sleep_until(self, instant: Millis) -> None:
        """Returns at the instant or after it, at once if it has passed."""
        ...


class Parallel(Protocol):
    """Does the same to many things at a time."""

    def map(self, do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        """The outcomes in the order of the items. `do` handles its own errors."""
        ...


@frozen(kw_only=True)
class RecordKey:
    """Names one record of the schedules table."""

    bucket: str
    due: str


@frozen
class Page:
    """A page of a bucket, in due order."""

    keys: tuple[RecordKey, ...]
    more: RecordKey | None  # where the next page begins after; None: this was the last


class ScheduleTable(Protocol):
    """The schedules table."""

    def put(self, schedule: Schedule) -> None:
        """Stores it; once more is no change."""
        ...

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        """Deletes the records; returns those not known to be gone. Deleting what is not there is no error."""
        ...

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> Page:
        """Reads one page, strongly consistent and unfiltered."""
        ...

    def read(self, key: RecordKey) -> Schedule | None:
        """One record, strongly consistent; None if there is none that can be read."""
        ...

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        """Many records, each as with `read`, in few requests."""
        ...

    def beat(self, sent_at: Millis) -> None:
        """Puts and deletes the heartbeat row."""
        ...


class Ledger(Protocol):
    """The ledger. All writes are conditional, and answer with the row that stands in the way."""

    def read(self, schedule_id: str) -> LedgerRow | None:
        """Strongly consistent."""
        ...

    def read_all(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow]:
        """Many rows, each as with `read`, in few requests."""
        ...

    def put_if_absent(self, row: LedgerRow) -> LedgerRow | None:
        """None: written. Else nothing is written and the standing row is returned."""
        ...

    def swap(self, old: LedgerRow, new: LedgerRow) -> LedgerRow | None:
        """Writes `new` if the standing row has the revision of `old`; returns None.

        Else nothing is written and the standing row is returned. Raises `Vanished` if there is none.
        """
        ...


class Vanished(Unavailable):
    """The ledger row to be changed is gone: expired. Whoever looks again finds none."""


class Control(Protocol):
    """The control rows: small state that coordinates writers and sweepers (ADR 0032)."""

    def shards(self) -> Shards | None:
        """Strongly consistent; None if nothing was ever written."""
        ...

    def raise_shards(self, wanted: Shards) -> Shards:
        """Raises the highest shard if it is lower, keeps the first `since`; returns what stands afterwards."""
        ...

    def id_key(self, candidate: bytes) -> bytes:
        """The secret behind the ids: `candidate` if there was none yet."""
        ...

    def progress(self) -> Progress | None:
        """How far the sweep came; None before the first."""
        ...

    def advance(self, progress: Progress) -> None:
        """Writes it; the watermark moves forward only, whatever another tick wrote in between."""
        ...

    def heartbeat_seen(self) -> Millis | None:
        """The newest heartbeat that came through the stream."""
        ...

    def note_heartbeat(self, sent_at: Millis) -> None:
        """Forward only."""
        ...


@frozen
class Outgoing:
    """A message to be sent."""

    body: str
    delay_seconds: int = field(default=0, validator=[ge(0), le(MAX_DELAY_SECONDS)])
    tenant: str = ""  # a backlog of one does not hold up the others; empty: a tenant of its own


class Queue(Protocol):
    """A standard SQS queue, as its senders see it."""

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        """Sends all, in as few requests as may be. Returns the positions of those not known to be sent."""
        ...

    def visible(self) -> int:
        """About how many messages wait to be received, delayed ones not counted."""
        ...


class SetAsideStore(Protocol):
    """Where bodies are kept."""

    def keep(self, kept: Kept) -> None:
        """Stores it under its key; once more is no change."""
        ...

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        """Keys that begin so, in order, after one of them (empty: from the first)."""
        ...

    def get(self, key: str) -> bytes | None:
        """The content of one key, None if there is none."""
        ...

    def discard(self, key: str) -> None:
        """Deletes it; what is not there is no error."""
        ...


class Target(Protocol):
    """What an executor reaches. Here a new action begins."""

    def __call__(self, message: ExecutorMessage) -> Result:
        """Makes one attempt. Raises nothing that belongs to the target: that is a Retry or Refused."""
        ...


class Observer(Protocol):
    """Logs and metrics (ADR 0031)."""

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """One structured log line."""
        ...

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """A line that somebody should look at."""
        ...

    def count(self, metric: str, number: int = 1) -> None:
        """Adds to a counter: Swept, Enqueued, Claimed, Executed, Failed, SetAside, Late, …"""
        ...

    def measure_lateness(self, lateness: Millis) -> None:
        """One observation of the metric Lateness, in milliseconds."""
        ...


@frozen
class Delivery:
    """A message as a function receives it."""

    message_id: str
    body: str
    receives: int = 1  # how often SQS has handed it out, this time included
    source: str = ""  # the name of its queue


@frozen(kw_only=True)
class NameRow:
    """Which schedule bears a name just now."""

    owner: str
    name: str
    schedule_id: str


@frozen(kw_only=True)
class RequestRow:
    """What was answered to a POST with an idempotency key."""

    owner: str
    key: str
    digest: str  # of the body: the same key with another body is a mistake
    schedule_id: str
    point_in_time: Millis
    expires_at: Millis  # from then on the key counts as new


@frozen(kw_only=True)
class Exchange:
    """One schedule in place of another, in one transaction: all of it, or nothing (ADR 0041).

    A schedule with a group joins it in the same transaction.
    """

    new: Schedule  # its record is put
    begun: LedgerRow | None = None  # the row a named schedule begins with; put only if there is none
    gone: RecordKey | None = None  # the record of the old one, deleted whether it stands or not
    ending: LedgerRow | None = None  # `replaced`, for the old one
    over: LedgerRow | None = None  # the old one's row that `ending` replaces; None: only if there is none
    name: NameRow | None = None  # names the new one
    name_over: NameRow | None = None  # what `name` replaces; None: only if there is none
    request: RequestRow | None = None  # the call that created the new one
    request_over: RequestRow | None = None  # the expired one that it replaces; None: only if there is none


@frozen
class Member:
    """One of a group."""

    schedule_id: str
    created_at: Millis


@frozen
class Members:
    """A page of a group, in due order."""

    members: tuple[Member, ...]
    more: str  # the id after which the next page begins; empty: this was the last


@frozen(kw_only=True)
class JobRow:
    """The cancelling of a group: how far it has come, and what it came to. Each change is a compare-and-set."""

    owner: str
    job_id: str
    group: str
    created_at: Millis
    revision: int = 1
    after: str = ""  # the member that was looked at last
    cancelled: int = 0
    handed_over: int = 0
    ended: int = 0
    finished_at: Millis = 0

    @property
    def found(self) -> int:
        """All that were looked at."""
        return self.cancelled + self.handed_over + self.ended


class Jobs(Protocol):
    """The jobs, in the registry."""

    def read(self, owner: str, job_id: str) -> JobRow | None:
        """Strongly consistent."""
        ...

    def put(self, row: JobRow) -> None:
        """Stores a new one. What stands stays: a request that is repeated late must not begin the job anew."""
        ...

    def swap(self, old: JobRow, new: JobRow) -> bool:
        """Writes `new` if the standing row has the revision of `old`; a repeat is no conflict."""
        ...


class Registry(Protocol):
    """What schedules are known by besides their ids, and the transaction that keeps it true (ADR 0048)."""

    def named(self, owner: str, name: str) -> NameRow | None:
        """Strongly consistent."""
        ...

    def requested(self, owner: str, key: str) -> RequestRow | None:
        """Strongly consistent; also one that has expired and was not deleted yet."""
        ...

    def members(self, owner: str, group: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        """Those due from `since` on and before `until`, after one of them (empty: from the first).

        Strongly consistent.
        """
        ...

    def exchange(self, exchange: Exchange) -> bool:
        """Whether it was done; False: a condition failed, something has changed meanwhile, and nothing was written.

        A transaction repeated because its answer was lost finds its own rows, and is done.
        """
        ...


@frozen(kw_only=True)
class Announcement:
    """A lifecycle event, ready to be published."""

    text: str  # a CloudEvent
    attributes: tuple[tuple[str, str], ...]  # by which subscribers filter; none is empty


class Topic(Protocol):
    """The topic of lifecycle events."""

    def publish(self, announcements: Sequence[Announcement]) -> list[int]:
        """Publishes all, in as few requests as may be. Returns the positions of those not known to be published."""
        ...


class Journal(Protocol):
    """The histories of all schedules. A view: nothing fires or is cancelled by it (ADR 0053)."""

    def keep(self, events: Sequence[Event], keep_for: Millis) -> list[int]:
        """Stores them until so long after they are over (`expiry_of`); once more is no change.

        Returns the positions of those not known to be stored.
        """
        ...

    def history(self, schedule_id: str) -> tuple[Event, ...]:
        """All that is known so far, in order. What happened in the last seconds may be missing."""
        ...

    def owned(self, owner: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        """As `Registry.members`, of all schedules of an owner. What was accepted in the last seconds may be missing."""
        ...


class Rates(Protocol):
    """How much an owner creates (ADR 0054)."""

    def spend(self, owner: str, window: str, at_most: int, expires_at: Millis) -> bool:
        """Counts one creation in this window of time, unless it has as many already: then False."""
        ...


class Headcount(Protocol):
    """How many schedules of an owner are live, as far as the journal has come (ADR 0054)."""

    def begun(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        """One more; a schedule counts once, and not if its end was noted already."""
        ...

    def ended(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        """One less, if it was counted."""
        ...

    def live(self, owner: str, now: Millis) -> int:
        """Of those that are due in these four weeks or the last, or later; never below 0.

        What an older one may have left in the count, because its end was never heard of, does not matter any more.
        """
        ...
