"""A target that takes so many attempts at a time gets no more, and no function keeps seats that it does not use."""

import json
from typing import Any

import pytest
from attrs import evolve

from delayer.engines.memory import ManualClock, MemoryObserver, Tokens
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import entry_key
from delayer.flow.repository import HOLD, SLOTS_LIST, StoredSeats
from delayer.flow.room import PATIENCE
from delayer.flow.rules.block import EVERY, Block, BlockKind, Party
from delayer.flow.rules.gate import NEEDED, TERM, SeatHold, seats_of
from delayer.flow.use_cases.seats import ASKED_AGAIN, HeldSeats, Seats
from delayer.flow.words import limited, suspended
from delayer.ledger.model import State
from delayer.schedule.instants import MINUTE, SECOND
from delayer.schedule.messages import ExecutorMessage
from tests.fakes.faults import Fault, FaultPlan, faulty
from tests.looking import all_rows, put_item, put_row
from tests.samples import NOW, OWNER, an_executor_message, claimed
from tests.tables import on_sqlite, preceded
from tests.unit.execute.test_execute import delivered as to_executor
from tests.unit.flow.use_cases.test_limits import down, messages, world_with
from tests.unit.flow.use_cases.test_limits import writes as lines_written
from tests.unit.relay.test_relay import delivered as to_relay
from tests.world import World

PARTY = Party(owner=OWNER, target="http-request target")
TWO = limited(PARTY, NOW - MINUTE, 0, "", concurrency=2)
OF_ALL = limited(Party(owner=EVERY, target=PARTY.target), NOW - MINUTE, 0, "", concurrency=3)


def an_environment(rows: StoredSeats, clock: ManualClock | None = None, name: str = "e") -> Seats:
    tokens = Tokens()
    return Seats(
        clock=clock or ManualClock(NOW), seat_rows=rows, new_token=lambda: name + tokens(), observer=MemoryObserver()
    )


def taken(rows: StoredSeats, limit: Block = TWO) -> int:
    row = all_rows(rows).get(seats_of(limit))
    return row.taken if row else 0


def take(rows: StoredSeats, *holds: SeatHold) -> None:
    """They stand in the row of `TWO`, whatever stood there."""
    texts = {HOLD + one.id: one.text for one in holds}
    put_item(rows, entry_key(SLOTS_LIST, seats_of(TWO)), {"taken": sum(one.number for one in holds), **texts})


def one(seats: Seats, *limits: Block) -> list[HeldSeats]:
    """A seat of each for an attempt, as a room takes them; none if one of them is full."""
    seats.expect(dict.fromkeys(limits, 1))
    mine = seats.one(limits)
    return [] if isinstance(mine, Block) else mine


def test_a_batch_is_one_write_and_its_end_another() -> None:
    plan = FaultPlan()
    rows = faulty(on_sqlite(StoredSeats), plan)
    seats = an_environment(rows)
    seats.expect({TWO: 2})
    for _ in range(10):
        mine = one(seats, TWO)
        assert seats.lacking(mine, [TWO]) is None
        seats.leave(mine)
    assert seats.lacking([], [TWO]) == TWO
    assert (len(plan.seen), taken(rows)) == (1, 2)
    seats.give_back()
    assert (len(plan.seen), taken(rows)) == (2, 0)
    seats.give_back()
    assert len(plan.seen) == 2


def test_of_those_that_are_free_it_takes_as_many_as_there_are() -> None:
    rows = on_sqlite(StoredSeats)
    an_environment(rows, name="a").expect({OF_ALL: 2})
    other = an_environment(rows, name="b")
    other.expect({OF_ALL: 10})
    assert taken(rows, OF_ALL) == 3
    assert one(other, OF_ALL)
    assert not one(other, OF_ALL), "there are three"


