"""Replacing: by name or by id, one of the two fires, whoever comes in between."""

from collections.abc import Callable
from functools import partial

import pytest
from attrs import define, evolve, field

from delayer.accept.ports import ScheduleTransaction
from delayer.accept.repository import StoredRegistry
from delayer.accept.rules.request import ScheduleRequest
from delayer.accept.rules.status import Expired, MayBeRunning, NameTaken, NotFound, OnItsWay, TooLate
from delayer.accept.use_cases.once import ROUNDS, with_name
from delayer.accept.use_cases.replace import Replace, Replaced
from delayer.actions.rules.model import Done, Result
from delayer.dead_letters.dead_letter import DeadLetters, undeliverable
from delayer.engines.ports import Unavailable
from delayer.history import cloud_events
from delayer.history.model import Original
from delayer.history.ports import JournalEntry
from delayer.ledger.model import LedgerRow, State, named
from delayer.schedule.instants import ATTEMPT_OVER, DAY, HOUR, MINUTE, SECOND, STALE_AFTER, Millis
from delayer.schedule.messages import ExecutorMessage, encode
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import key_of
from delayer.wiring.build import build
from tests.fakes.faults import Crash, Fault, FaultPlan, faulty
from tests.looking import all_rows, empty, put_row, take_row
from tests.samples import a_definition, claimed
from tests.tables import preceded
from tests.world import START, World

OWNER = "owner"
NAME = "invoice 17"


@define(slots=False)
class Stand:
    """A world, and its names."""

    world: World = field(factory=World)
    journaled: bool = False
    meanwhile: tuple[Callable[[], object], ...] = ()  # what others do, each before a transaction of the registry

    def __attrs_post_init__(self) -> None:
        self.registry = preceded(self.world.registry, self.others_come, ["transact"])
        self.replace = self.replace_under(None)

    def others_come(self) -> None:
        if self.meanwhile:
            first, *rest = self.meanwhile
            self.meanwhile = tuple(rest)
            first()

    def replace_under(self, plan: FaultPlan | None) -> Replace:
        world = self.world
        return evolve(
            world.replace,
            ledger=faulty(world.ledger, plan) if plan else world.ledger,
            records=faulty(world.table, plan) if plan else world.table,
            registry=faulty(self.registry, plan) if plan else self.registry,
            optional_journal=world.journal if self.journaled else None,
        )

    def by_name(self, due: Millis = START + 2 * HOUR, payload: str = "1", name: str = NAME) -> Schedule:
        answer = self.replace.by_name(a_request(due, payload), OWNER, name)
        assert isinstance(answer, Replaced)
        return answer.schedule

    def row(self, schedule: Schedule) -> LedgerRow:
        row: LedgerRow = all_rows(self.world.ledger)[schedule.id]
        return row

    def claim(self, schedule: Schedule, revision: int = 1) -> LedgerRow:
        """A relay claims it, over whatever row there is."""
        row = claimed(schedule, now=self.world.clock.now())
        current = all_rows(self.world.ledger).get(schedule.id)
        row = evolve(row, revision=revision + 1 if current else 1, name=current.name if current else "")
        put_row(self.world.ledger, row)
        return row

    def end(self, schedule: Schedule, state: State) -> LedgerRow:
        """Whatever came before it."""
        current = self.row(schedule)
        row = evolve(current, state=state, revision=current.revision + 1, at=self.world.clock.now())
        put_row(self.world.ledger, row)
        return row

    def posted(self, due: Millis = START + 2 * HOUR) -> Schedule:
        schedule = self.world.post(due)
        assert schedule
        return schedule

    def holder(self) -> str | None:
        row = self.registry.named(OWNER, NAME)
        return row.schedule_id if row else None

    def fired(self) -> list[str]:
        """The ids that reached the target, after all have had their time."""
        self.world.run_until(self.world.clock.now() + 3 * HOUR)
        self.world.check_nothing_left()
        assert self.world.store.objects == {}
        return [message.schedule.id for _, message in self.world.target.reached]


def a_request(due: Millis = START + 2 * HOUR, payload: str = "1") -> ScheduleRequest:
    return ScheduleRequest(
        point_in_time=due, definition=a_definition(action='{"type":"http-request"}', payload=payload)
    )


# ------------------------------------------------------------ by name


