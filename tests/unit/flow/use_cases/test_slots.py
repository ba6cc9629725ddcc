"""A target that does not answer has half of the attempts that a function makes at a time, and the others go on."""

import json
from contextlib import AbstractContextManager

from attrs import define, evolve, field

from delayer.engines.ports import Clock
from delayer.flow.rules.block import CROWDED, BlockKind, Party, crowded, opened
from delayer.flow.use_cases.breaker import MOST
from delayer.flow.words import suspended
from delayer.ledger.model import State
from delayer.schedule.instants import HOUR, MINUTE, SECOND
from tests.looking import all_rows, put_row
from tests.samples import NOW, OWNER, a_claim, a_delayer_message, an_executor_message, an_id
from tests.unit.execute.test_execute import delivered as to_executor
from tests.unit.flow.use_cases.asked import occupied
from tests.unit.relay.test_relay import delivered as to_relay
from tests.world import World

PARTY = Party(owner=OWNER, target="http-request target")


# ------------------------------------------------------------ the executor and the relay


QUICK = {"type": "http-request", "url": "http://quick/"}


def crowded_world() -> tuple[World, AbstractContextManager[None]]:
    world = World()
    put_row(world.ledger, a_claim())
    return world, occupied(world.execute.room)


def test_what_finds_no_room_waits_without_an_attempt_and_the_relay_knows() -> None:
    world, running = crowded_world()
    with running:
        assert world.execute(to_executor(an_executor_message())) == []
    assert world.target.reached == []
    row = world.ledger.read(an_id())
    assert row
    assert (row.state, row.attempt) == (State.CLAIMED, 1)
    assert row.retry_at == world.clock.now() + 5 * SECOND
    [block] = world.blocks.rows(latest=True).blocks
    assert (block.kind, block.party, block.reason) == (BlockKind.CROWD, PARTY, CROWDED)


def test_what_is_not_claimed_yet_waits_unclaimed_then() -> None:
    world, running = crowded_world()
    with running:
        world.execute(to_executor(an_executor_message()))
    assert world.relay(to_relay(a_delayer_message(nonce="n2", randomness=bytes(8)))) == []
    assert len(world.delayer_queue.messages) == 1
    world.clock.move(5 * SECOND)
    assert world.relay(to_relay(a_delayer_message(nonce="n2", randomness=bytes(8)))) == []
    assert len(world.delayer_queue.messages) == 1, "the crowd is over"


def test_what_was_claimed_takes_the_next_slot_that_is_free() -> None:
    """A crowd makes wait only what is not claimed."""
    world, running = crowded_world()
    with running:
        world.execute(to_executor(an_executor_message()))
    world.clock.move(5 * SECOND)
    [again] = world.http_queue.receive()
    assert world.execute([again]) == []
    assert len(world.target.reached) == 1


def test_a_stop_that_comes_while_it_waits_for_room_is_heeded() -> None:
    """The ledger is read once there is room."""

    @define(slots=False)
    class StopMeanwhile(World):
        seen: list[int] = field(factory=list, init=False)

        def clock_for(self, function: str) -> Clock:
            return Stopping(self) if function == "execute" else super().clock_for(function)

    @define
    class Stopping:
        world: StopMeanwhile

        def now(self) -> int:
            return self.world.clock.now()

        def sleep_until(self, instant: int) -> None:
            self.world.seen.append(instant)
            self.world.clock.sleep_until(instant)
            self.world.stop(an_id(), OWNER)

    world = StopMeanwhile()
    put_row(world.ledger, a_claim())
    with occupied(world.execute.room):
        world.execute(to_executor(an_executor_message()))
    assert world.ledger.read(an_id())
    assert world.seen
    assert world.target.reached == []


def test_a_crowd_is_written_rarely() -> None:
    block = crowded(PARTY, NOW, None)
    assert block
    assert crowded(PARTY, NOW + 1_999, block) is None
    again = crowded(PARTY, NOW + 2_000, block)
    assert again
    assert (again.until, again.since, again.revision) == (NOW + 7_000, NOW, 2)
    later = crowded(PARTY, NOW + 60_000, again)
    assert later
    assert later.since == NOW + 60_000, "another crowd"


