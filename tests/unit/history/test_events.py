"""Lifecycle events: each transition has one, and in whatever order they come, they lead to the same state."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from attrs import Factory, define, evolve, field
from hypothesis import assume, given
from hypothesis import strategies as st

from delayer.dead_letters.rules import redriven, settled
from delayer.history.model import LifecycleEvent, Original, expiry_of, fold, of_record, of_row, original_in
from delayer.ledger.model import TRANSITIONS, EventType, LedgerChange, LedgerRow, State, Transition, named
from delayer.ledger.rules import Claim, contested, decide_claim, ended, ended_unclaimed, hopped, retried, stopped, taken
from delayer.schedule.instants import DAY, HOUR, MINUTE, NEARLY_DUE, ROW_LIFETIME, SECOND, STALE_AFTER, Millis
from delayer.schedule.messages import DelayerMessage
from delayer.schedule.retrying import MAX_AGE_SECONDS
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind, address_of
from delayer.schedule.table_change import ChangeKind, left_at
from tests.samples import LEASE, NOW, OWNER, a_claim, a_delayer_message, a_schedule, an_id

BEGINNING = NOW - 5 * MINUTE


@define
class Life:
    """One schedule, changed as the functions change it; all that the two streams report of it."""

    name: str = ""
    begins: State = State.SCHEDULED  # or `undecided`
    now: Millis = BEGINNING
    state: State = field(default=Factory(lambda self: self.begins, takes_self=True))
    row: LedgerRow | None = None
    events: list[LifecycleEvent] = field(factory=list)
    nonces: int = 0
    left: Millis = 0  # when its record left the table, as the message tells that was sent then

    def __attrs_post_init__(self) -> None:
        self.stored()
        if self.name:
            self.write(named(self.schedule.id, OWNER, self.name, self.now))

    @property
    def schedule(self) -> Schedule:
        kind = IdKind.UNDECIDED if self.begins is State.UNDECIDED else IdKind.PLAIN
        return a_schedule(id=an_id(kind=kind), created_at=BEGINNING)

    def stored(self) -> None:
        self.report(of_record(ChangeKind.INSERT, self.schedule, self.change(), self.now))

    def write(self, row: LedgerRow) -> None:
        self.report(of_row(self.row, row, self.change()))
        self.row = row

    def report(self, event: LifecycleEvent | None) -> None:
        if event:
            self.events.append(event)

    def change(self) -> str:
        return f"change {len(self.events)} at {self.now}"

    def go(self, transition: Transition, later: Millis) -> bool:
        """Whether it could; not all that the table allows is possible for every row."""
        self.now += later
        if transition.event is EventType.ENQUEUED:
            removed = self.now // SECOND * SECOND  # as the stream has it
            self.report(of_record(ChangeKind.REMOVE, self.schedule, self.change(), removed))
            self.left = left_at(ChangeKind.REMOVE, self.schedule, removed, expired=False)
        else:
            row = self.following(transition)
            if row is None:
                return False
            self.write(row)
            self.received_too_late()
        if transition.event is EventType.REDRIVEN and transition.target is State.SCHEDULED:
            self.stored()
            assert self.row
            self.write(settled(self.row))
        self.state = transition.target
        return True

    def received_too_late(self) -> None:
        """What was withdrawn on its way is received by a relay all the same."""
        claim = Claim(message=self.message("n"), fence="d", now=self.now, lease=LEASE)
        if self.row and self.row.ended and isinstance(noted := decide_claim(claim, self.row), LedgerChange):
            self.write(noted.row)

    def message(self, nonce: str) -> DelayerMessage:
        return evolve(a_delayer_message(nonce=nonce), enqueued_at=self.left)

    def following(self, transition: Transition) -> LedgerRow | None:
        row = self.row
        match transition.event:
            case EventType.CLAIMED | EventType.CLAIMED_AGAIN:
                again = transition.event is EventType.CLAIMED_AGAIN
                nonce = row.nonce if row and (again or row.nonce) else f"n{self.nonces}"
                self.now += LEASE if again else 0
                claim = Claim(message=self.message(nonce), fence="d", now=self.now, lease=LEASE)
                verdict = decide_claim(claim, row)
                return verdict.row if isinstance(verdict, LedgerChange) else None
            case EventType.ATTEMPT_FAILED:
                assert row
                return retried(row, f"d{row.revision}", self.now, "HTTP 500")
            case EventType.STOP_REQUESTED:
                assert row
                return None if row.stopped_at else stopped(row, self.now)
            case EventType.REDRIVEN:
                self.nonces += 1
                self.now += 2 * SECOND  # nobody is quicker than that
                self.left = 0
                nonce = f"n{self.nonces}" if transition.target is State.ENQUEUED else ""
                return redriven(a_schedule().id, OWNER, row, nonce, self.now)
        end = (
            ended(row, transition.target, self.now)
            if row
            else ended_unclaimed(self.schedule.id, OWNER, transition.target, self.now, "")
        )
        of_a_message = transition.source is State.ENQUEUED and transition.by != "client"
        return evolve(end, enqueued_at=self.left) if of_a_message else end


steps = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 3 * HOUR)), max_size=20)


@st.composite
def lives(draw: st.DrawFn) -> Life:
    life = Life(
        name=draw(st.sampled_from(["", "a name"])),
        begins=draw(st.sampled_from([State.SCHEDULED, State.UNDECIDED])),
    )
    for which, later in draw(steps):
        possible = [transition for transition in TRANSITIONS if transition.source is life.state]
        if possible:
            life.go(possible[which % len(possible)], later)
    return life


@given(lives(), st.data())
def test_events_in_any_order_fold_to_the_last_state(life: Life, data: st.DataObject) -> None:
    """Late, twice, mixed up: what they add up to is where it is."""
    again = data.draw(st.lists(st.sampled_from(life.events), max_size=10))
    mixed = data.draw(st.permutations([*life.events, *again]))
    assert fold(mixed) is life.state
    assert original_in(mixed) == Original(schedule=life.schedule)


@given(lives())
def test_a_history_is_in_order(life: Life) -> None:
    """As it is sorted, each event could follow the one before it."""
    ordered = sorted(life.events, key=lambda event: event.order)
    of_ledger = [event.revision for event in ordered if event.revision]
    assert of_ledger == sorted(of_ledger)
    assert ordered[0].type is EventType.SCHEDULED
    assert len({event.order for event in ordered}) == len({event.id for event in ordered})


@given(lives(), st.integers(1, 5))
def test_what_is_missing_at_the_end_is_the_state_before(life: Life, missing: int) -> None:
    """A journal that lags shows where the schedule was: never a state that it was not in."""
    assume(len(life.events) > missing)
    seen = sorted(life.events, key=lambda event: event.order)[:-missing]
    assert fold(seen) in {event.state for event in life.events} | {life.begins}


@pytest.mark.parametrize("transition", TRANSITIONS, ids=str)
def test_every_transition_has_its_event(transition: Transition) -> None:
    """One, with the state that it leads to."""
    if transition.source is None:
        [beginning] = Life(begins=transition.target).events
        assert (beginning.type, beginning.state) == (transition.event, transition.target)
        return
    begins = State.UNDECIDED if transition.source is State.UNDECIDED else State.SCHEDULED
    life = Life(begins=begins, state=transition.source)
    if transition.source not in (State.SCHEDULED, State.UNDECIDED):
        life.go(
            Transition(source=State.SCHEDULED, target=State.ENQUEUED, event=EventType.ENQUEUED, by="", adr=2), SECOND
        )
    if transition.source not in (State.SCHEDULED, State.ENQUEUED, State.UNDECIDED):
        life.row = a_claim(state=transition.source, lease_until=0)
    before = len(life.events)
    assert life.go(transition, MINUTE)
    event = life.events[before]
    assert (event.type, event.state, event.schedule_id, event.owner) == (
        transition.event,
        transition.target,
        life.schedule.id,
        OWNER,
    )
    assert fold(life.events) is transition.target


def test_the_attempt_that_failed_is_the_one_that_is_reported() -> None:
    life = Life(row=a_claim(), state=State.CLAIMED)
    assert life.row
    life.write(evolve(retried(life.row, "d2", NOW, "HTTP 500", retry_at=NOW + HOUR), lateness=12))
    life.write(ended(life.row, State.EXECUTED, NOW + SECOND, "HTTP 204"))
    failed, executed = life.events[-2:]
    assert (failed.type, failed.attempt, failed.lateness, failed.detail) == (
        EventType.ATTEMPT_FAILED,
        1,
        12,
        "HTTP 500",
    )
    assert (executed.attempt, executed.lateness, executed.detail) == (2, 12, "HTTP 204")
    assert (failed.next_attempt_at, executed.next_attempt_at) == (NOW + HOUR, 0)


def test_each_attempt_has_its_own_lateness() -> None:
    """The first after its point in time, each other one after the time for which it was planned last."""
    life = Life(row=a_claim(), state=State.CLAIMED)
    assert life.row
    due = address_of(life.row.schedule_id).due
    life.write(retried(life.row, "d2", due + 30, retry_at=due + HOUR, attempted_at=due + 12))
    life.write(hopped(life.row, "d3", due + HOUR, after="d2", retry_at=due + 2 * HOUR))  # its target is paused
    life.write(retried(life.row, "d4", due + 3 * HOUR, retry_at=due + 4 * HOUR, attempted_at=due + 2 * HOUR + 7))
    life.write(ended(life.row, State.EXECUTED, due + 5 * HOUR, attempted_at=due + 4 * HOUR))
    assert [one.attempt_lateness for one in life.events if one.attempt] == [12, 7, 0]


def test_what_ends_without_an_attempt_has_the_lateness_of_none() -> None:
    life = Life(row=a_claim(), state=State.CLAIMED)
    assert life.row
    due = address_of(life.row.schedule_id).due
    life.write(retried(life.row, "d2", due + 30, retry_at=due + HOUR, attempted_at=due + 12))
    life.write(stopped(life.row, due + MINUTE))
    life.write(ended(life.row, State.DROPPED, due + 2 * MINUTE))
    assert [one.attempt_lateness for one in life.events[-3:]] == [12, None, None]


def test_a_stop_is_reported_when_it_was_asked_for() -> None:
    life = Life(row=a_claim(), state=State.CLAIMED)
    assert life.row
    life.write(stopped(life.row, NOW + SECOND))
    assert (life.events[-1].type, life.events[-1].at, life.events[-1].detail) == (
        EventType.STOP_REQUESTED,
        NOW + SECOND,
        "",
    )


@pytest.mark.parametrize(
    ("at", "reported"),
    [
        (NOW - NEARLY_DUE - SECOND, False),
        (NOW - NEARLY_DUE, True),
        (NOW, True),
        (NOW + STALE_AFTER, True),
        (NOW + STALE_AFTER + SECOND, False),
    ],
)
def test_a_removal_that_moves_nothing_is_no_event(at: Millis, reported: bool) -> None:
    """A cancel deletes the record long before; what is too old is dead-lettered."""
    assert bool(of_record(ChangeKind.REMOVE, a_schedule(), "c", at)) is reported


def test_a_removal_is_not_before_the_beginning() -> None:
    """Its time is to the second, rounded down."""
    life = Life()
    life.go(Transition(source=State.SCHEDULED, target=State.ENQUEUED, event=EventType.ENQUEUED, by="", adr=2), 1)
    assert all(one.order < other.order for one, other in pairwise(life.events))


def test_bookkeeping_is_no_event() -> None:
    row = named(a_schedule().id, OWNER, "a name", NOW)
    assert of_row(None, row, "c") is None
    back = redriven(a_schedule().id, OWNER, a_claim(state=State.DEAD_LETTERED), "", NOW)
    assert of_row(back, settled(back), "c") is None
    assert of_record(ChangeKind.MODIFY, a_schedule(), "c", NOW) is None


@pytest.mark.parametrize(
    "note",
    [contested, lambda row: taken(row, "d3"), lambda row: hopped(row, "d3", NOW + HOUR, after="d2")],
    ids=["contested", "taken", "hopped"],
)
def test_a_note_about_the_messages_of_an_attempt_is_no_event(note: Callable[[LedgerRow], LedgerRow]) -> None:
    """It is claimed as before; in a delay of days there would be an event every fifteen minutes."""
    row = retried(a_claim(), "d2", NOW)
    assert of_row(row, note(row), "c") is None


def test_a_redrive_after_another_is_reported() -> None:
    """First to the table, then, still there and due soon, to the queue."""
    first = redriven(a_schedule().id, OWNER, a_claim(state=State.DEAD_LETTERED), "", NOW)
    second = redriven(first.schedule_id, OWNER, first, "n7", NOW + HOUR)
    event = of_row(first, second, "c")
    assert event
    assert (event.type, event.state) == (EventType.REDRIVEN, State.ENQUEUED)
    over_a_name = of_row(named(first.schedule_id, OWNER, "a name", NOW), first, "c")
    assert over_a_name
    assert over_a_name.type is EventType.REDRIVEN


def test_a_row_written_anew_after_its_expiry_counts_from_one() -> None:
    """What was dead-lettered was redriven so late that its row was gone."""
    life = Life(row=a_claim(revision=7), state=State.CLAIMED)
    assert life.row
    life.write(ended(life.row, State.DEAD_LETTERED, NOW))
    life.row = None
    life.now = NOW + ROW_LIFETIME + DAY
    life.write(redriven(a_schedule().id, OWNER, None, "n9", life.now))
    assert fold(life.events) is State.ENQUEUED
    assert fold(reversed(life.events)) is State.ENQUEUED


def test_no_event_no_state() -> None:
    assert fold([]) is None
    assert original_in([]) is None


def test_an_end_expires_so_long_after_the_later_of_due_and_done() -> None:
    [begun] = Life().events
    over = evolve(begun, type=EventType.EXECUTED, state=State.EXECUTED)
    assert expiry_of(over, DAY) == NOW + DAY
    assert expiry_of(evolve(over, at=NOW + HOUR), DAY) == NOW + HOUR + DAY


def test_nothing_expires_before_its_schedule_can_have_ended_and_the_days_after_that() -> None:
    """The longest retries take fourteen days; a suspension as long as the ledger's row is there."""
    [begun] = Life().events
    latest_end = evolve(begun, type=EventType.FAILED, state=State.FAILED, at=NOW + ROW_LIFETIME)
    for event in (begun, evolve(begun, type=EventType.CLAIMED, state=State.CLAIMED)):
        assert expiry_of(event, 7 * DAY) == NOW + ROW_LIFETIME + 7 * DAY == expiry_of(latest_end, 7 * DAY)
    assert ROW_LIFETIME > MAX_AGE_SECONDS * SECOND
