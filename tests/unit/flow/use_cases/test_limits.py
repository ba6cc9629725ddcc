"""A target that is limited is reached in its turns alone: by the relay, by the executor, and by both together."""

import json
from collections.abc import Sequence
from typing import Any

from attrs import evolve

from delayer.actions.rules.model import Done, Result, Retry
from delayer.engines.ports import ReceivedMessage, Unavailable
from delayer.engines.store.model import entry_key
from delayer.flow.repository import SLOTS_LIST
from delayer.flow.rules.block import EVERY, Block, Party, opened
from delayer.flow.rules.limit import TOLERANCE, line_of
from delayer.flow.words import limited, suspended
from delayer.ledger.model import State
from delayer.schedule.instants import MINUTE, SECOND, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage, Slot, decode, encode
from tests.fakes.faults import faulty
from tests.fakes.messaging import MemoryQueue
from tests.looking import all_rows, put_item, put_row
from tests.samples import NOW, OWNER, a_claim, a_delayer_message, an_executor_message, claimed
from tests.tables import preceded
from tests.unit.execute.test_execute import delivered as to_executor
from tests.unit.relay.test_relay import delivered as to_relay
from tests.world import LEAD, World

PARTY = Party(owner=OWNER, target="http-request target")
TEN = limited(PARTY, NOW - MINUTE, 100_000, "")  # a second
HOURLY = limited(PARTY, NOW - MINUTE, 3_600_000_000, "")
OF_ALL = limited(Party(owner=EVERY, target=PARTY.target), NOW - MINUTE, 1_000_000, "")
PATIENT = json.dumps({"maxAgeSeconds": 60})


def world_with(*blocks: Block, answers: tuple[Result, ...] = ()) -> World:
    world = World()
    for block in blocks:
        assert world.blocks.change(block)
    world.target.answers = list(answers)
    world.lines, world.seat_rows = faulty(world.lines, world.plan), faulty(world.seat_rows, world.plan)
    world.build()
    return world


def writes(world: World) -> int:
    """Requests that write lines."""
    return world.plan.seen.count("StoredLines.write")


def messages(number: int, due: Millis = NOW, **changes: Any) -> list[DelayerMessage]:
    return [a_delayer_message(due, nonce=f"n{at}", randomness=bytes([at]) * 8, **changes) for at in range(number)]


def ahead(world: World, limit: Block, by: Millis) -> None:
    """Others have booked the line so far."""
    put_item(world.lines, entry_key(SLOTS_LIST, line_of(limit)), {"next": (world.clock.now() + by) * 1_000})


def waiting(world: World) -> list[DelayerMessage]:
    return [decode(one.body, DelayerMessage) for one in world.delayer_queue.messages]


def reached(world: World) -> list[Millis]:
    return [at - NOW for at, _ in world.target.reached]


def relays(world: World) -> None:
    """Until its queue has nothing that is visible."""
    while batch := world.delayer_queue.receive():
        done(world.delayer_queue, batch, world.relay(batch))


def executes(world: World) -> None:
    """The same."""
    while batch := world.http_queue.receive():
        done(world.http_queue, batch, world.execute(batch))


def done(queue: MemoryQueue, batch: Sequence[ReceivedMessage], failed: Sequence[str]) -> None:
    assert failed == []
    queue.settle(batch, failed)


# ------------------------------------------------------------ the relay


def test_without_limits_no_line_is_touched() -> None:
    world = world_with(limited(Party(owner="another", target=EVERY), NOW, 1_000, ""))
    assert world.relay(to_relay(*messages(3))) == []
    executes(world)
    assert writes(world) == 0
    assert len(world.target.reached) == 3


def test_a_batch_is_one_write_and_each_has_its_turn() -> None:
    world = world_with(TEN)
    assert world.relay(to_relay(*messages(10))) == []
    assert writes(world) == 1
    handed = [decode(one.body, ExecutorMessage) for one in world.http_queue.messages]
    assert [one.slots for one in handed] == [(Slot(line=line_of(TEN), at=NOW + LEAD + 100 * at),) for at in range(10)]


def test_what_has_its_turn_later_waits_unclaimed_with_its_turn() -> None:
    """So it can still be cancelled. Its message comes before its turn, and its turn is its own."""
    world = world_with(TEN)
    ahead(world, TEN, MINUTE)
    assert world.relay(to_relay(*messages(2))) == []
    assert all_rows(world.ledger) == {}
    assert [one.slots[0].at for one in waiting(world)] == [NOW + MINUTE, NOW + MINUTE + 100]
    before = writes(world)
    world.clock.move(59 * SECOND)
    relays(world)
    assert writes(world) == before, "it has its turn"
    assert world.clock.now() >= NOW + MINUTE - LEAD
    executes(world)
    assert reached(world) == [MINUTE, MINUTE + 100]


