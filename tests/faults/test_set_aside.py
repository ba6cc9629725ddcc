"""dlq-set-aside: what comes to a dead-letter queue is kept, marked, and can be put back."""

from delayer.aws.kept_schedules import schedules_in
from delayer.core.instants import HOUR, MINUTE
from delayer.core.lifecycle import State
from delayer.ports import Delivery, Outgoing
from delayer.use_cases.operate import Operate
from tests.faults.cases import every_fault
from tests.faults.scenarios import check_fired_once, check_sound
from tests.world import PERIOD, START, World


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
    operate = _operate(world)
    (key,) = [entry["key"] for entry in operate.list() if entry["scheduleId"]]
    content = world.store.objects[key]
    operate.put_back(key)
    world.store.objects[key] = content  # it died before it deleted the body
    operate.put_back(key)
    world.run_until(world.clock.now() + HOUR)
    check_fired_once("put back", world)


def test_thrown_away_is_dropped() -> None:
    world = World()
    relay_is_broken(world)
    operate = _operate(world)
    for entry in operate.list():
        operate.throw_away(entry["key"])
    row = world.row(world.accepted[0])
    assert row is not None
    assert row.state is State.DROPPED
    assert world.store.objects == {}


def _operate(world: World) -> Operate:
    return Operate(
        clock=world.clock,
        ledger=world.ledger,
        store=world.store,
        schedules=world.table,
        delayer_queue=world.delayer_queue,
        observer=world.observer,
        read=schedules_in,
        new_nonce=world._tokens,
        period=PERIOD,
    )
