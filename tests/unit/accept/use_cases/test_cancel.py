"""Cancelling: answered only if it is true, wherever the schedule is, and however often it is asked."""

from collections.abc import Sequence
from functools import partial

import pytest
from attrs import evolve, frozen

from delayer.accept.ports import NameRow
from delayer.accept.rules.status import Expired, NotFound, TooLate, decide_replace
from delayer.accept.use_cases.cancel import Cancel, Cancelled
from delayer.engines.ports import Unavailable
from delayer.ledger.model import LedgerChange, LedgerRow, State
from delayer.records.repository import StoredScheduleTable
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, STALE_AFTER, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import RecordKey, key_of
from tests.fakes.faults import Crash, Fault, FaultPlan, faulty
from tests.looking import all_rows, put_row
from tests.samples import claimed
from tests.tables import Comes, in_turn, preceded
from tests.world import PERIOD, START, World

OWNER = "owner"
FAULTS = [Fault.BEFORE, Fault.AFTER, Fault.CRASH_BEFORE, Fault.CRASH_AFTER]


def a_cancel(world: World, plan: FaultPlan | None = None) -> Cancel:
    """With its ports under a plan, if there is one."""
    if plan is None:
        return world.cancel
    return evolve(
        world.cancel,
        ledger=faulty(world.ledger, plan),
        records=faulty(world.table, plan),
        registry=faulty(world.registry, plan),
    )


def posted(world: World, due: Millis = START + DAY) -> Schedule:
    schedule = world.post(due)
    assert schedule
    return schedule


def test_a_schedule_in_the_table_never_fires() -> None:
    """The day that passes takes some seconds: each minute of it is played."""
    world = World()
    schedule = posted(world)
    answer = a_cancel(world)(schedule.id, OWNER)
    assert answer == Cancelled(all_rows(world.ledger)[schedule.id])
    assert all_rows(world.ledger)[schedule.id].state is State.CANCELLED
    assert all_rows(world.table) == {}
    world.run_until(START + DAY + HOUR)
    assert world.target.reached == []
    assert world.store.objects == {}, "the REMOVE of what was cancelled is nothing to dead-letter"
    assert world.observer.counts["Cancelled"] == 1


@pytest.mark.parametrize("due", [START + 5 * MINUTE, START + PERIOD + 5 * MINUTE], ids=["fast track", "swept"])
def test_a_schedule_in_the_queue_never_fires(due: Millis) -> None:
    """Its message cannot be taken back; its claim is refused."""
    world = World()
    schedule = posted(world, due)
    world.run_until(due - MINUTE)
    assert world.delayer_queue.messages
    assert isinstance(a_cancel(world)(schedule.id, OWNER), Cancelled)
    world.run_until(due + HOUR)
    assert world.target.reached == []
    world.check_nothing_left()


def test_a_schedule_that_was_executed_is_answered_so() -> None:
    world = World()
    schedule = posted(world, START + MINUTE)
    world.run_until(START + 2 * MINUTE)
    before = all_rows(world.ledger)[schedule.id]
    assert a_cancel(world)(schedule.id, OWNER) == TooLate(before)
    assert before.state is State.EXECUTED
    assert all_rows(world.ledger)[schedule.id] == before


def test_a_claimed_schedule_is_too_late() -> None:
    """Nothing is deleted either: another copy may be all that is left of it."""
    world = World()
    schedule = posted(world)
    put_row(world.ledger, claimed(schedule))
    assert a_cancel(world)(schedule.id, OWNER) == TooLate(claimed(schedule))
    assert key_of(schedule.id) in all_rows(world.table)


def test_a_cancel_repeated_is_answered_the_same_and_deletes_again() -> None:
    """The first call may have ended before it deleted the record."""
    world = World()
    schedule = posted(world)
    first = a_cancel(world)(schedule.id, OWNER)
    world.table.put(schedule)
    world.clock.move(HOUR)
    assert a_cancel(world)(schedule.id, OWNER) == first
    assert all_rows(world.table) == {}


@pytest.mark.parametrize(
    ("schedule_id", "owner"),
    [("its own", "another"), ("no id", OWNER), ("", OWNER), ("of another stack", OWNER)],
)
def test_what_was_never_issued_is_not_found_without_a_read(schedule_id: str, owner: str) -> None:
    world, plan = World(), FaultPlan()
    mine = posted(world)
    ids = {"its own": mine.id, "of another stack": mine.id[:-1] + ("0" if mine.id[-1] == "g" else "g")}
    assert a_cancel(world, plan)(ids.get(schedule_id, schedule_id), owner) == NotFound()
    assert plan.seen == []


def test_what_is_too_old_is_answered_without_a_read() -> None:
    world, plan = World(), FaultPlan()
    schedule = posted(world, START)
    world.clock.move(STALE_AFTER + 1)
    assert a_cancel(world, plan)(schedule.id, OWNER) == Expired()
    assert plan.seen == []