def test_who_finds_none_asks_rarely() -> None:
    plan, clock = FaultPlan(), ManualClock(NOW)
    rows = faulty(on_sqlite(StoredSeats), plan)
    an_environment(rows, name="a").expect({TWO: 2})
    late = an_environment(rows, clock)
    for _ in range(10):
        assert not one(late, TWO), "all are taken"
        clock.move(ASKED_AGAIN // 10)
    assert len(plan.seen) == 1 + 1
    assert not one(late, TWO)
    assert len(plan.seen) == 1 + 2


def test_what_a_dead_environment_had_is_free_when_its_time_is_over() -> None:
    rows, clock = on_sqlite(StoredSeats), ManualClock(NOW)
    an_environment(rows, name="dead").expect({TWO: 2})
    clock.move(TERM - 1)
    other = an_environment(rows, clock)
    assert not one(other, TWO), "it may be at work"
    clock.move(SECOND)
    assert one(other, TWO)


def test_no_attempt_begins_that_would_outlast_its_seat() -> None:
    rows, clock = on_sqlite(StoredSeats), ManualClock(NOW)
    seats = an_environment(rows, clock)
    mine = one(seats, TWO)
    clock.move(TERM - NEEDED)
    assert seats.lacking(mine, [TWO]) is None
    clock.move(1)
    assert seats.lacking(mine, [TWO]) == TWO


def test_what_is_given_back_too_late_is_not_given_back_twice() -> None:
    rows, clock = on_sqlite(StoredSeats), ManualClock(NOW)
    frozen = an_environment(rows, clock, "a")
    frozen.expect({TWO: 2})
    clock.move(TERM)
    other = an_environment(rows, clock, "b")
    other.expect({TWO: 2})
    frozen.give_back()
    assert taken(rows) == 2
    other.give_back()
    assert taken(rows) == 0


def test_a_limit_that_was_changed_is_asked_anew_and_what_is_under_way_counts() -> None:
    rows = on_sqlite(StoredSeats)
    seats = an_environment(rows)
    changed = limited(PARTY, NOW, 0, "", over=TWO, concurrency=1)
    mine = one(seats, TWO)
    assert not one(seats, changed), "one is under way"
    seats.leave(mine)
    seats.give_back()
    mine = one(seats, changed)
    assert seats.lacking(mine, [changed]) is None
    assert seats.lacking(mine, [TWO]) == TWO


def test_of_several_limits_it_has_a_seat_of_each_or_keeps_none() -> None:
    rows = on_sqlite(StoredSeats)
    seats = an_environment(rows)
    an_environment(rows, name="b").expect({OF_ALL: 3})
    assert not one(seats, TWO, OF_ALL), "one of them is full"
    assert not any(held.used for held in seats.held)


def test_who_gets_no_answer_has_no_seat_and_gives_back_what_it_may_have() -> None:
    plan = FaultPlan(Fault.AFTER, 0)
    rows = faulty(on_sqlite(StoredSeats), plan)
    seats = an_environment(rows)
    seats.expect({TWO: 2})
    for _ in range(2):
        with pytest.raises(Unavailable):
            one(seats, TWO)
    assert len(plan.seen) == 1, "all of a batch learn of it at once"
    assert taken(rows) == 2
    seats.give_back()
    assert taken(rows) == 0


def test_what_is_in_use_at_the_end_is_left_to_its_end() -> None:
    rows = on_sqlite(StoredSeats)
    seats = an_environment(rows)
    assert one(seats, TWO)
    seats.give_back()
    assert taken(rows) == 1


def test_a_lowered_limit_is_free_again_though_more_have_died_than_one_write_clears() -> None:
    rows, clock = on_sqlite(StoredSeats), ManualClock(NOW)
    take(rows, *(SeatHold(id=str(at), number=10, until=NOW) for at in range(50)))
    seats = an_environment(rows, clock)
    asked = [one(seats, TWO)]
    while clock.now() < NOW + PATIENCE:
        clock.move(ASKED_AGAIN)
        asked.append(one(seats, TWO))
    assert any(asked)


# ------------------------------------------------------------ the executor


def claims(world: World, number: int, **changes: Any) -> list[ExecutorMessage]:
    made = [
        evolve(an_executor_message(), schedule=one.schedule, nonce=one.nonce) for one in messages(number, **changes)
    ]
    for one in made:
        put_row(world.ledger, claimed(one.schedule, one.nonce))
    return made


def writes(world: World) -> int:
    """Requests that write seats."""
    return world.plan.seen.count("StoredSeats.write")


def test_without_such_a_limit_nothing_is_written() -> None:
    world = world_with(limited(Party(owner="another", target=EVERY), NOW, 0, "", concurrency=1))
    assert world.execute(to_executor(*claims(world, 3))) == []
    assert writes(world) == 0


def test_each_attempt_has_a_seat_by_one_write() -> None:
    world = world_with(TWO)
    assert world.execute(to_executor(*claims(world, 5))) == []
    assert len(world.target.reached) == 5
    assert writes(world) == 3, "two are taken, the third is refused, and at the end they are given back"


def full_world() -> World:
    world = world_with(TWO)
    take(world.seat_rows, SeatHold(id="x", number=2, until=NOW + MINUTE))
    return world


def test_what_finds_no_seat_waits_without_an_attempt_and_the_relay_knows() -> None:
    world = full_world()
    assert world.execute(to_executor(*claims(world, 1))) == []
    assert world.target.reached == []
    [row] = all_rows(world.ledger).values()
    assert (row.state, row.attempt) == (State.CLAIMED, 1)
    assert BlockKind.CROWD in {block.kind for block in world.blocks.rows(latest=True).blocks}
    assert world.relay(to_relay(*messages(2))) == []
    assert len(world.delayer_queue.messages) == 2, "what is not claimed yet waits unclaimed"
    world.clock.move(MINUTE)
    while batch := world.http_queue.receive():
        world.http_queue.settle(batch, world.execute(batch))
    assert len(world.target.reached) == 1


def test_what_never_finds_a_seat_fails_at_its_age() -> None:
    world = full_world()
    [message] = claims(world, 1, retry=json.dumps({"maxAgeSeconds": 60}))
    take(world.seat_rows, SeatHold(id="x", number=2, until=NOW + 10 * MINUTE))
    world.execute(to_executor(message))
    for _ in range(4):
        world.clock.move(30 * SECOND)
        while batch := world.http_queue.receive():
            world.http_queue.settle(batch, world.execute(batch))
    [row] = all_rows(world.ledger).values()
    assert row.state is State.FAILED
    assert row.detail == (
        "gave up without an attempt, as maxAgeSeconds (60) ended while it waited: "
        "at most 2 attempts at a time reach target"
    )


def test_if_no_seat_can_be_taken_nothing_passes_and_it_comes_again() -> None:
    world = world_with(TWO)
    world.seat_rows = preceded(world.seat_rows, down)
    world.build()
    assert world.execute(to_executor(*claims(world, 2))) == ["m0", "m1"]
    assert world.target.reached == []


def test_what_is_suspended_takes_no_seat() -> None:
    world = world_with(TWO, suspended(PARTY, NOW, "", ""))
    assert world.execute(to_executor(*claims(world, 1))) == []
    assert writes(world) == 0


def test_a_limit_that_is_set_meanwhile_counts_at_the_last_look() -> None:
    world = world_with()
    [message] = claims(world, 1)

    def set_meanwhile(_: ExecutorMessage) -> None:
        if not writes(world):
            world.blocks.change(TWO)
            world.clock.move(3 * SECOND)

    object.__setattr__(world.execute, "permit", set_meanwhile)
    assert world.execute(to_executor(message)) == []
    assert writes(world) == 2, "it is taken, and given back"
    assert len(world.target.reached) == 1


def test_a_rate_and_a_number_at_a_time_are_both_kept() -> None:
    world = world_with(limited(PARTY, NOW - MINUTE, 100_000, "", concurrency=2))
    assert world.execute(to_executor(*claims(world, 3))) == []
    assert [at - NOW for at, _ in world.target.reached] == [50, 150, 250]
    assert (lines_written(world), writes(world)) == (1, 2)