def test_beyond_fifteen_minutes_it_hops_and_keeps_its_turn() -> None:
    world = world_with(HOURLY)
    ahead(world, HOURLY, 40 * MINUTE)
    world.relay(to_relay(*messages(1)))
    for _ in range(2):
        world.clock.move(15 * MINUTE)
        relays(world)
        assert all_rows(world.ledger) == {}
    world.clock.move(10 * MINUTE - SECOND)
    relays(world)
    assert len(all_rows(world.ledger)) == 1
    assert writes(world) == 2, "one that was refused, one that booked"


def test_a_turn_makes_nothing_earlier() -> None:
    world = world_with(TEN)
    assert world.relay(to_relay(*messages(2, NOW + 2 * SECOND))) == []
    executes(world)
    assert reached(world) == [2 * SECOND, 2 * SECOND + 100]


def test_a_turn_of_a_limit_that_is_gone_is_void() -> None:
    world = world_with(HOURLY)
    ahead(world, HOURLY, 40 * MINUTE)
    world.relay(to_relay(*messages(1)))
    world.blocks.remove(HOURLY)
    world.clock.move(15 * MINUTE)
    relays(world)
    executes(world)
    assert reached(world) == [15 * MINUTE]


def test_a_turn_of_a_limit_that_was_raised_is_booked_anew() -> None:
    world = world_with(HOURLY)
    ahead(world, HOURLY, 40 * MINUTE)
    world.relay(to_relay(*messages(1)))
    world.blocks.change(limited(PARTY, NOW, 100_000, "", over=HOURLY))
    world.clock.move(15 * MINUTE)
    relays(world)
    executes(world)
    assert reached(world) == [15 * MINUTE + LEAD]


def test_what_could_not_wait_for_its_turn_books_none_and_fails_at_its_age() -> None:
    world = world_with(TEN)
    ahead(world, TEN, 2 * MINUTE)
    before = all_rows(world.lines)
    assert world.relay(to_relay(*messages(1, retry=PATIENT))) == []
    assert all_rows(world.ledger) == {}, "it can be cancelled until then"
    for _ in range(4):
        world.clock.move(20 * SECOND)
        relays(world)
        executes(world)
    [row] = all_rows(world.ledger).values()
    assert row.state is State.FAILED
    assert row.detail == (
        "gave up without an attempt, as maxAgeSeconds (60) ended while it waited: at most 10 a second reach target"
    )
    assert all_rows(world.lines) == before
    assert reached(world) == []


def test_what_is_late_by_an_outage_takes_a_turn_that_is_free() -> None:
    """A limit gives up what has to wait for it for too long, and not what waited for others."""
    world = world_with(TEN)
    world.clock.move(30 * SECOND)
    assert world.relay(to_relay(*messages(1, due=NOW - 40 * SECOND, retry=PATIENT))) == []
    executes(world)
    assert len(reached(world)) == 1
    assert [row.state for row in all_rows(world.ledger).values()] == [State.EXECUTED]


def test_what_comes_back_too_old_to_its_executor_takes_a_turn_that_is_free() -> None:
    """As after a crash: what its first attempt came to is not known."""
    world = world_with(TEN)
    late = claims(world, 1, retry=PATIENT)
    world.clock.move(2 * MINUTE)
    assert world.execute(to_executor(*late)) == []
    assert len(reached(world)) == 1
    assert [row.state for row in all_rows(world.ledger).values()] == [State.EXECUTED]


def test_what_is_suspended_books_no_turn() -> None:
    world = world_with(TEN, suspended(PARTY, NOW, "", ""))
    world.relay(to_relay(*messages(2)))
    assert writes(world) == 0


def test_what_is_suspended_after_its_claim_books_no_turn() -> None:
    world = world_with(TEN, suspended(PARTY, NOW, "", ""))
    put_row(world.ledger, a_claim())
    assert world.execute(to_executor(an_executor_message())) == []
    assert writes(world) == 0
    assert reached(world) == []


def test_who_was_to_probe_and_has_its_turn_later_lets_another_one_probe() -> None:
    world = world_with(TEN, opened(PARTY, NOW - 10 * SECOND, "HTTP 503"))
    ahead(world, TEN, MINUTE)
    world.relay(to_relay(*messages(1)))
    [circuit] = [block for block in world.blocks.rows(latest=True).blocks if block.pauses]
    assert circuit.probe == ""


def down() -> None:
    raise Unavailable("down")