def test_the_first_of_a_name_is_created() -> None:
    """Its record, its row and its name, at once; it takes nobody's place."""
    stand = Stand()
    answer = stand.replace.by_name(a_request(), OWNER, NAME)
    assert isinstance(answer, Replaced)
    new = answer.schedule
    assert answer.previous is None
    assert all_rows(stand.world.table) == {key_of(new.id): new}
    assert stand.row(new) == named(new.id, OWNER, NAME, START)
    assert stand.holder() == new.id
    assert stand.world.observer.counts["Accepted"] == 1
    assert stand.fired() == [new.id]


def test_the_next_of_a_name_takes_its_place() -> None:
    stand = Stand()
    old = stand.by_name(payload="1")
    answer = stand.replace.by_name(a_request(START + HOUR, "2"), OWNER, NAME)
    assert isinstance(answer, Replaced)
    assert answer.previous == old.id
    assert (stand.row(old).state, stand.row(old).replaced_by) == (State.REPLACED, answer.schedule.id)
    assert stand.holder() == answer.schedule.id
    assert all_rows(stand.world.table) == {key_of(answer.schedule.id): answer.schedule}
    assert stand.fired() == [answer.schedule.id]


def test_a_name_belongs_to_its_owner() -> None:
    """The same name of two owners names two schedules."""
    stand = Stand()
    mine = stand.by_name()
    theirs = stand.replace.by_name(a_request(), "another", NAME)
    assert isinstance(theirs, Replaced)
    assert theirs.previous is None
    assert sorted(stand.fired()) == sorted([mine.id, theirs.schedule.id])


def test_a_namesake_in_the_queue_is_replaced() -> None:
    """Its message cannot be taken back; its claim is refused."""
    stand = Stand()
    stand.by_name(START + 5 * MINUTE)
    stand.world.run_until(START + MINUTE)
    assert stand.world.delayer_queue.messages
    new = stand.by_name(START + 6 * MINUTE)
    assert stand.fired() == [new.id]


def test_a_claimed_namesake_is_too_late() -> None:
    """It is being done just now: nothing is written."""
    stand = Stand()
    old = stand.by_name()
    row = stand.claim(old)
    assert stand.replace.by_name(a_request(), OWNER, NAME) == TooLate(row)
    assert stand.holder() == old.id
    assert list(all_rows(stand.world.table)) == [key_of(old.id)]


@pytest.mark.parametrize("state", [State.EXECUTED, State.CANCELLED, State.DROPPED])
def test_a_name_moves_on_from_an_end(state: State) -> None:
    """The end of the old one stays true."""
    stand = Stand()
    old = stand.by_name()
    row = stand.end(old, state)
    answer = stand.replace.by_name(a_request(), OWNER, NAME)
    assert isinstance(answer, Replaced)
    assert answer.previous is None
    assert stand.row(old) == row
    assert stand.holder() == answer.schedule.id


@pytest.mark.parametrize("state", [State.FAILED, State.DEAD_LETTERED])
def test_what_could_be_redriven_is_replaced(state: State) -> None:
    """Or there would be two of the name. But not while an attempt from before may be under way."""
    stand = Stand()
    old = stand.by_name()
    stand.claim(old)
    row = stand.end(old, state)
    stand.world.clock.move(ATTEMPT_OVER - 1)
    assert stand.replace.by_name(a_request(), OWNER, NAME) == MayBeRunning(row=row, wait=1)
    assert stand.replace.by_name(a_request(), OWNER, NAME, only_new=True) == NameTaken(old.id)
    assert stand.row(old) == row
    stand.world.clock.move(1)
    new = stand.by_name()
    assert (stand.row(old).state, stand.row(old).replaced_by) == (State.REPLACED, new.id)


def test_a_name_moves_on_from_what_is_too_old() -> None:
    """Whether its row is gone or not: it is not written again."""
    stand = Stand()
    old = stand.by_name(START + HOUR)
    take_row(stand.world.ledger, old.id)
    stand.world.clock.move(HOUR + STALE_AFTER + 1)
    new = stand.by_name(stand.world.clock.now() + HOUR)
    assert stand.holder() == new.id
    assert old.id not in all_rows(stand.world.ledger)


def test_a_namesake_without_a_row_is_taken_for_live() -> None:
    """It has one as a rule; without it, ending it is the safe side."""
    stand = Stand()
    old = stand.by_name()
    empty(stand.world.ledger)
    new = stand.by_name()
    assert (stand.row(old).state, stand.row(old).revision) == (State.REPLACED, 1)
    assert stand.fired() == [new.id]


