"""Changes of the table on their way into the delayer queue."""

from collections.abc import Sequence
from contextlib import suppress

import pytest
from attrs import evolve

from delayer.dead_letters.model import decode as decode_dead_letter
from delayer.dead_letters.model import records_in
from delayer.engines.ports import Outgoing
from delayer.enqueue.enqueue import Sent
from delayer.ledger.model import State
from delayer.schedule import messages
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, STALE_AFTER, Malformed, UnknownVersion
from delayer.schedule.messages import DelayerMessage, decode
from delayer.schedule.schedule import Schedule
from delayer.schedule.table_change import ChangeKind, Heartbeat, RecordChange, known
from delayer.schedule.tables import SCHEDULES
from tests.fakes.faults import Crash, Fault, FaultPlan, Faulty, faulty
from tests.fakes.messaging import MemoryQueue
from tests.looking import all_rows, put_row
from tests.samples import NOW, a_claim, a_schedule, many_schedules
from tests.world import START, World


def change(kind: ChangeKind, row: object, sequence: str = "1") -> RecordChange:
    return RecordChange(kind=kind, sequence=sequence, read=known(row), record={"sequence": sequence}, at=START)  # type: ignore[arg-type] # a row


def sent(queue: MemoryQueue) -> list[tuple[DelayerMessage, int]]:
    return [(decode(one.body, DelayerMessage), (one.visible_at - START) // SECOND) for one in queue.messages]


def test_an_insert_within_the_period_is_deleted_and_sent_by_its_remove() -> None:
    """Fast track and sweep end in the same way: only a REMOVE sends."""
    world = World()
    schedule = a_schedule(NOW + 5 * MINUTE)
    world.table.put(schedule)
    assert world.enqueue(world.feed.records[SCHEDULES][:1]) == []
    assert all_rows(world.table) == {}
    assert world.delayer_queue.sent == 0
    assert world.enqueue(world.feed.records[SCHEDULES][1:]) == []
    [(message, delay)] = sent(world.delayer_queue)
    assert (message.schedule.id, message.schedule.definition.payload, delay) == (
        schedule.id,
        schedule.definition.payload,
        300,
    )


def test_an_insert_beyond_the_period_stays() -> None:
    world = World()
    world.table.put(a_schedule(NOW + 20 * MINUTE))
    assert world.enqueue(world.feed.records[SCHEDULES]) == []
    assert len(all_rows(world.table)) == 1
    assert len(world.feed.records[SCHEDULES]) == 1


def test_each_send_has_a_fresh_nonce() -> None:
    """The same REMOVE read by two environments makes two copies, which the ledger can tell apart."""
    world = World(duplicated=True)
    removal = change(ChangeKind.REMOVE, a_schedule())
    world.enqueue([removal])
    world.enqueue([removal])
    nonces = {message.nonce for message, _ in sent(world.delayer_queue)}
    assert len(nonces) == 2
    assert "" not in nonces


def test_a_batch_shares_its_requests() -> None:
    world = World()
    removals = [change(ChangeKind.REMOVE, one, str(at)) for at, one in enumerate(many_schedules(25))]
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
    removals = [change(ChangeKind.REMOVE, one, f"s{at}") for at, one in enumerate(many_schedules(4))]
    assert world.enqueue(removals) == ["s1", "s3"]
    assert world.observer.counts["Enqueued"] == 2


def test_a_poison_record_is_dead_lettered_and_its_neighbours_go_on() -> None:
    world = World()
    schedule = a_schedule()
    batch = [
        change(ChangeKind.REMOVE, Malformed("no owner"), "1"),
        change(ChangeKind.MODIFY, Malformed("no owner"), "2"),
        change(ChangeKind.INSERT, Malformed("no owner"), "3"),
        change(ChangeKind.REMOVE, schedule, "4"),
    ]
    assert world.enqueue(batch) == []
    assert [message.schedule.id for message, _ in sent(world.delayer_queue)] == [schedule.id]
    [key] = world.store.objects
    letter = decode_dead_letter(world.store.objects[key])
    assert (letter.body, letter.reason, letter.schedule_id) == ('{"sequence": "1"}', "no owner", "")


def test_a_removal_a_month_late_is_dead_lettered_with_its_end_in_the_ledger() -> None:
    world = World()
    schedule = a_schedule(NOW - STALE_AFTER - 1)
    assert world.enqueue([change(ChangeKind.REMOVE, schedule)]) == []
    row = world.row(schedule)
    assert row
    assert row.state is State.DEAD_LETTERED
    assert len(world.store.objects) == 1
    assert world.delayer_queue.sent == 0


def test_a_far_removal_is_neither_fired_nor_forgotten() -> None:
    world = World()
    schedule = a_schedule(NOW + DAY)
    assert world.enqueue([change(ChangeKind.REMOVE, schedule)]) == []
    assert world.delayer_queue.sent == 0
    assert len(world.store.objects) == 1
    row = world.row(schedule)
    assert row
    assert row.state is State.DEAD_LETTERED


def test_a_far_removal_after_a_cancel_is_nothing() -> None:
    world = World()
    schedule = a_schedule(NOW + DAY)
    put_row(world.ledger, a_claim(NOW + DAY, state=State.CANCELLED))
    assert world.enqueue([change(ChangeKind.REMOVE, schedule)]) == []
    assert world.store.objects == {}
    assert world.delayer_queue.sent == 0


def test_the_heartbeat_is_noted_as_it_leaves() -> None:
    world = World()
    world.table.beat(Heartbeat(sent_at=START))
    world.table.beat(Heartbeat(sent_at=START + MINUTE))
    assert world.enqueue(world.feed.records[SCHEDULES]) == []
    assert world.control.heartbeats().seen == START + MINUTE
    world.enqueue([change(ChangeKind.REMOVE, Heartbeat(sent_at=START))])
    assert world.control.heartbeats().seen == START + MINUTE, "forward only"


def test_what_was_sent_is_not_sent_again_with_its_batch() -> None:
    """The delete of a neighbour fails, and Lambda delivers the batch again; a new environment knows nothing of it."""
    world = World()
    [removed, nearly_due] = many_schedules(2)
    batch = [change(ChangeKind.INSERT, nearly_due, "1"), change(ChangeKind.REMOVE, removed, "2")]
    failing = evolve(world.enqueue, schedules=faulty(world.table, FaultPlan(Fault.BEFORE, 0)))
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
    assert world.enqueue([change(ChangeKind.REMOVE, Heartbeat(sent_at=START))]) == []
    assert world.control.heartbeats().seen is None
    assert "heartbeat not noted" in world.observer.warnings


def test_one_schedule_twice_in_a_batch() -> None:
    """A record read again with the one behind it: deleted once, no failure."""
    world = World()
    schedule = a_schedule()
    world.table.put(schedule)
    inserts = [change(ChangeKind.INSERT, schedule, "1"), change(ChangeKind.INSERT, schedule, "2")]
    assert world.enqueue(inserts) == []
    assert all_rows(world.table) == {}


def test_an_empty_batch() -> None:
    world = World()
    assert world.enqueue([]) == []
    assert world.delayer_queue.requests == 0


# ------------------------------------------------------------ what cannot be handled


def fails_at(monkeypatch: pytest.MonkeyPatch, schedule: Schedule) -> None:
    """Our own code has a defect that one schedule brings out."""
    encode = messages.encode

    def encodes(message: DelayerMessage) -> str:
        if message.schedule.id == schedule.id:
            raise ZeroDivisionError
        return encode(message)

    monkeypatch.setattr("delayer.enqueue.enqueue.encode", encodes)


def test_an_unknown_version_is_set_aside_whole_and_its_neighbours_go_on() -> None:
    """Not a dead letter: the code that knows it brings it back. One that was inserted is in the table."""
    world, [schedule] = World(), many_schedules(1)
    batch = [
        change(ChangeKind.REMOVE, UnknownVersion("version 2"), "1"),
        change(ChangeKind.INSERT, UnknownVersion("version 2"), "2"),
        change(ChangeKind.REMOVE, schedule, "3"),
    ]
    assert world.enqueue(batch) == []
    assert world.delayer_queue.sent == 1
    [(key, content)] = world.store.objects.items()
    assert key.startswith("waiting/")
    assert records_in(content) == [{"sequence": "1"}]
    assert world.observer.counts["SetAside"] == 1


def test_what_our_own_code_fails_at_is_set_aside_and_its_neighbours_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    world, [bad, good] = World(), many_schedules(2)
    fails_at(monkeypatch, bad)
    assert world.enqueue([change(ChangeKind.REMOVE, bad, "1"), change(ChangeKind.REMOVE, good, "2")]) == []
    assert world.delayer_queue.sent == 1
    [content] = world.store.objects.values()
    assert records_in(content) == [{"sequence": "1"}]


def test_what_cannot_be_set_aside_stays_in_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    world, [bad, good] = World(), many_schedules(2)
    fails_at(monkeypatch, bad)
    closed = evolve(world.enqueue, dead_letter_store=Faulty(world.store, FaultPlan(Fault.BEFORE, 0)))
    assert closed([change(ChangeKind.REMOVE, bad, "1"), change(ChangeKind.REMOVE, good, "2")]) == ["1"]
    assert world.delayer_queue.sent == 1


@pytest.mark.parametrize(
    ("age", "taken", "left"),
    [(HOUR, 0, ["1", "2"]), (HOUR + SECOND, 0, []), (MINUTE, 1, ["2"]), (MINUTE + SECOND, 1, [])],
)
def test_in_an_outage_a_record_stays_for_an_hour_and_alone_for_a_minute(age: int, taken: int, left: list[str]) -> None:
    """`taken`: how many of two the queue takes. The stream keeps what stays for a day."""

    class Reluctant(MemoryQueue):
        def send(self, messages: Sequence[Outgoing]) -> list[int]:
            return list(range(taken, len(messages)))

    world = World()
    world.delayer_queue = Reluctant(clock=world.clock)
    world.build()
    batch = [change(ChangeKind.REMOVE, one, str(at + 1)) for at, one in enumerate(many_schedules(2))]
    world.clock.move(age)
    assert world.enqueue(batch) == left
    assert len(world.store.objects) == (0 if left else 1)


def test_a_failed_fast_track_holds_up_its_shard_for_ten_seconds() -> None:
    """Then it is left to the sweep, which finds it in the table."""
    world, [schedule, neighbour] = World(), many_schedules(2)
    batch = [change(ChangeKind.INSERT, schedule, "1"), change(ChangeKind.REMOVE, neighbour, "2")]
    for moved, left in ((10 * SECOND, ["1"]), (SECOND, [])):
        world.clock.move(moved)
        failing = evolve(world.enqueue, schedules=faulty(world.table, FaultPlan(Fault.BEFORE, 0)))
        assert failing(batch) == left
    assert world.store.objects == {}


def test_what_is_brought_back_is_not_set_aside_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays in the store as it is; else each round would write it anew."""
    world, [bad, good] = World(), many_schedules(2)
    fails_at(monkeypatch, bad)
    batch = [change(ChangeKind.REMOVE, bad, "1"), change(ChangeKind.REMOVE, good, "2")]
    assert world.enqueue(batch, brought_back=True) == ["1"]
    assert world.store.objects == {}


def test_a_record_that_kills_its_function_holds_up_its_shard_for_five_minutes() -> None:
    """Alone in its batch, as Lambda has cut it; then it waits in the store, and is tried again from there."""
    world, [schedule] = World(), many_schedules(1)
    killer = [change(ChangeKind.REMOVE, schedule)]
    dies = evolve(world.enqueue, delayer_queue=Faulty(world.delayer_queue, FaultPlan(Fault.CRASH_BEFORE, 0)))
    world.clock.move(MINUTE + SECOND)
    while True:
        try:
            assert dies(killer) == []
            break
        except Crash:
            world.clock.move(MINUTE)
            dies = evolve(world.enqueue, delayer_queue=Faulty(world.delayer_queue, FaultPlan(Fault.CRASH_BEFORE, 0)))
    assert world.clock.now() <= START + 7 * MINUTE
    [key] = world.store.objects
    assert key.startswith("waiting/")
    world.control.note_heartbeat(world.clock.now())
    assert world.enqueue(killer, brought_back=True) == []
    assert world.delayer_queue.sent == 1


def test_heartbeats_and_what_waits_in_the_table_do_not_say_that_others_pass() -> None:
    """They need nothing of AWS: in an outage of SQS the record stays for an hour all the same."""
    world, [schedule] = World(), many_schedules(1)
    far = a_schedule(START + DAY)
    batch = [
        change(ChangeKind.REMOVE, schedule, "1"),
        change(ChangeKind.INSERT, far, "2"),
        change(ChangeKind.REMOVE, Heartbeat(sent_at=1), "3"),
    ]
    failing = evolve(world.enqueue, delayer_queue=Faulty(world.delayer_queue, FaultPlan(Fault.BEFORE, 0)))
    world.clock.move(10 * MINUTE)
    assert failing(batch) == ["1"]
    assert world.store.objects == {}


def test_a_record_alone_whose_control_rows_do_not_answer_holds_up_its_shard_for_an_hour() -> None:
    world, [schedule] = World(), many_schedules(1)
    for age, left in ((HOUR, ["1"]), (MINUTE, [])):
        world.clock.move(age)
        failing = evolve(world.enqueue, trials=faulty(world.trials, FaultPlan(Fault.BEFORE, 0)))
        assert failing([change(ChangeKind.REMOVE, schedule)]) == left
    [key] = world.store.objects
    assert key.startswith("waiting/")


def test_a_record_that_kills_whoever_reads_it_is_set_aside_and_given_up_unread() -> None:
    """It is noted before it is read."""
    world = World()

    def dies() -> Schedule:
        raise Crash("out of memory")

    killer = [RecordChange(kind=ChangeKind.REMOVE, sequence="1", read=dies, record={"sequence": "1"}, at=START)]
    world.clock.move(MINUTE + SECOND)
    with pytest.raises(Crash):
        world.enqueue(killer)
    world.clock.move(5 * MINUTE)
    assert world.enqueue(killer) == []
    assert [key.partition("/")[0] for key in world.store.objects] == ["waiting"]
    world.store.objects.clear()
    for _ in range(20):
        world.clock.move(5 * MINUTE)
        world.control.note_heartbeat(world.clock.now())
        with suppress(Crash):
            if world.enqueue(killer, brought_back=True) == []:
                break
    [letter] = [decode_dead_letter(content) for content in world.store.objects.values()]
    assert (letter.schedule_id, "died of it 5 times" in letter.reason) == ("", True)


def test_what_raises_when_it_is_read_is_set_aside() -> None:
    """A defect of ours, which a shape brings out that nobody thought of."""
    world, [good] = World(), many_schedules(1)

    def raises() -> Schedule:
        raise ZeroDivisionError

    bad = RecordChange(kind=ChangeKind.REMOVE, sequence="1", read=raises, record={"sequence": "1"}, at=START)
    assert world.enqueue([bad, change(ChangeKind.REMOVE, good, "2")]) == []
    assert world.delayer_queue.sent == 1
    assert len(world.store.objects) == 1