def test_if_no_turn_can_be_booked_nothing_passes() -> None:
    world = world_with(TEN)
    world.lines = preceded(world.lines, down)
    world.build()
    assert world.relay(to_relay(*messages(2))) == ["m0", "m1"]
    assert all_rows(world.ledger) == {}
    put_row(world.ledger, a_claim())
    assert world.execute(to_executor(an_executor_message())) == ["m0"]
    assert reached(world) == []


def test_a_message_without_turns_is_written_as_before() -> None:
    """What does not know them reads what is not limited."""
    assert "slots" not in encode(a_delayer_message())
    assert "slots" not in encode(an_executor_message())
    assert "notBefore" not in encode(an_executor_message())


def test_a_second_message_of_the_same_schedule_books_no_turn() -> None:
    world = world_with(TEN)
    ahead(world, TEN, MINUTE)
    due = to_relay(*messages(1))
    world.relay(due)
    rows = all_rows(world.lines)
    assert world.relay(due) == []
    assert all_rows(world.lines) == rows
    assert len(waiting(world)) == 1


# ------------------------------------------------------------ the executor


def claims(world: World, number: int, **changes: Any) -> list[ExecutorMessage]:
    made = [
        evolve(an_executor_message(), schedule=one.schedule, nonce=one.nonce) for one in messages(number, **changes)
    ]
    for one in made:
        put_row(world.ledger, claimed(one.schedule, one.nonce))
    return made


def test_what_comes_without_a_turn_books_one_for_the_batch() -> None:
    """As from the relaxed lane, which claims without asking."""
    world = world_with(TEN)
    assert world.execute(to_executor(*claims(world, 3))) == []
    assert writes(world) == 1
    assert reached(world) == [50, 150, 250]


def test_a_turn_that_was_missed_is_booked_anew() -> None:
    world = world_with(TEN)
    [message] = claims(world, 1)
    late = evolve(message, slots=(Slot(line=line_of(TEN), at=NOW - TOLERANCE - 1),))
    ahead(world, TEN, 2 * SECOND)
    assert world.execute(to_executor(late)) == []
    assert reached(world) == [2 * SECOND]


def test_a_turn_far_away_is_waited_for_without_an_attempt() -> None:
    world = world_with(TEN)
    ahead(world, TEN, 20 * SECOND)
    assert world.execute(to_executor(*claims(world, 1))) == []
    [row] = all_rows(world.ledger).values()
    assert (row.state, row.attempt, row.retry_at) == (State.CLAIMED, 1, NOW + 20 * SECOND)
    [again] = world.http_queue.messages
    assert again.visible_at <= NOW + 19 * SECOND
    world.clock.move(19 * SECOND)
    before = writes(world)
    executes(world)
    assert reached(world) == [20 * SECOND]
    assert writes(world) == before


def test_a_retry_books_its_turn_when_it_is_due() -> None:
    world = world_with(TEN, answers=(Retry(detail="HTTP 429"),))
    world.execute(to_executor(*claims(world, 1, retry=json.dumps({"maxAttempts": 2, "backoff": {"first": 10}}))))
    assert writes(world) == 1
    [again] = world.http_queue.messages
    assert decode(again.body, ExecutorMessage).slots == ()
    world.clock.move(again.visible_at - world.clock.now())
    ahead(world, TEN, SECOND)
    due = world.clock.now()
    executes(world)
    assert world.target.reached[1][0] == due + SECOND
    assert [type(answer) for answer in world.target.answers] == []


def test_a_retry_that_is_not_due_for_long_books_no_turn_at_its_hops() -> None:
    policy = json.dumps({"maxAttempts": 2, "backoff": {"first": 3_600, "factor": 1, "max": 3_600}})
    world = world_with(TEN, answers=(Retry(detail="HTTP 429"),))
    world.execute(to_executor(*claims(world, 1, retry=policy)))
    for _ in range(3):
        world.clock.move(15 * MINUTE)
        executes(world)
    assert writes(world) == 1
    for _ in range(3):
        world.clock.move(6 * MINUTE)
        executes(world)
    assert len(world.target.reached) == 2
    assert writes(world) == 2


def test_what_has_become_too_old_in_the_line_fails() -> None:
    world = world_with(TEN)
    ahead(world, TEN, 2 * MINUTE)
    world.execute(to_executor(*claims(world, 1, retry=PATIENT)))
    for _ in range(3):
        world.clock.move(25 * SECOND)
        executes(world)
    [row] = all_rows(world.ledger).values()
    assert row.state is State.FAILED
    assert "maxAgeSeconds (60) ended while it waited: at most 10 a second reach target" in row.detail


