"""Series by real rules on the fakes, and what keeps them going."""

from typing import Any

from attrs import define, evolve, field

from delayer.engines.ports import ReceivedMessage
from delayer.history import cloud_events
from delayer.history.model import LifecycleEvent
from delayer.ledger.model import EventType, LedgerRow, State
from delayer.schedule.instants import MINUTE, Millis, minute_of
from delayer.schedule.schedule_id import IdKind, address_of
from delayer.series.ports import SeriesTransaction
from delayer.series.repository.series_table import id_in_entry
from delayer.series.rules.series import Cursor, Overlap, SeriesDefinition, SeriesState
from delayer.series.use_cases.step import ReactToEvents
from delayer.series.use_cases.tick import SeriesTick
from delayer.wiring.build import build
from tests.looking import all_items, put_row
from tests.samples import OWNER, a_claim, a_definition
from tests.world import START, World

EACH_MINUTE = '{"every": "PT1M", "anchor": "2026-01-01T00:00:00Z", "from": "2026-01-01T00:00:00Z"}'

CURRENT = "current#"  # before the bucket, in the names of the lists of what is filed


@define
class Stage:
    """One stack."""

    world: World = field(factory=World)
    react: ReactToEvents = field(init=False)
    tick: SeriesTick = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.react = build(ReactToEvents, self.world.ports("series-stepper"))
        self.tick = build(SeriesTick, self.world.ports("task-1minute-series"))

    def create(self, series: str = "0a", at: Millis = START + MINUTE, repeat: str = EACH_MINUTE, **changes: Any) -> str:
        """A series; the id of its first occurrence. `changes` are of the definition, or `state` of the cursor."""
        state = changes.pop("state", SeriesState.ACTIVE)
        definition = evolve(
            SeriesDefinition(owner=OWNER, repeat=repeat, definition=a_definition(), created_at=self.world.clock.now()),
            **changes,
        )
        first = self.world.accept.ids.issue_for(at, definition.definition, OWNER, kind=IdKind.OCCURRENCE)
        is_put = state is not SeriesState.WAITING
        cursor = Cursor(
            series=series,
            owner=OWNER,
            state=state,
            number=1,
            current=first.id if is_put else "",
            at=at if is_put else 0,
        )
        put = (first,) if is_put else ()
        assert self.world.series.write(SeriesTransaction(cursor=cursor, over=None, put=put, definition=definition))
        return first.id

    def skipping(self, series: str = "0a", **changes: Any) -> str:
        """One whose occurrences never overlap."""
        return self.create(series, overlap=Overlap.SKIP, **changes)

    def cursor(self, series: str = "0a") -> Cursor:
        found = self.world.series.cursor(OWNER, series)
        assert found
        return found

    def happen(self, schedule_id: str, state: State = State.CLAIMED) -> LedgerRow:
        """In the ledger; no event tells of it."""
        row = a_claim(schedule_id=schedule_id, owner=OWNER, state=state)
        put_row(self.world.ledger, row)
        return row

    def event(self, schedule_id: str, kind: EventType = EventType.CLAIMED) -> ReceivedMessage:
        """As it comes from the topic."""
        state = State(kind) if kind in [str(one) for one in State] else State.CLAIMED
        event = LifecycleEvent(
            id="e", type=kind, schedule_id=schedule_id, owner=OWNER, at=START, state=state, revision=2
        )
        return ReceivedMessage(
            message_id=f"{kind} {schedule_id}", body=cloud_events.encode(evolve(event, source="urn:delayer:test"))
        )

    def go_on_until(self, instant: Millis, every: Millis = MINUTE) -> None:
        """A tick each minute, and nothing else."""
        while self.world.clock.now() < instant:
            self.world.clock.move(every)
            self.tick()

    def warm_up(self) -> None:
        """The first tick of the stack: nothing is behind."""
        self.tick()
        place = self.world.series_progress.place()
        assert place is None or place.minute <= minute_of(self.world.clock.now())

    @property
    def filed(self) -> set[str]:
        """All that the net or an event may find."""
        return {id_in_entry(entry) for _, entry in self.entries}

    @property
    def again(self) -> list[tuple[str, str]]:
        """What is filed in another minute than that of its address: buckets and entries."""
        return [(bucket, one) for bucket, one in self.entries if address_of(id_in_entry(one)).bucket.key != bucket]

    @property
    def entries(self) -> list[tuple[str, str]]:
        """Buckets, and what is filed in them."""
        items = all_items(self.world.series, CURRENT)
        return [(item["list"].removeprefix(CURRENT), item["entry"]) for item in items]