def test_the_target_of_a_schedule_is_its_own() -> None:
    """A target that hangs does not keep another one of the same owner from its slots."""
    world, running = crowded_world()
    quick = an_executor_message(action=json.dumps(QUICK))
    with running:
        assert world.execute(to_executor(quick)) == []
    assert len(world.target.reached) == 1


def test_what_finds_no_room_for_long_asks_at_least_once_in_a_minute() -> None:
    world, running = crowded_world()
    world.clock.move(HOUR)
    with running:
        world.execute(to_executor(evolve(an_executor_message(), age_from=NOW)))
    [again] = world.http_queue.messages
    assert 30 * SECOND <= again.visible_at - world.clock.now() <= MINUTE


def test_what_never_finds_room_fails_at_its_age() -> None:
    """It counts from when it found none for the first time: its message says so when it comes again."""
    world = World()
    put_row(world.ledger, a_claim())
    with occupied(world.execute.room):
        world.execute(to_executor(an_executor_message(retry='{"maxAgeSeconds":60}')))
        row = world.ledger.read(an_id())
        assert row
        assert row.state is State.CLAIMED
        [(_, waiting, facts)] = [line for line in world.observer.lines if line[0] == "waits"]
        assert waiting == an_id()
        assert facts["delaySeconds"] == (row.retry_at - world.clock.now()) // SECOND
        world.clock.move(60 * SECOND)
        assert world.execute(world.http_queue.receive()) == []
    row = world.ledger.read(an_id())
    assert row
    assert row.state is State.FAILED
    assert "maxAgeSeconds (60) ended while it waited" in row.detail


def test_a_crowd_that_is_over_takes_no_place_and_one_that_is_not_is_renewed() -> None:
    world, running = crowded_world()
    many = [
        crowded(Party(owner=OWNER, target=f"http-request {number}.example"), world.clock.now(), None)
        for number in range(MOST)
    ]
    for block in many:
        assert block
        world.blocks.change(block)
    with running:
        world.execute(to_executor(an_executor_message()))
        assert len(world.blocks.rows(latest=True).blocks) == MOST, "there are as many as there may be"
        world.clock.move(5 * SECOND)
        [again] = world.http_queue.receive()
        world.execute([again])
        assert len(world.blocks.rows(latest=True).blocks) == MOST + 1, "the others are over"
        world.clock.move(4 * SECOND)
        world.execute.room.breaker.crowded(PARTY)
    renewed = next(block for block in world.blocks.rows(latest=True).blocks if block.party == PARTY)
    assert renewed.until == world.clock.now() + 5 * SECOND


def test_what_waits_for_a_circuit_takes_no_place() -> None:
    """Else each of them would hold one for a second, only to be put off."""
    world, running = crowded_world()
    world.blocks.change(opened(PARTY, world.clock.now(), "HTTP 503"))
    before = world.clock.now()
    with running:
        assert world.execute(to_executor(an_executor_message())) == []
    assert world.clock.now() == before
    assert [block.kind for block in world.blocks.rows(latest=True).blocks] == [BlockKind.CIRCUIT]


def test_a_crowd_that_is_over_begins_anew() -> None:
    world, running = crowded_world()
    with running:
        world.execute.room.breaker.crowded(PARTY)
        world.clock.move(MINUTE)
        world.execute.room.breaker.crowded(PARTY)
    [block] = world.blocks.rows(latest=True).blocks
    assert (block.since, block.until) == (world.clock.now(), world.clock.now() + 5 * SECOND)


def test_what_comes_early_to_a_suspended_target_is_not_given_up_for_want_of_room() -> None:
    """A suspension gives up nothing, however short the `maxAgeSeconds`."""
    world, now = World(), NOW + 2 * MINUTE
    put_row(world.ledger, evolve(a_claim(), retry_at=now + 300))
    world.blocks.change(suspended(PARTY, NOW, "maintenance", "eve"))
    world.clock.move(now - world.clock.now())
    assert world.execute(to_executor(an_executor_message(retry=json.dumps({"maxAgeSeconds": 60})))) == []
    [row] = all_rows(world.ledger).values()
    assert (row.state, row.attempt) == (State.CLAIMED, 1)
    assert row.retry_at > now + 300