def test_a_limit_that_is_set_meanwhile_counts_at_the_last_look() -> None:
    world = world_with()
    [message] = claims(world, 1)

    def set_meanwhile(_: ExecutorMessage) -> None:
        if not writes(world):
            world.blocks.change(TEN)
            world.clock.move(3 * SECOND)

    object.__setattr__(world.execute, "permit", set_meanwhile)
    assert world.execute(to_executor(message)) == []
    assert writes(world) == 1
    assert len(world.target.reached) == 1


# ------------------------------------------------------------ several limits


def test_of_two_limits_each_is_kept() -> None:
    world = world_with(TEN, OF_ALL)
    for message in messages(3):
        assert world.relay(to_relay(message)) == []
        executes(world)
    assert reached(world) == [LEAD, SECOND + LEAD, 2 * SECOND + LEAD]
    assert set(all_rows(world.lines)) == {line_of(TEN), line_of(OF_ALL)}


def test_a_long_line_pushes_no_other_one_ahead() -> None:
    """Else one owner's backlog would keep all others from a target that has room for them."""
    world = world_with(HOURLY, limited(Party(owner=EVERY, target=PARTY.target), NOW, 100_000, ""))
    ahead(world, HOURLY, 40 * MINUTE)
    world.relay(to_relay(*messages(5)))
    assert set(all_rows(world.lines)) == {line_of(HOURLY)}


def test_if_the_other_line_is_longer_then_both_are_booked_at_its_turn() -> None:
    world = world_with(TEN, OF_ALL)
    [message] = claims(world, 1)
    ahead(world, TEN, 2 * SECOND)
    assert world.execute(to_executor(message)) == []
    assert reached(world) == [2 * SECOND]
    assert all_rows(world.lines)[line_of(OF_ALL)] <= (NOW + 3_100) * 1_000


# ------------------------------------------------------------ all of it


def test_a_minute_of_a_limited_target_with_failures() -> None:
    """60 at once, of which each tenth fails once."""
    fails = tuple(Retry(detail="HTTP 429") if at % 10 == 3 else Done("ok") for at in range(60))
    world = world_with(TEN, answers=fails)
    policy = json.dumps({"maxAttempts": 3, "backoff": {"first": 5, "factor": 1, "max": 5}})
    due = messages(60, retry=policy)
    for first in range(0, 60, 10):
        assert world.relay(to_relay(*due[first : first + 10])) == []
    for _ in range(120):
        relays(world)
        executes(world)
        world.clock.move(100)
    made = sorted(at for at, _ in world.target.reached)
    assert len(made) == 66
    assert {row.state for row in all_rows(world.ledger).values()} == {State.EXECUTED}
    for first in made:
        assert sum(first <= at < first + SECOND for at in made) <= 12
        assert sum(first <= at < first + 10 * SECOND for at in made) <= 105


# ------------------------------------------------------------ what is late for another reason


def test_what_was_suspended_for_longer_than_its_age_has_its_turn() -> None:
    """Its age counts from when the limit itself has kept it waiting."""
    block = suspended(PARTY, NOW, "", "")
    world = world_with(TEN, block)
    ahead(world, TEN, 10 * SECOND)
    world.relay(to_relay(*messages(1, retry=PATIENT)))
    world.clock.move(5 * MINUTE)
    world.blocks.remove(block)
    relays(world)
    executes(world)
    assert reached(world) == [5 * MINUTE + LEAD], "there is nobody in the line any more"


def test_what_an_outage_has_made_late_waits_for_its_turn() -> None:
    world = world_with(TEN)
    ahead(world, TEN, 10 * SECOND)
    world.relay(to_relay(*messages(1, due=NOW - 5 * MINUTE, retry=PATIENT)))
    world.clock.move(9 * SECOND)
    relays(world)
    executes(world)
    assert reached(world) == [10 * SECOND]


def test_what_its_own_rule_would_drop_before_its_turn_books_none() -> None:
    world = world_with(TEN)
    ahead(world, TEN, MINUTE)
    world.relay(to_relay(*messages(3, on_late='{"after":"PT30S","do":"drop"}')))
    assert all_rows(world.lines) == {line_of(TEN): (NOW + MINUTE) * 1_000}
    world.clock.move(32 * SECOND)
    relays(world)
    assert [row.state for row in all_rows(world.ledger).values()] == [State.DROPPED] * 3


def test_a_retry_that_would_be_too_old_at_its_turn_books_none() -> None:
    world = world_with(TEN, answers=(Retry(detail="HTTP 503", after_seconds=5),))
    [message] = claims(world, 1, retry=PATIENT)
    world.execute(to_executor(message))
    ahead(world, TEN, 70 * SECOND)
    before = all_rows(world.lines)
    world.clock.move(5 * SECOND)
    executes(world)
    assert all_rows(world.lines) == before