def test_a_claim_that_comes_first_wins() -> None:
    """Between the read and the transaction: it is read again."""
    stand = Stand()
    old = stand.by_name()
    stand.meanwhile = (lambda: stand.claim(old),)
    assert isinstance(stand.replace.by_name(a_request(), OWNER, NAME), TooLate)
    assert stand.row(old).state is State.CLAIMED
    assert stand.holder() == old.id


def test_a_namesake_that_comes_first_is_replaced_in_turn() -> None:
    """Of three one fires, the last."""
    stand = Stand()
    first = stand.by_name()
    seconds: list[Schedule] = []
    stand.meanwhile = (lambda: seconds.append(stand.by_name()),)
    third = stand.by_name()
    assert stand.row(first).replaced_by == seconds[0].id
    assert stand.row(seconds[0]).replaced_by == third.id
    assert stand.fired() == [third.id]


def test_two_that_create_the_same_name_are_one_in_the_end() -> None:
    stand = Stand()
    firsts: list[Schedule] = []
    stand.meanwhile = (lambda: firsts.append(stand.by_name()),)
    second = stand.by_name()
    assert stand.row(firsts[0]).replaced_by == second.id
    assert stand.fired() == [second.id]


def test_it_gives_up_when_others_change_it_all_the_time() -> None:
    """The client may try again; nothing of its own was written."""
    stand = Stand()
    stand.by_name()
    stand.meanwhile = tuple(lambda: stand.world.registry.replace(_another(stand)) for _ in range(ROUNDS))
    with pytest.raises(Unavailable, match="all the time"):
        stand.replace.by_name(a_request(payload="mine"), OWNER, NAME)
    assert not [
        row
        for row in all_rows(stand.world.table).values()
        if isinstance(row, Schedule) and row.definition.payload == "mine"
    ]


def _another(stand: Stand) -> ScheduleTransaction:
    """A bare change of the name's holder."""
    new = stand.world.accept.ids.issue(a_request(), OWNER)
    return with_name(ScheduleTransaction(put=new), NAME, stand.registry.named(OWNER, NAME), START)


# ------------------------------------------------------------ by id


def by_id(
    stand: Stand, schedule: Schedule, point_in_time: Millis | None = None, payload: str | None = None
) -> Schedule:
    answer = stand.replace.by_id(schedule.id, OWNER, point_in_time=point_in_time, payload=payload)
    assert isinstance(answer, Replaced)
    assert answer.previous == schedule.id
    return answer.schedule


@pytest.mark.parametrize("point_in_time", [None, START + HOUR])
@pytest.mark.parametrize("payload", [None, '{"a": 2}', ""])
def test_what_is_not_given_stays(point_in_time: Millis | None, payload: str | None) -> None:
    """All but the id and the instant of acceptance."""
    stand = Stand()
    old = stand.posted()
    stand.world.clock.move(MINUTE)
    new = by_id(stand, old, point_in_time, payload)
    assert new == evolve(
        old,
        id=new.id,
        created_at=START + MINUTE,
        point_in_time=old.point_in_time if point_in_time is None else point_in_time,
        definition=old.definition if payload is None else evolve(old.definition, payload=payload),
    )
    assert new.id != old.id
    assert new.address.due == new.point_in_time
    assert (stand.row(old).state, stand.row(old).replaced_by) == (State.REPLACED, new.id)
    assert new.id not in all_rows(stand.world.ledger), "without a name there is no row before the claim"
    assert stand.fired() == [new.id]


def test_a_name_moves_along() -> None:
    """The new one is found by it, and can be replaced by it."""
    stand = Stand()
    old = stand.by_name()
    new = by_id(stand, old, payload="2")
    assert stand.holder() == new.id
    assert stand.row(new) == named(new.id, OWNER, NAME, START)
    third = stand.by_name()
    assert stand.row(new).replaced_by == third.id
    assert stand.fired() == [third.id]


def test_what_was_redriven_into_the_table_is_replaced() -> None:
    stand = Stand()
    old = stand.posted()
    row = LedgerRow(
        schedule_id=old.id, owner=OWNER, state=State.SCHEDULED, revision=7, at=START, expires_at=old.point_in_time
    )
    put_row(stand.world.ledger, row)
    new = by_id(stand, old, payload="2")
    assert stand.row(old).revision == 8
    assert stand.fired() == [new.id]