def test_a_schedule_that_waits_costs_two_requests() -> None:
    """The row and the record; there is no row to be read beforehand, as a rule."""
    world, plan = World(), FaultPlan()
    schedule = posted(world)
    a_cancel(world, plan)(schedule.id, OWNER)
    assert plan.seen == ["StoredLedger.write", "StoredScheduleTable.write_all"]


def test_a_named_schedule_keeps_its_name_in_the_row() -> None:
    world = World()
    schedule = posted(world)
    row = LedgerRow(
        schedule_id=schedule.id, owner=OWNER, state=State.SCHEDULED, revision=1, at=START, expires_at=1, name="a name"
    )
    put_row(world.ledger, row)
    assert isinstance(a_cancel(world)(schedule.id, OWNER), Cancelled)
    current = all_rows(world.ledger)[schedule.id]
    assert (current.name, current.revision) == ("a name", 2)


def among_others(world: World, *deeds: Comes) -> Cancel:
    """Somebody else writes just before each of the first writes."""
    return evolve(a_cancel(world), ledger=preceded(world.ledger, in_turn(*deeds)))


def test_a_claim_that_comes_first_wins() -> None:
    """The cancel learns of it from the write that was refused, and says so."""
    world = World()
    schedule = posted(world)
    cancel = among_others(world, lambda: put_row(world.ledger, claimed(schedule)))
    assert cancel(schedule.id, OWNER) == TooLate(claimed(schedule))
    assert key_of(schedule.id) in all_rows(world.table)


def test_it_is_decided_anew_on_each_row_that_is_in_the_way() -> None:
    """A row of a redrive, then a claim over it."""
    world = World()
    schedule = posted(world)
    redriven = evolve(claimed(schedule), state=State.SCHEDULED, revision=4, nonce="n9", lease_until=0)
    again = evolve(claimed(schedule), revision=5)
    cancel = among_others(world, *(partial(put_row, world.ledger, row) for row in (redriven, again)))
    assert cancel(schedule.id, OWNER) == TooLate(again)


def test_two_cancels_at_a_time_say_the_same() -> None:
    world = World()
    schedule = posted(world)
    other: list[object] = []
    cancel = among_others(world, lambda: other.append(a_cancel(world)(schedule.id, OWNER)))
    assert [cancel(schedule.id, OWNER)] == other
    assert isinstance(other[0], Cancelled)


@frozen(kw_only=True)
class Stubborn(StoredScheduleTable):
    """Deletes nothing."""

    raises: bool

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        if self.raises:
            raise Unavailable("injected")
        return list(keys)


@pytest.mark.parametrize("raises", [False, True])
def test_a_record_left_behind_does_not_change_the_answer(raises: bool) -> None:
    """It moves on in its time, and its claim is refused."""
    world = World()
    schedule = posted(world, START + HOUR)
    stubborn = Stubborn(store=world.items, table=world.table.table, raises=raises)
    cancel = evolve(a_cancel(world), records=stubborn)
    assert isinstance(cancel(schedule.id, OWNER), Cancelled)
    assert "record of a cancelled schedule not deleted" in [event for event, _, _ in world.observer.lines]
    world.run_until(START + 2 * HOUR)
    assert world.target.reached == []
    world.check_nothing_left()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("at", [0, 1])
def test_every_fault_then_again(fault: Fault, at: int) -> None:
    """An answer that was lost: the repeat says the truth, and the schedule does not fire."""
    world, plan = World(), FaultPlan(fault, at)
    schedule = posted(world, START + HOUR)
    answer: object = None
    try:
        answer = a_cancel(world, plan)(schedule.id, OWNER)
    except (Unavailable, Crash):
        world.clock.move(SECOND)
    assert (answer is not None) == (at == 1 and fault in (Fault.BEFORE, Fault.AFTER)), "only a ledger write may raise"
    assert isinstance(a_cancel(world)(schedule.id, OWNER), Cancelled)
    world.run_until(START + 2 * HOUR)
    assert world.target.reached == []
    assert world.store.objects == {}
    world.check_nothing_left()


def test_the_key_of_an_id_is_that_of_its_schedule() -> None:
    world = World()
    schedule = posted(world)
    address = schedule.address
    assert key_of(schedule.id) == RecordKey(bucket=address.bucket.key, due=address.sort_key(schedule.id))
    assert list(all_rows(world.table)) == [key_of(schedule.id)]


def test_a_name_that_goes_on_pointing_at_what_was_replaced_is_not_asked_for_ever() -> None:
    """Someone else replaces it again and again; or a row was restored from a backup. The client repeats."""
    world = World()
    old, new = posted(world), posted(world)
    replaced = decide_replace(old.id, OWNER, None, new.id, START)
    assert isinstance(replaced, LedgerChange)
    put_row(world.ledger, replaced.row)
    put_row(world.registry, NameRow(owner=OWNER, name="n", schedule_id=old.id))
    with pytest.raises(Unavailable, match="try again"):
        a_cancel(world).by_name("n", OWNER)
    assert new.id not in all_rows(world.ledger)
