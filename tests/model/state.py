"""All there is at one moment: a value that can be compared and kept in a set."""

from collections.abc import Iterable
from typing import Final, TypeVar

from attrs import evolve, frozen

from delayer.core.ledger.at_rest import at_rest_from
from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule.instants import DAY, SECOND, Millis
from delayer.core.schedule.margins import ATTEMPT_OVER
from delayer.core.schedule.messages import DelayerMessage, ExecutorMessage
from tests.samples import NOW, a_schedule
from tests.world import LEAD, LEASE

DUE: Final[Millis] = NOW
VISIBILITY: Final[Millis] = 30 * SECOND
INSTANTS: Final = (  # where time stops, from the due time
    -600 * SECOND,  # posted, and within the delayer period
    -3 * SECOND,  # it may be held
    -LEAD,
    0,
    LEASE,  # the lease of whoever claimed by now has lapsed
    2 * VISIBILITY,
    2 * VISIBILITY + ATTEMPT_OVER,  # no attempt from before an end is under way
    31 * DAY,  # its ledger row has expired
)
AT_REST: Final = INSTANTS.index(2 * VISIBILITY + ATTEMPT_OVER)
Thing = TypeVar("Thing")
OLD, NEW = "old", "new"
SCHEDULES: Final = {
    OLD: a_schedule(DUE),
    NEW: a_schedule(DUE, randomness=bytes(range(50, 58))),
}
NAME_OF: Final = {schedule.id: name for name, schedule in SCHEDULES.items()}


@frozen
class Copy:
    """A message in the delayer queue, or in its dead-letter queue."""

    name: str
    nonce: str

    @property
    def message(self) -> DelayerMessage:
        """What is in it."""
        return DelayerMessage(schedule=SCHEDULES[self.name], nonce=self.nonce)


@frozen(kw_only=True, cache_hash=True)
class Relay:
    """A run of delayer-relay with one message; see use_cases/firing/relay.py."""

    copy: Copy
    at: str  # received, held, claiming, handing over, settling
    began: Millis
    seen: LedgerRow | None = None  # the row that its claim goes over
    fence: str = ""
    claims_at: Millis = 0  # when it began to claim


@frozen(kw_only=True, cache_hash=True)
class Executor:
    """A run of an executor with one message; see use_cases/firing/execute.py."""

    message: ExecutorMessage
    at: str  # received, read, attempting, failing, ending, sending, settling
    began: Millis
    row: LedgerRow | None = None  # what it read
    wanted: LedgerRow | None = None  # what it is about to write
    following: ExecutorMessage | None = None  # what it is about to send


@frozen(kw_only=True, cache_hash=True)
class Drain:
    """A run of dlq-drain with one message; see use_cases/recovery/dead_letter.py."""

    copy: Copy
    at: str  # received, stored, marked


@frozen(kw_only=True, cache_hash=True)
class Redrive:
    """An operator's command under way; see use_cases/recovery/redrive.py."""

    body: tuple[str, str]
    at: str  # read, reopened, sent
    row: LedgerRow | None = None  # what it read
    nonce: str = ""  # of the copy that it sends


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """How often each fault may still happen."""

    crashes: int = 1
    puts: int = 1  # a put retried: the record is there again
    removals: int = 1  # a stream record handled twice
    copies: int = 1  # a message of the delayer queue delivered twice
    deliveries: int = 1  # a message of the executor's queue delivered twice
    refusals: int = 1  # attempts that the target does not accept
    dead_lettered: int = 1  # a message goes to the dead-letter queue
    redrives: int = 1
    queue_redrives: int = 1
    cancels: int = 1
    replacements: int = 0


def in_order(things: frozenset[Thing]) -> Iterable[Thing]:
    """Always the same, so that a search is repeatable."""
    return sorted(things, key=str) if len(things) > 1 else things


@frozen(kw_only=True, cache_hash=True)
class World:
    """One moment."""

    now: int = 0  # which of the instants
    budget: Budget = Budget()
    table: frozenset[str] = frozenset()
    removed: tuple[str, ...] = ()  # REMOVE records in the stream, not handled yet
    copies: frozenset[Copy] = frozenset()  # messages in the delayer queue, not deleted
    free: frozenset[Copy] = frozenset()  # those of them that can be received
    dead: frozenset[Copy] = frozenset()
    relays: frozenset[Relay] = frozenset()
    handed: frozenset[ExecutorMessage] = frozenset()  # messages in the executor's queue, not deleted
    open: frozenset[ExecutorMessage] = frozenset()  # those of them that can be received
    executors: frozenset[Executor] = frozenset()
    rows: tuple[tuple[str, LedgerRow], ...] = ()
    letters: frozenset[tuple[str, str]] = frozenset()  # bodies: name, and what tells its key from others of the name
    drains: frozenset[Drain] = frozenset()
    redriving: Redrive | None = None
    over: frozenset[str] = frozenset()  # an end of theirs was written
    revoked: tuple[int, int] | None = None  # hand-overs and attempts of old, when it was cancelled or replaced
    replaced: bool = False
    was_redriven: bool = False
    sends: int = 0  # to the delayer queue, so far; they number the nonces
    attempts: tuple[tuple[str, str], ...] = ()  # name and fencing token, in order
    hand_overs: tuple[tuple[str, str], ...] = ()  # name and nonce, in order
    failed: int = 0  # attempts that the target did not take
    excused: int = 0  # crashes and duplicates that may repeat an attempt
    broken: str = ""

    @property
    def time(self) -> Millis:
        """The time of day."""
        return DUE + INSTANTS[self.now]

    def row(self, name: str) -> LedgerRow | None:
        """What the ledger says."""
        return dict(self.rows).get(name)

    def with_row(self, name: str, row: LedgerRow | None) -> "World":
        """After a write. What nothing here goes by is left out, so that fewer states differ."""
        rows = {key: value for key, value in self.rows if key != name}
        if row is not None:
            at = row.at if at_rest_from(row) > row.lease_until else 0
            rows[name] = evolve(row, at=at, detail="", claimed_at=min(row.claimed_at, 1))
        over = self.over | {name} if row is not None and row.ended else self.over
        return evolve(self, rows=tuple(sorted(rows.items(), key=lambda pair: pair[0])), over=over)

    def revoke(self) -> "World":
        """From here on old may not be handed over, nor attempted."""
        return evolve(self, revoked=self.touched())

    def touched(self) -> tuple[int, int]:
        """How often old was handed over, and attempted."""
        return (
            sum(name == OLD for name, _ in self.hand_overs),
            sum(name == OLD for name, _ in self.attempts),
        )

    def spend(self, what: str) -> "World":
        """One fault fewer may still happen."""
        return evolve(self, budget=evolve(self.budget, **{what: getattr(self.budget, what) - 1}))

    def next_nonce(self) -> str:
        """That of the next send."""
        return f"n{self.sends + 1}"

    def send(self, name: str, nonce: str = "") -> tuple["World", Copy]:
        """A message in the delayer queue, with a fresh nonce unless one is given."""
        copy = Copy(name, nonce or self.next_nonce())
        return evolve(self, sends=self.sends + 1, copies=self.copies | {copy}, free=self.free | {copy}), copy