@pytest.mark.parametrize("state", [State.FAILED, State.DEAD_LETTERED, State.SCHEDULED])
@pytest.mark.parametrize("point_in_time", [None, START + 3 * HOUR + 5 * MINUTE])
def test_what_has_failed_is_given_another_payload_and_fires_however_late(
    state: State, point_in_time: Millis | None
) -> None:
    """Also what was redriven, and still waits. With another time, its rule for lateness counts from that one."""
    stand, rule = Stand(), '{"after":"PT10M","do":"drop"}'
    old = stand.posted()
    late = evolve(old, definition=evolve(old.definition, on_late=rule))
    stand.world.table.put(late)
    stand.claim(late)
    row = stand.end(late, state)
    put_row(stand.world.ledger, evolve(row, detail="redriven" if state is State.SCHEDULED else "HTTP 400"))
    stand.world.clock.sleep_until(START + 3 * HOUR)
    answer = stand.replace.by_id(old.id, OWNER, point_in_time=point_in_time, payload="2")
    assert isinstance(answer, Replaced)
    assert answer.schedule.definition.on_late == (rule if point_in_time else "")
    due = point_in_time or START + 3 * HOUR
    stand.world.run_until(due + MINUTE)
    [at] = [at for at, _ in stand.world.target.reached]
    assert due <= at < due + SECOND


def test_what_waits_keeps_its_rule_for_lateness() -> None:
    stand, rule = Stand(), '{"after":"PT10M","do":"drop"}'
    old = stand.posted()
    stand.world.table.put(evolve(old, definition=evolve(old.definition, on_late=rule)))
    assert by_id(stand, old, payload="2").definition.on_late == rule


@pytest.mark.parametrize("schedule_id", ["its own", "no id", ""])
def test_what_was_never_issued_is_not_found_without_a_read(schedule_id: str) -> None:
    stand, plan = Stand(), FaultPlan()
    text = stand.posted().id if schedule_id == "its own" else schedule_id
    owner = "another" if schedule_id == "its own" else OWNER
    assert stand.replace_under(plan).by_id(text, owner, point_in_time=None, payload="2") == NotFound()
    assert plan.seen == []


def test_what_is_in_the_queue_is_on_its_way() -> None:
    """Its definition cannot be read; it is not touched, and fires."""
    stand = Stand()
    old = stand.posted(START + 5 * MINUTE)
    stand.world.run_until(START + MINUTE)
    assert stand.replace.by_id(old.id, OWNER, point_in_time=None, payload="2") == OnItsWay(soon=False)
    assert stand.fired() == [old.id]


def test_one_on_its_way_is_changed_if_the_journal_knows_it() -> None:
    """Whether it may be is the ledger's word, as always: the old one's message is refused."""
    stand = Stand(journaled=True)
    old = stand.posted(START + 5 * MINUTE)
    stand.world.run_until(START + MINUTE)
    assert stand.replace.by_id(old.id, OWNER, point_in_time=None, payload="2") == OnItsWay(soon=True), (
        "its events have not arrived there yet"
    )
    stand.world.update_journal()
    answer = stand.replace.by_id(old.id, OWNER, point_in_time=None, payload="2")
    assert isinstance(answer, Replaced)
    assert (answer.schedule.definition.payload, answer.schedule.point_in_time) == ("2", old.point_in_time)
    assert answer.schedule.definition == evolve(old.definition, payload="2")
    assert stand.row(old).replaced_by == answer.schedule.id
    assert stand.fired() == [answer.schedule.id]


def test_what_the_journal_remembers_of_one_that_is_handed_over_is_no_reason_to_change_it() -> None:
    stand = Stand(journaled=True)
    old = stand.posted(START + 5 * MINUTE)
    stand.world.update_journal()
    stand.world.run_until(START + 6 * MINUTE)
    answer = stand.replace.by_id(old.id, OWNER, point_in_time=None, payload="2")
    assert isinstance(answer, TooLate)
    assert answer.row.state is State.EXECUTED
    assert stand.fired() == [old.id]


