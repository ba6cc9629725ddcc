"""dlq-set-aside: what comes to a dead-letter queue is kept, marked, and can be put back."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from attrs import define, evolve, field

from delayer.core.enqueueing import Kind
from delayer.core.executing import Refused, Retry
from delayer.core.instants import HOUR, MINUTE, SECOND
from delayer.core.lifecycle import State
from delayer.core.schedule import Schedule
from delayer.core.wire import encode, to_delayer
from delayer.ports import Delivery, Outgoing
from delayer.use_cases.operate import Contents, Impossible
from tests.faults.cases import every_fault
from tests.faults.scenarios import check_fired_once, check_sound
from tests.world import START, World


def relay_is_broken(world: World) -> None:
    """Ten deliveries in vain, and the message is in the dead-letter queue."""
    healthy = world.relay
    world.relay = _broken  # type: ignore[assignment] # only called
    world.post(START + MINUTE)
    world.delayer_queue.send([Outgoing("{}", 0)])
    world.run_until(START + HOUR)
    world.relay = healthy


def _broken(deliveries: list[Delivery]) -> list[str]:
    return [delivery.message_id for delivery in deliveries]


def test_every_fault() -> None:
    for case, world in every_fault("drain", relay_is_broken):
        check_sound(case, world)
        row = world.row(world.accepted[0])
        assert row is not None
        assert row.state is State.SET_ASIDE, case
        assert len(world.store.objects) == 2, case
        assert world.target.reached == [], case


def test_put_back_fires_once_however_often_it_is_repeated() -> None:
    world = World()
    relay_is_broken(world)
    operate = world.operate
    (key,) = [entry["key"] for entry in operate.list()["kept"] if entry["scheduleId"]]
    content = world.store.objects[key]
    operate.put_back(key)
    world.store.objects[key] = content  # it died before it deleted the body
    operate.put_back(key)
    world.run_until(world.clock.now() + HOUR)
    check_fired_once("put back", world)


def test_thrown_away_is_dropped() -> None:
    world = World()
    relay_is_broken(world)
    operate = world.operate
    for entry in operate.list()["kept"]:
        operate.throw_away(entry["key"])
    row = world.row(world.accepted[0])
    assert row is not None
    assert row.state is State.DROPPED
    assert world.store.objects == {}


def test_two_put_backs_at_a_time_fire_once() -> None:
    """The second read the row before the first changed it: its compare-and-set fails."""
    world = World()
    relay_is_broken(world)
    operate = world.operate
    (key,) = [entry["key"] for entry in operate.list()["kept"] if entry["scheduleId"]]
    seen = world.ledger.read(world.accepted[0].id)
    assert seen is not None
    [message] = operate.read(world.store.objects[key]).messages
    operate.put_back(key)
    world.run_until(world.clock.now() + HOUR)
    with pytest.raises(Impossible, match="became executed in the meantime"):
        operate._reopen(message, seen, "n-late")
    check_fired_once("two put-backs", world)


def test_put_back_of_what_is_far_ahead_goes_to_the_table() -> None:
    """Removed by hand, put back: it waits there as before, and fires at its time."""
    world = World()
    schedule = world.post(START + 2 * HOUR)
    assert schedule is not None
    world.table.delete(list(world.table.rows))
    world.run_until(START + MINUTE)
    operate = world.operate
    (key,) = [entry["key"] for entry in operate.list()["kept"]]
    world.store.objects[key] = world.store.objects[key].replace(
        json.dumps(_raw(schedule)).encode(), json.dumps(encode(to_delayer(schedule, ""))).encode()
    )
    assert operate.put_back(key)["stillKept"] is False
    assert list(world.table.rows.values()) == [evolve(schedule, created_at=world.clock.now())]
    world.run_until(START + 3 * HOUR)
    check_fired_once("put back into the table", world)
    assert world.reached(schedule) == [schedule.point_in_time]


def _raw(schedule: Schedule) -> str:
    """The fake's stand-in for a stream record."""
    return f"REMOVE:{schedule!r}"


