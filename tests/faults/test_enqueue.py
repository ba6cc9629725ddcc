"""stream-enqueuer: any call fails, any batch comes twice, any record is garbage; the neighbours go on."""

from collections.abc import Sequence

from attrs import evolve

from delayer.engines.ports import Outgoing
from delayer.ledger.model import State
from delayer.schedule.instants import HOUR, MINUTE
from delayer.schedule.schedule_id import RecordKey
from delayer.schedule.table_change import ChangeKind
from delayer.schedule.tables import SCHEDULES
from tests.fakes.faults import FaultPlan
from tests.fakes.messaging import MemoryQueue
from tests.faults.cases import every_fault, spoiled
from tests.faults.scenarios import check_fired_once, check_sound, soon_and_later
from tests.looking import all_rows, put_item
from tests.world import START, World


def test_every_fault() -> None:
    """Each fires once all the same. It takes some seconds, for 116 faults."""
    for case, world in every_fault("enqueue", soon_and_later):
        check_fired_once(case, world)


def test_every_batch_twice() -> None:
    """A second send has another nonce: the ledger lets one of the two through."""
    world = spoiled("enqueue", soon_and_later, FaultPlan(), duplicated=True)
    check_fired_once("duplicated", world)
    assert world.delayer_queue.sent > 5, "the second copies were really sent"
    assert world.handed_over() == 5


def test_every_fault_with_every_batch_twice() -> None:
    """No fault makes two copies fire. It takes some seconds, for 136 faults."""
    for case, world in every_fault("enqueue", soon_and_later, duplicated=True):
        check_fired_once(case, world)


def garbage_beside_good(world: World) -> None:
    """A record that nobody can read, removed between two good ones."""
    world.post(START + MINUTE)
    key = RecordKey(bucket="nonsense", due="x")
    put_item(world.table, {"bucket": key.bucket, "due": key.due}, {"v": 1})
    world.table.delete([key])
    world.post(START + MINUTE)
    world.run_out(START + HOUR)


def test_garbage_is_dead_lettered_and_its_neighbours_fire() -> None:
    for case, world in every_fault("enqueue", garbage_beside_good):
        check_fired_once(case, world)
        assert len(world.store.list("dead-lettered/malformed/", "", 10)) == 1, case


def removed_by_hand(world: World) -> None:
    """An operator deletes a record an hour before it is due."""
    schedule = world.post(START + HOUR)
    assert schedule is not None
    address = schedule.address
    world.table.delete([RecordKey(bucket=address.bucket.key, due=address.sort_key(schedule.id))])
    world.run_out(START + 2 * HOUR)


def test_a_record_removed_by_hand_is_neither_fired_nor_forgotten() -> None:
    for case, world in every_fault("enqueue", removed_by_hand):
        check_sound(case, world)
        assert world.target.reached == [], case
        row = world.row(world.accepted[0])
        assert row is not None
        assert row.state is State.DEAD_LETTERED, case
        assert len(world.store.objects) == 1, case


def test_a_failed_send_takes_no_neighbour_along() -> None:
    """Of a batch of REMOVE records of which every second cannot be sent, exactly those are reported."""
    world = World()
    for _ in range(4):
        world.post(START + MINUTE)
    world.table.delete(list(all_rows(world.table)))
    removed = [change for change in world.feed.records[SCHEDULES] if change.kind is ChangeKind.REMOVE]
    enqueue = evolve(world.enqueue, delayer_queue=FailsEverySecond(world.clock))
    assert enqueue(removed) == [removed[0].sequence, removed[2].sequence]


class FailsEverySecond(MemoryQueue):
    """SQS answers 200, and names some messages in `Failed[]`."""

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        return list(range(len(messages)))[::2]
