"""Changes of the table on their way into the delayer queue."""

from collections.abc import Sequence

from attrs import evolve

from delayer.core.ledger.lifecycle import State
from delayer.core.recovery.dead_letter import decode as decode_dead_letter
from delayer.core.schedule.instants import DAY, MINUTE, SECOND
from delayer.core.schedule.malformed import Malformed
from delayer.core.schedule.margins import STALE_AFTER
from delayer.core.schedule.messages import DelayerMessage, decode
from delayer.core.schedule.table_change import Heartbeat, Kind, RecordChange
from delayer.fakes import MemoryQueue
from delayer.fakes.runtime.faults import Fault, FaultPlan, Faulty
from delayer.ports.queue import Outgoing
from delayer.use_cases.firing.enqueue import Sent
from tests.samples import NOW, a_claim, a_schedule, many_schedules
from tests.world import START, World


def change(kind: Kind, row: object, sequence: str = "1") -> RecordChange:
    return RecordChange(kind=kind, sequence=sequence, row=row, record={"sequence": sequence})  # type: ignore[arg-type] # a row


def sent(queue: MemoryQueue) -> list[tuple[DelayerMessage, int]]:
    return [(decode(one.body, DelayerMessage), (one.visible_at - START) // SECOND) for one in queue.messages]


def test_an_insert_within_the_period_is_deleted_and_sent_by_its_remove() -> None:
    """Fast track and sweep end in the same way: only a REMOVE sends."""
    world = World()
    schedule = a_schedule(NOW + 5 * MINUTE)
    world.table.put(schedule)
    assert world.enqueue(world.table.stream[:1]) == []
    assert world.table.rows == {}
    assert world.delayer_queue.sent == 0
    assert world.enqueue(world.table.stream[1:]) == []
    [(message, delay)] = sent(world.delayer_queue)
    assert (message.schedule.id, message.schedule.definition.payload, delay) == (
        schedule.id,
        schedule.definition.payload,
        300,
    )


def test_an_insert_beyond_the_period_stays() -> None:
    world = World()
    world.table.put(a_schedule(NOW + 20 * MINUTE))
    assert world.enqueue(world.table.stream) == []
    assert len(world.table.rows) == 1
    assert len(world.table.stream) == 1


def test_each_send_has_a_fresh_nonce() -> None:
    """The same REMOVE read by two environments makes two copies, which the ledger can tell apart."""
    world = World(duplicated=True)
    removal = change(Kind.REMOVE, a_schedule())
    world.enqueue([removal])
    world.enqueue([removal])
    nonces = {message.nonce for message, _ in sent(world.delayer_queue)}
    assert len(nonces) == 2
    assert "" not in nonces


def test_a_batch_shares_its_requests() -> None:
    world = World()
    removals = [change(Kind.REMOVE, one, str(at)) for at, one in enumerate(many_schedules(25))]
    assert world.enqueue(removals) == []
    assert (world.delayer_queue.sent, world.delayer_queue.requests) == (25, 3)
    assert world.observer.counts["Enqueued"] == 25


class Full(MemoryQueue):
    """Takes every other message only."""

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        super().send(messages[::2])
        return list(range(1, len(messages), 2))


def test_what_the_queue_did_not_take_is_reported_by_its_sequence_number() -> None:
    world = World()
    world.delayer_queue = Full(clock=world.clock)
    world.build()
    removals = [change(Kind.REMOVE, one, f"s{at}") for at, one in enumerate(many_schedules(4))]
    assert world.enqueue(removals) == ["s1", "s3"]
    assert world.observer.counts["Enqueued"] == 2


def test_a_poison_record_is_dead_lettered_and_its_neighbours_go_on() -> None:
    world = World()
    schedule = a_schedule()
    batch = [
        change(Kind.REMOVE, Malformed("no owner"), "1"),
        change(Kind.MODIFY, Malformed("no owner"), "2"),
        change(Kind.INSERT, Malformed("no owner"), "3"),
        change(Kind.REMOVE, schedule, "4"),
    ]
    assert world.enqueue(batch) == []
    assert [message.schedule.id for message, _ in sent(world.delayer_queue)] == [schedule.id]
    [key] = world.store.objects
    letter = decode_dead_letter(world.store.objects[key])
    assert (letter.body, letter.reason, letter.schedule_id) == ('{"sequence": "1"}', "no owner", "")


def test_a_removal_a_month_late_is_dead_lettered_with_its_end_in_the_ledger() -> None:
    world = World()
    schedule = a_schedule(NOW - STALE_AFTER - 1)
    assert world.enqueue([change(Kind.REMOVE, schedule)]) == []
    row = world.row(schedule)
    assert row
    assert row.state is State.DEAD_LETTERED
    assert len(world.store.objects) == 1
    assert world.delayer_queue.sent == 0


def test_a_far_removal_is_neither_fired_nor_forgotten() -> None:
    world = World()
    schedule = a_schedule(NOW + DAY)
    assert world.enqueue([change(Kind.REMOVE, schedule)]) == []
    assert world.delayer_queue.sent == 0
    assert len(world.store.objects) == 1
    row = world.row(schedule)
    assert row
    assert row.state is State.DEAD_LETTERED


def test_a_far_removal_after_a_cancel_is_nothing() -> None:
    world = World()
    schedule = a_schedule(NOW + DAY)
    world.ledger.store(a_claim(NOW + DAY, state=State.CANCELLED))
    assert world.enqueue([change(Kind.REMOVE, schedule)]) == []
    assert world.store.objects == {}
    assert world.delayer_queue.sent == 0


def test_the_heartbeat_is_noted_as_it_leaves() -> None:
    world = World()
    world.table.beat(START)
    world.table.beat(START + MINUTE)
    assert world.enqueue(world.table.stream) == []
    assert world.control.heartbeat_seen() == START + MINUTE
    world.enqueue([change(Kind.REMOVE, Heartbeat(START))])
    assert world.control.heartbeat_seen() == START + MINUTE, "forward only"


def test_what_was_sent_is_not_sent_again_with_its_batch() -> None:
    """The delete of a neighbour fails, and Lambda delivers the batch again; a new environment knows nothing of it."""
    world = World()
    [removed, nearly_due] = many_schedules(2)
    batch = [change(Kind.INSERT, nearly_due, "1"), change(Kind.REMOVE, removed, "2")]
    failing = evolve(world.enqueue, schedules=Faulty(world.table, FaultPlan(Fault.BEFORE, 0)))
    assert failing(batch) == ["1"]
    assert world.delayer_queue.sent == 1
    assert world.enqueue(batch) == []
    assert world.delayer_queue.sent == 1
    assert evolve(world.enqueue, sent=Sent())(batch) == []
    assert world.delayer_queue.sent == 2


def test_the_memory_of_what_was_sent_is_bounded() -> None:
    sent = Sent(at_most=2)
    for number in "123":
        sent.add((number, "id"))
    assert [(number, "id") in sent for number in "123"] == [False, True, True]


def test_a_heartbeat_that_cannot_be_noted_holds_up_nothing() -> None:
    """It comes once a minute, and everything behind it would be delivered again."""
    world = World(spoiled="enqueue", plan=FaultPlan(Fault.BEFORE, 0))
    assert world.enqueue([change(Kind.REMOVE, Heartbeat(START))]) == []
    assert world.control.heartbeat_seen() is None
    assert "heartbeat not noted" in world.observer.warnings


def test_one_schedule_twice_in_a_batch() -> None:
    """A record read again with the one behind it: deleted once, no failure."""
    world = World()
    schedule = a_schedule()
    world.table.put(schedule)
    inserts = [change(Kind.INSERT, schedule, "1"), change(Kind.INSERT, schedule, "2")]
    assert world.enqueue(inserts) == []
    assert world.table.rows == {}


def test_an_empty_batch() -> None:
    world = World()
    assert world.enqueue([]) == []
    assert world.delayer_queue.requests == 0