def test_a_definition_without_its_payload_does_for_a_new_payload() -> None:
    """It was too large for an event; the old one cannot be taken over."""
    stand = Stand(journaled=True)
    old = stand.posted(START + 5 * MINUTE)
    stand.world.update_journal()
    stand.world.run_until(START + MINUTE)
    without = Original(schedule=evolve(old, definition=evolve(old.definition, payload="")), is_complete=False)
    [beginning] = stand.world.journal.history(old.id, OWNER)
    shorter = evolve(beginning, original=without)
    stand.world.journal.write([JournalEntry(event=shorter, text=cloud_events.encode(shorter))], DAY)
    later = START + 10 * MINUTE
    assert stand.replace.by_id(old.id, OWNER, point_in_time=later, payload=None) == OnItsWay(soon=False)
    answer = stand.replace.by_id(old.id, OWNER, point_in_time=later, payload="2")
    assert isinstance(answer, Replaced)
    assert (answer.schedule.definition.payload, answer.schedule.point_in_time) == ("2", later)


def test_a_journal_that_does_not_answer_is_one_that_knows_nothing() -> None:
    stand = Stand()
    old = stand.posted(START + 5 * MINUTE)
    stand.world.update_journal()
    stand.world.run_until(START + MINUTE)
    replace = evolve(stand.replace, optional_journal=faulty(stand.world.journal, FaultPlan(Fault.BEFORE, 0)))
    assert replace.by_id(old.id, OWNER, point_in_time=None, payload="2") == OnItsWay(soon=True)
    assert stand.fired() == [old.id]


@pytest.mark.parametrize("state", [State.EXECUTED, State.FAILED, State.CANCELLED, State.DEAD_LETTERED])
def test_what_has_ended_is_answered_with_its_end(state: State) -> None:
    """Also what could be redriven: its body is in the store, not in the table."""
    stand = Stand()
    old = stand.posted()
    stand.claim(old)
    row = stand.end(old, state)
    empty(stand.world.table)
    assert stand.replace.by_id(old.id, OWNER, point_in_time=None, payload="2") == TooLate(row)


@pytest.mark.parametrize("state", [State.FAILED, State.DEAD_LETTERED])
def test_what_could_be_redriven_is_changed_if_the_journal_knows_it(state: State) -> None:
    """Its record left the table long ago, and no attempt of it is under way any more."""
    stand = Stand(journaled=True)
    old = stand.posted()
    stand.world.update_journal()
    empty(stand.world.table)
    stand.claim(old)
    row = stand.end(old, state)
    call = partial(stand.replace.by_id, old.id, OWNER, point_in_time=START + HOUR, payload=None)
    assert call() == MayBeRunning(row=row, wait=ATTEMPT_OVER)
    stand.world.clock.move(ATTEMPT_OVER)
    answer = call()
    assert isinstance(answer, Replaced)
    assert (stand.row(old).state, stand.row(old).replaced_by) == (State.REPLACED, answer.schedule.id)
    assert answer.schedule.definition == old.definition


def test_an_attempt_that_outlives_the_mark_is_over_before_another_takes_its_place() -> None:
    """Its executor had read the row just before: it succeeds 45 seconds later, and nothing fires besides."""
    stand = Stand()
    old = stand.by_name(START + SECOND)
    answers: list[object] = []

    def reach(message: ExecutorMessage) -> Result:
        take = build(DeadLetters, stand.world.ports("relay")).take
        take(undeliverable(encode(message), "its queue gave up on it", message))
        answers.append(stand.replace.by_name(a_request(payload="2"), OWNER, NAME))
        return Done("HTTP 200")

    stand.world.execute = evolve(stand.world.execute, target=reach)
    stand.world.run_until(START + MINUTE)
    assert [type(answer) for answer in answers] == [MayBeRunning]
    assert stand.row(old).state is State.EXECUTED
    stand.world.check_nothing_left()


@pytest.mark.parametrize("record", [True, False])
def test_what_is_claimed_is_too_late(record: bool) -> None:
    """A record may be there: that of a second copy."""
    stand = Stand()
    old = stand.posted()
    row = stand.claim(old)
    if not record:
        empty(stand.world.table)
    assert stand.replace.by_id(old.id, OWNER, point_in_time=None, payload="2") == TooLate(row)


@pytest.mark.parametrize("record", [True, False])
def test_what_is_too_old_is_answered_so(record: bool) -> None:
    stand = Stand()
    old = stand.posted(START + HOUR)
    if not record:
        empty(stand.world.table)
    stand.world.clock.move(HOUR + STALE_AFTER + 1)
    assert stand.replace.by_id(old.id, OWNER, point_in_time=None, payload="2") == Expired()