def test_a_stale_delivery_in_the_dead_letter_queue_does_not_end_a_live_chain() -> None:
    """The delivery of the first attempt turns up there while the fifth is on its way."""
    world = World()
    world.target.answers = [Retry("HTTP 503")] * 4
    world.post(START + SECOND)
    world.run_until(START + 3 * SECOND)
    first = encode(world.target.reached[0][1])
    world.run_until(START + 30 * SECOND)
    world.dead.send([Outgoing(first)])
    world.run_until(START + HOUR)
    check_fired_once("stale delivery", world, reached_at_most=5)
    assert world.store.objects == {}


def test_thrown_away_without_a_row_has_an_end_all_the_same() -> None:
    """What Lambda gave up on has no ledger row; after this, nobody has to wonder where it is."""
    world = World()
    schedule = world.post(START + HOUR)
    assert schedule is not None
    world.table.rows.clear()  # gone, and its stream record with it
    world.store.objects["aws/lambda/batch"] = b"stands for the batch"
    operate = evolve(world.operate, read=lambda _: Contents(messages=(to_delayer(schedule, ""),)))
    operate.throw_away("aws/lambda/batch")
    row = world.row(schedule)
    assert row is not None
    assert row.state is State.DROPPED
    assert world.store.objects == {}


def test_a_body_that_is_not_settled_stays_kept() -> None:
    """One of its records cannot be read by this version: the object is kept for the next one."""
    world = World()
    schedule = world.post(START + HOUR)
    assert schedule is not None
    world.table.rows.clear()
    world.store.objects["aws/lambda/batch"] = b"stands for the batch"
    operate = evolve(world.operate, read=lambda _: Contents(messages=(to_delayer(schedule, ""),), unreadable=1))
    assert operate.put_back("aws/lambda/batch")["stillKept"] is True
    assert operate.put_back("aws/lambda/batch")["stillKept"] is True
    assert "aws/lambda/batch" in world.store.objects
    world.run_until(START + 2 * HOUR)
    check_fired_once("put back twice", world)


@define
class Interrupted:
    """A store in which somebody else is at work just before or after one call."""

    store: Any
    before: dict[str, Callable[[], object]] = field(factory=dict)
    after: dict[str, Callable[[], object]] = field(factory=dict)

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            self.before.pop(name, lambda: None)()
            told = getattr(self.store, name)(*arguments)
            self.after.pop(name, lambda: None)()
            return told

        return call


@pytest.mark.parametrize("moment", ["between body and mark", "between mark and the second look"])
def test_a_put_back_while_the_same_record_is_set_aside_once_more(moment: str) -> None:
    """Far ahead, removed by hand, and delivered again by the stream: whoever wins, it fires or its body is kept."""
    world = World()
    schedule = world.post(START + 2 * HOUR)
    assert schedule is not None
    world.table.delete(list(world.table.rows))
    world.run_until(START + MINUTE)
    operate = evolve(world.operate, read=lambda content: Contents(messages=(to_delayer(schedule, ""),)))
    (key,) = [entry["key"] for entry in operate.list()["kept"]]
    removal = [change for change in world.table.stream if change.kind is Kind.REMOVE][-1:]
    store = Interrupted(world.store)

    def put_back() -> object:
        return operate.put_back(key)

    (store.after if moment == "between body and mark" else store.before)["keep"] = put_back
    again = evolve(world.enqueue.set_aside, store=store)
    with suppress(Impossible):
        evolve(world.enqueue, set_aside=again)(removal)
    world.run_until(START + 3 * HOUR)
    row = world.row(schedule)
    assert row
    fired = row.state is State.EXECUTED and world.reached(schedule) == [schedule.point_in_time]
    kept = row.state is State.SET_ASIDE and bool(world.store.objects)
    assert fired or kept, row


def test_a_put_back_while_an_executor_gives_up() -> None:
    """The body is kept, the end is not written yet: the put-back leaves both alone."""
    world = World()
    world.target.answers = [Refused("HTTP 404")]
    schedule = world.post(START + SECOND)
    assert schedule is not None
    operate = world.operate
    store = Interrupted(world.store)

    def put_back() -> object:
        (key,) = world.store.objects
        return operate.put_back(key)

    store.after["keep"] = put_back
    world.execute = evolve(world.execute, set_aside=evolve(world.execute.set_aside, store=store))
    world.run_until(START + MINUTE)
    row = world.row(schedule)
    assert row
    assert row.state is State.FAILED
    assert len(world.store.objects) == 1
