"""All there is of one schedule without a time, at one moment: a value that can be compared and kept in a set.

Time is not modelled: what is put with a time may be claimed at once, or never.
"""

from typing import Final

from attrs import frozen

from delayer.ledger.model import LedgerRow
from delayer.schedule.messages import DelayerMessage
from delayer.schedule.schedule_id import RANDOM_BYTES, Address, IdKind, mint
from tests.model.state import Moving, evolve
from tests.samples import KEY, NOW, OWNER, a_schedule

ASKED: Final = mint(
    Address(due=NOW, shard=0), OWNER, point_in_time=NOW, key=KEY, randomness=bytes(RANDOM_BYTES), kind=IdKind.UNDECIDED
)
PUT: Final = tuple(a_schedule(randomness=bytes([number] * RANDOM_BYTES)) for number in range(1, 20))
IDS: Final = tuple(one.id for one in PUT)
MESSAGES: Final = {one.id: DelayerMessage(schedule=one, nonce="n") for one in PUT}
NAME_OF: Final = {ASKED: "a"} | {one: f"s{number}" for number, one in enumerate(IDS, 1)}


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    deciders: int = 2  # messages that are being handled at the same time
    twins: int = 0  # transactions whose answer is lost
    late: int = 0  # puts of the POST that arrive once more
    lost: int = 0  # events or messages
    crashes: int = 0
    refusals: int = 0
    deletes: int = 0
    patches: int = 0
    gets: int = 0
    has_name: bool = False  # then it has a row from the start


@frozen(kw_only=True, cache_hash=True)
class Run:
    """A function at work, between two of its calls."""

    kind: str
    at: str = ""
    id: str = ASKED  # which schedule it works at
    row: LedgerRow | None = None  # what it read
    found: bool = False  # whether it saw the record
    put: str = ""  # what it has still to put


@frozen(kw_only=True, cache_hash=True)
class World(Moving):
    """One moment."""

    budget: Budget
    waits: bool = True  # its record is in the table of what waits
    hint: bool = True  # there is a message, or an event on its way to become one; each may come any number of times
    rows: tuple[tuple[str, LedgerRow], ...] = ()
    put: tuple[str, ...] = ()  # schedules that have a time
    by_patch: frozenset[str] = frozenset()  # those of them that a PATCH has put
    claimed: tuple[str, ...] = ()
    given_up: frozenset[str] = frozenset()  # of which an answer said that they are never handed over
    runs: frozenset[Run] = frozenset()
    broken: str = ""

    def row(self, schedule_id: str) -> LedgerRow | None:
        """What the ledger says."""
        return dict(self.rows).get(schedule_id)

    @property
    def next_id(self) -> str:
        """Of the next schedule that is put."""
        return IDS[len(self.put) + sum(bool(run.put) for run in self.runs)]

    def with_row(self, row: LedgerRow) -> "World":
        """After a write of the ledger. What nothing here goes by is left out."""
        plain = evolve(row, at=0, lease_until=0, expires_at=0, claimed_at=0, detail="")
        rows = {**dict(self.rows), row.schedule_id: plain}
        return evolve(self, rows=tuple(sorted(rows.items(), key=lambda pair: pair[0])))

    def having(self, schedule_id: str) -> "World":
        """After a put."""
        return evolve(self, put=(*self.put, schedule_id))

    def claim(self, schedule_id: str) -> "World":
        """It is handed over."""
        if schedule_id in self.given_up:
            return evolve(self, broken=f"{NAME_OF[schedule_id]} is claimed, against an answer")
        if self.claimed:
            return evolve(self, broken="it is handed over twice")
        return evolve(self, claimed=(*self.claimed, schedule_id))

    def promise(self, *kept: str) -> "World":
        """An answer: nothing that was asked for with the id is handed over any more, but these."""
        known = {ASKED, *self.put, *IDS[len(self.put) :]} - set(kept)
        if any(one not in kept for one in self.claimed):
            return evolve(self, broken="an answer denies what has been claimed")
        return evolve(self, given_up=self.given_up | known)