def test_a_claim_between_read_and_transaction_wins() -> None:
    stand = Stand()
    old = stand.posted()
    stand.meanwhile = (lambda: stand.claim(old),)
    answer = stand.replace.by_id(old.id, OWNER, point_in_time=None, payload="2")
    assert answer == TooLate(stand.row(old))
    assert list(all_rows(stand.world.table)) == [key_of(old.id)]


def test_a_sweep_between_read_and_transaction_is_no_obstacle() -> None:
    """The record moves on meanwhile; the end in the ledger stops its copy."""
    stand = Stand()
    old = stand.posted(START + 5 * MINUTE)
    stand.meanwhile = (lambda: stand.world.run_until(START + MINUTE),)
    new = by_id(stand, old, START + HOUR)
    assert stand.fired() == [new.id]


def test_two_changes_at_a_time_leave_one_schedule() -> None:
    """The answer to the second says which schedule took the place."""
    stand = Stand()
    old = stand.posted()
    others: list[Schedule] = []
    stand.meanwhile = (lambda: others.append(by_id(stand, old, payload="2")),)
    answer = stand.replace.by_id(old.id, OWNER, point_in_time=None, payload="3")
    assert answer == TooLate(stand.row(old))
    assert stand.row(old).replaced_by == others[0].id
    assert stand.fired() == [others[0].id]


def test_it_gives_up_on_one_that_others_change_all_the_time() -> None:
    """Redriven again and again, say."""
    stand = Stand()
    old = stand.posted()

    def touch() -> None:
        current = all_rows(stand.world.ledger).get(old.id)
        revision = current.revision + 1 if current else 1
        put_row(stand.world.ledger, evolve(named(old.id, OWNER, "", START), revision=revision))

    stand.meanwhile = (touch,) * ROUNDS
    with pytest.raises(Unavailable, match="all the time"):
        stand.replace.by_id(old.id, OWNER, point_in_time=None, payload="2")


# ------------------------------------------------------------ faults

FAULTS = list(Fault)


def after_a_fault(call: Callable[[], object]) -> object:
    """The answer, or None if there was none."""
    try:
        return call()
    except (Unavailable, Crash):
        return None


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_every_fault_by_name_then_again(fault: Fault, at: int) -> None:
    """Name, row, transaction: an answer that was lost, and the repeat. One fires, and it is the one last answered."""
    stand, plan = Stand(), FaultPlan(fault, at)
    stand.by_name()
    request = a_request(START + HOUR, "2")
    assert after_a_fault(lambda: stand.replace_under(plan).by_name(request, OWNER, NAME)) is None
    assert plan.seen == ["StoredRegistry.get", "StoredLedger.get", "StoredRegistry.transact"][: at + 1]
    new = stand.by_name(START + HOUR, "2")
    assert stand.fired() == [new.id]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_every_fault_by_id_then_again(fault: Fault, at: int) -> None:
    """Row, record, transaction. A repeat whose first went through is answered which schedule took the place."""
    stand, plan = Stand(), FaultPlan(fault, at)
    old = stand.posted()
    failing = stand.replace_under(plan)
    assert after_a_fault(lambda: failing.by_id(old.id, OWNER, point_in_time=START + HOUR, payload=None)) is None
    assert plan.seen == ["StoredLedger.get", "StoredScheduleTable.get", "StoredRegistry.transact"][: at + 1]
    answer = stand.replace.by_id(old.id, OWNER, point_in_time=START + HOUR, payload=None)
    done = at == 2 and fault in (Fault.AFTER, Fault.CRASH_AFTER)
    assert isinstance(answer, TooLate if done else Replaced)
    assert stand.fired() == [stand.row(old).replaced_by]


def test_a_transaction_that_the_sdk_repeats_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first try went through unseen; the same transaction again finds its own rows."""
    stand = Stand()
    old = stand.by_name()
    tried: list[ScheduleTransaction] = []
    once = StoredRegistry.replace

    def twice(registry: StoredRegistry, transaction: ScheduleTransaction) -> bool:
        tried.append(transaction)
        return once(registry, transaction) and once(registry, transaction)

    monkeypatch.setattr(StoredRegistry, "replace", twice)
    answer = stand.replace.by_name(a_request(), OWNER, NAME)
    assert isinstance(answer, Replaced)
    assert (len(tried), answer.previous) == (1, old.id)
    assert stand.fired() == [answer.schedule.id]
