"""All there is of the net over one series at one moment: a value that can be compared and kept in a set.

Minutes are few here: a write arrives in the minute in which it was begun or in the next one, a minute is looked at
when it is over, and closed when nothing that was begun in it can arrive any more.
"""

from typing import Any, Final

from attrs import frozen

from delayer.ledger.model import LedgerRow
from delayer.schedule.instants import HOUR, SECOND, Millis
from delayer.series.rules.series import Cursor, Overlap, SeriesDefinition, SeriesState
from delayer.series.rules.stepping import Happened
from tests.model.series.state import DEFINITIONS, IDS
from tests.model.state import Moving, evolve
from tests.samples import OWNER

WRITE_TAKES: Final = 1  # minutes at most, from the issue of an id to the end of the transaction that puts it
CLOSABLE_AFTER: Final = 1  # minutes after its end
Filing = tuple[int, str]  # a minute, and the id of an occurrence


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    overlap: Overlap = Overlap.ALLOW
    minutes: int = 5  # until the end of time
    claims: int = 2
    ends: int = 0
    lost: int = 0  # events
    crashes: int = 0  # of the net
    ticks: int = 1  # at the same time
    pauses: int = 0
    resumes: int = 0
    deletes: int = 0


@frozen(kw_only=True, cache_hash=True)
class Run:
    """A function between two of its calls."""

    kind: str  # step, resume, net
    at: str = ""
    begun: int = 0  # the minute in which it issued its id
    cursor: Cursor | None = None  # what it read
    decision: Any = None
    row: LedgerRow | None = None
    minute: int = 0  # what the net looks at
    left: tuple[str, ...] = ()  # filed there, and not looked at yet
    happened: Happened | None = None


@frozen(kw_only=True, cache_hash=True)
class World(Moving):
    """One moment."""

    budget: Budget
    cursor: Cursor
    minute: int = 0  # now
    watermark: int = 0  # all minutes before it are closed
    filed: frozenset[Filing] = frozenset()
    addresses: tuple[int, ...] = ()  # the minute of each occurrence that was put
    times: tuple[Millis, ...] = ()  # and its time by the rule
    rows: tuple[tuple[str, LedgerRow], ...] = ()
    events: frozenset[Happened] = frozenset()
    runs: frozenset[Run] = frozenset()
    claimed: int = 0  # the number of the last one

    @property
    def now(self) -> Millis:
        """For the rule: the time of the last one that was claimed."""
        return self.times[self.claimed - 1] if self.claimed else SECOND

    @property
    def definition(self) -> SeriesDefinition:
        """It never changes here."""
        return DEFINITIONS[self.budget.overlap, 1]

    def row(self, schedule_id: str) -> LedgerRow | None:
        """What the ledger says."""
        return dict(self.rows).get(schedule_id)

    def with_row(self, row: LedgerRow, event: Happened | None = None) -> "World":
        """After a write of the ledger, and its event. What nothing here goes by is left out."""
        plain = evolve(row, at=0, lease_until=0, expires_at=0, claimed_at=min(row.claimed_at, 1), detail="")
        rows = {**dict(self.rows), row.schedule_id: plain}
        events = self.events | ({event} if event else set())
        return evolve(self, rows=tuple(sorted(rows.items(), key=lambda pair: pair[0])), events=events)

    def address(self, schedule_id: str) -> int:
        """The minute in its id."""
        return self.addresses[IDS.index(schedule_id)]


def first(budget: Budget) -> World:
    """The first occurrence was put with its series."""
    cursor = Cursor(series="series", owner=OWNER, state=SeriesState.ACTIVE, number=1, current=IDS[0], at=HOUR)
    return World(budget=budget, cursor=cursor, filed=frozenset({(0, IDS[0])}), addresses=(0,), times=(HOUR,))
