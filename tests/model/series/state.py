"""All there is of one series at one moment: a value that can be compared and kept in a set.

Time is not modelled beyond what the rule needs: it is three times, an hour apart, and now is the latest of them that
was claimed. All that can wait may wait for ever, or not at all.
"""

from typing import Any, Final

from attrs import frozen

from delayer.ledger.model import EventType, LedgerRow, State
from delayer.schedule.instants import HOUR, SECOND, Millis
from delayer.schedule.schedule_id import RANDOM_BYTES
from delayer.series.rules.series import Cursor, CursorChange, NewTimes, Overlap, Rule, SeriesDefinition, SeriesState
from delayer.series.rules.stepping import Happened
from tests.model.state import Moving, evolve
from tests.samples import OWNER, a_definition, a_schedule

PAST: Final = (-2 * HOUR, -HOUR)  # times that a backfill makes up
IDS: Final = tuple(a_schedule(randomness=bytes([k] * RANDOM_BYTES)).id for k in range(40))
SCHEDULES: Final = {
    schedule.id: schedule for schedule in (a_schedule(randomness=bytes([k] * RANDOM_BYTES)) for k in range(40))
}
NAME_OF: Final = {one: f"s{k}" for k, one in enumerate(IDS, 1)}
GIVEN_BACK: Final = (State.REPLACED, State.CANCELLED)  # another may be put for the same time
WAITS: Final = (None, State.SCHEDULED)  # not claimed, and no end


