"""All there is of one relaxed schedule, and of the one that takes its place, at one moment."""

from typing import Final

from attrs import frozen

from delayer.ledger.model import LedgerRow
from delayer.schedule.instants import DAY, HOUR, SECOND, Millis
from delayer.schedule.schedule import Schedule
from tests.model.state import evolve
from tests.samples import LEASE, NOW, a_relaxed_schedule

DUE: Final[Millis] = NOW + SECOND // 2  # DynamoDB counts whole seconds
OLD, NEW = "old", "new"
SCHEDULES: Final[dict[str, Schedule]] = {
    OLD: a_relaxed_schedule(DUE),
    NEW: a_relaxed_schedule(DUE, randomness=bytes(range(50, 58))),
}
INSTANTS: Final = (  # where time stops
    DUE - HOUR,  # posted
    NOW,  # the second in which it is due has begun
    NOW + SECOND,  # it has expired
    NOW + SECOND + LEASE,  # the lease of whoever claimed by now has lapsed
    DUE + DAY,  # all leases have lapsed, once and for all
    DUE + 31 * DAY,  # its ledger row has expired
)
LAST: Final = len(INSTANTS) - 1


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    late_puts: int = 0  # the call that stored it, repeated by somebody who got no answer
    crashes: int = 0  # of the function that claims, after the claim or after the hand-over
    killed: int = 0  # records that are given up because the function dies of them
    repeats: int = 0  # deliveries of a removal that was done
    cancels: int = 0
    replaces: int = 0
    unfinished: int = 0  # a cancel that dies before it deletes the record
    by_hand: int = 0  # somebody deletes the record
    redrives: int = 0
    ahead: bool = False  # DynamoDB's clock is a second ahead
    very_late: bool = False  # the TTL may take more than a month


@frozen(kw_only=True, order=True)
class Removal:
    """A record of the stream."""

    event: str
    name: str
    by_ttl: bool
    is_done: bool = False  # Lambda was told so; it may be delivered again all the same


@frozen(kw_only=True, order=True)
class Message:
    """A claimed schedule: in the hands of the function that claimed it, in the queue, or at an attempt."""

    name: str
    event: str
    nonce: str
    fence: str


@frozen(kw_only=True, cache_hash=True)
class World:
    """One moment."""

    budget: Budget
    at: int = 0  # of INSTANTS
    table: frozenset[str] = frozenset({OLD})
    removals: tuple[Removal, ...] = ()
    rows: tuple[tuple[str, LedgerRow], ...] = ()
    claimed: frozenset[Message] = frozenset()  # not handed over yet
    queue: frozenset[Message] = frozenset()
    running: frozenset[Message] = frozenset()  # attempts
    deleting: frozenset[tuple[str, str]] = frozenset()  # a cancel, and what it has still to do: `record` or `row`
    attempts: tuple[str, ...] = ()  # in order
    twins: tuple[str, ...] = ()  # claimed again while an attempt ran: it may be made twice, with one idempotency key
    accepted: frozenset[str] = frozenset({OLD})
    promised: frozenset[str] = frozenset()  # its owner was told that it will never be handed over
    touched: frozenset[str] = frozenset()  # by somebody who is not its owner
    stored: frozenset[str] = frozenset()  # dead letters
    over: frozenset[str] = frozenset()  # whose row has or had an end
    deliveries: int = 0
    broken: str = ""

    @property
    def now(self) -> Millis:
        """The true time."""
        return INSTANTS[self.at]

    @property
    def dynamodbs(self) -> Millis:
        """What DynamoDB takes for it."""
        return self.now + (SECOND if self.budget.ahead else 0)

    def row(self, name: str) -> LedgerRow | None:
        """What the ledger says."""
        return dict(self.rows).get(name)

    def with_row(self, name: str, row: LedgerRow) -> "World":
        """After a write of the ledger. What nothing here goes by is left out."""
        plain = evolve(row, at=0, expires_at=0, claimed_at=min(row.claimed_at, 1), detail="", replaced_by="", by="")
        rows = tuple(sorted({**dict(self.rows), name: plain}.items()))
        return evolve(self, rows=rows, over=self.over | {name} if row.ended else self.over)

    def spend(self, what: str) -> "World":
        """One fewer may still happen."""
        return evolve(self, budget=evolve(self.budget, **{what: getattr(self.budget, what) - 1}))

    def remove(self, name: str, *, by_ttl: bool = False) -> "World":
        """After a delete. That of nothing makes no record in the stream."""
        if name not in self.table:
            return self
        removal = Removal(event=f"e{len(self.removals) + 1}", name=name, by_ttl=by_ttl)
        return evolve(self, table=self.table - {name}, removals=(*self.removals, removal))

    def done(self, event: str) -> "World":
        """After Lambda was told that a removal is done."""
        removals = tuple(evolve(one, is_done=True) if one.event == event else one for one in self.removals)
        return evolve(self, removals=removals)

    def wrong(self, what: str) -> "World":
        """A promise is broken."""
        return evolve(self, broken=what)


def first(budget: Budget) -> World:
    """It was put, and its client was answered 201."""
    return World(budget=budget)