@frozen
class Hourly:
    """A rule with an end."""

    last: Millis  # a PATCH of its bounds puts it off by an hour

    def next_after(self, at: Millis) -> Millis | None:
        """As the protocol."""
        following = (at // HOUR + 1) * HOUR
        return following if following <= self.last else None


RULES: Final[dict[int, Rule]] = {last: Hourly(last * HOUR) for last in (1, 2, 3, 4)}
DEFINITIONS: Final = {
    (overlap, revision): SeriesDefinition(
        owner=OWNER, repeat="{}", overlap=overlap, definition=a_definition(), revision=revision
    )
    for overlap in Overlap
    for revision in (1, 2, 3)
}


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    overlap: Overlap = Overlap.ALLOW
    has_net: bool = False
    times: int = 3  # of the rule
    ends: int = 0  # claimed occurrences that come to an end; the others are attempted for ever
    lost: int = 0  # events
    twins: int = 0  # transactions that are sent once more after they were written: nobody got the answer
    torn: int = 0  # definitions that are read before a PATCH, with the cursor from after it; in batches, or before it
    steppers: int = 0  # batches of events that are handled at the same time; 0: each event by itself
    unwritten: int = 0  # transactions of a batch that fail, and are not written
    crashes: int = 0  # of what has more than one write
    given_up: int = 0  # occurrences that are dead-lettered before their claim
    failures: int = 0  # occurrences that fail
    pauses: int = 0
    resumes: int = 0
    deletes: int = 0
    group_cancels: int = 0
    patches: int = 0  # of the series
    bounds: int = 0  # those of them that put the end of its rule off
    runs: int = 0  # run-now
    backfills: int = 0
    redrives: int = 0
    own_deletes: int = 0  # of an occurrence
    own_patches: int = 0
    moves: int = 0  # those of them that let it be due at once, long before its time


@frozen(kw_only=True, cache_hash=True)
class Occurrence:
    """A schedule of the series that was put."""

    id: str
    number: int
    at: Millis
    revision: int  # of the definition
    is_beside: bool = False  # run-now, of a backfill, or asked for again after its end
    is_fill: bool = False  # of a backfill, and not asked for again after its end
    is_early: bool = False  # its owner has moved it to a time before


@frozen(kw_only=True, cache_hash=True)
class Run:
    """A function that works at the series, between two of its calls."""

    kind: str
    at: str = ""
    cursor: Cursor | None = None  # what it read
    definition: int = 0  # the revision that it read
    row: LedgerRow | None = None  # what it read
    id: str = ""  # of the schedule that it is about
    happened: Happened | None = None
    names: tuple[str, ...] = ()  # what it has still to cancel
    decision: Any = None
    left: tuple[Happened, ...] = ()  # the events of a batch that are not handled yet, in order
    settled: frozenset[Happened] = frozenset()  # those that will be deleted with it
    times: NewTimes = NewTimes.NONE  # what a PATCH does to the rule


@frozen(kw_only=True, cache_hash=True)
class World(Moving):
    """One moment."""

    budget: Budget
    cursor: Cursor
    definition: int = 1  # the revision that is stored
    occurrences: tuple[Occurrence, ...]
    rows: tuple[tuple[str, LedgerRow], ...] = ()
    events: frozenset[Happened] = frozenset()  # each may come any number of times, as long as it is not lost or deleted
    runs: frozenset[Run] = frozenset()
    claimed: tuple[str, ...] = ()  # in order
    promised: bool = False  # a DELETE or a pause was answered, and no resume came after it
    takes_effect: tuple[
        tuple[int, int], ...
    ] = ()  # by PATCHes: the number of an occurrence, the revision from there on
    given_up: frozenset[Millis] = frozenset()  # times of occurrences that their owner has cancelled
    later: tuple[int, ...] = ()  # the revisions of the definition that put the end of the rule off
    before: Cursor | None = None  # that over which a batch wrote last: what a weak read may show
    broken: str = ""

    @property
    def now(self) -> Millis:
        """The latest time that was claimed."""
        claimed = [self.occurrence(one) for one in self.claimed]
        return max([SECOND, *(one.at for one in claimed if not one.is_early)])

    def rule_of(self, revision: int) -> Rule:
        """That of a definition. Nothing else differs: who put an occurrence, and by which of them, is what is seen."""
        return RULES[self.budget.times + sum(one <= revision for one in self.later)]

    @property
    def rule(self) -> Rule:
        """That of the definition that is stored."""
        return self.rule_of(self.definition)

    def definition_of(self, revision: int) -> SeriesDefinition:
        """One that was stored at some time."""
        return DEFINITIONS[self.budget.overlap, revision]

    def occurrence(self, schedule_id: str) -> Occurrence:
        """By its id."""
        return next(one for one in self.occurrences if one.id == schedule_id)

    def row(self, schedule_id: str) -> LedgerRow | None:
        """What the ledger says."""
        return dict(self.rows).get(schedule_id)

    def waits(self, schedule_id: str) -> bool:
        """Whether it may be claimed."""
        row = self.row(schedule_id)
        return (row.state if row else None) in WAITS

    def is_over(self, schedule_id: str) -> bool:
        """Whether nothing of it is handed over any more."""
        row = self.row(schedule_id)
        return row is not None and row.ended

    def over(self, cursor: Cursor, *, until_its_end: bool) -> set[str]:
        """Which of those beside the current one need not be named any more."""
        return {one for one in cursor.beside if self.is_over(one) or not (until_its_end or self.waits(one))}

    @property
    def next_id(self) -> str:
        """Of the next one that is put."""
        return IDS[len(self.occurrences)]

    def with_row(self, row: LedgerRow, event: EventType | None = None) -> "World":
        """After a write of the ledger, and its event. What nothing here goes by is left out."""
        plain = evolve(
            row,
            at=0,
            lease_until=0,
            expires_at=0,
            claimed_at=min(row.claimed_at, 1),
            stopped_at=0,
            lateness=0,
            detail="",
        )
        rows = {**dict(self.rows), row.schedule_id: plain}
        happened = {Happened(schedule_id=row.schedule_id, kind=event)} if event else set()
        return evolve(self, rows=tuple(sorted(rows.items(), key=lambda pair: pair[0])), events=self.events | happened)

    def write(self, change: CursorChange) -> "World":
        """After a write of the cursor."""
        return evolve(self, cursor=change.cursor)

    def put(self, occurrence: Occurrence) -> "World":
        """After a put."""
        world = evolve(self, occurrences=(*self.occurrences, occurrence))
        if occurrence.is_fill:
            return self._filled(world, occurrence.at)
        if occurrence.is_beside:
            return world
        same = [one for one in self.occurrences if one.number == occurrence.number and not one.is_beside]
        if any((row := self.row(one.id)) is None or row.state is not State.REPLACED for one in same):
            return evolve(world, broken=f"occurrence {occurrence.number} is put twice")
        if occurrence.at in self.given_up:
            return evolve(world, broken="a time that its owner has given up is put again")
        numbered = [one for one in self.occurrences if one.at == occurrence.at and one.number]
        if any((row := self.row(one.id)) is None or row.state not in GIVEN_BACK for one in numbered):
            return evolve(world, broken="a time is put twice")
        return world

    def _filled(self, world: "World", at: Millis) -> "World":
        earlier = [self.row(one.id) for one in self.occurrences if one.at == at]
        if any(row is None or row.state not in GIVEN_BACK for row in earlier):
            return evolve(world, broken="a time of the backfill is put twice")
        return evolve(world, broken="a time that its owner has given up is put again") if at in self.given_up else world


def first(budget: Budget) -> World:
    """The first occurrence was put with its series."""
    cursor = Cursor(series="series", owner=OWNER, state=SeriesState.ACTIVE, number=1, current=IDS[0], at=HOUR)
    return World(
        budget=budget,
        cursor=cursor,
        occurrences=(Occurrence(id=IDS[0], number=1, at=HOUR, revision=1),),
    )
