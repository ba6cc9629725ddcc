"""What the stream gave up on comes back by itself, a share at a time."""

from collections.abc import Sequence

import pytest
from attrs import Factory, define, evolve

from delayer.dead_letters.model import WaitingRecords, records_in
from delayer.dead_letters.repository import StoredDeadLetters
from delayer.engines.memory import ManualClock, MemoryObjects, MemoryObserver
from delayer.engines.ports import Unavailable
from delayer.engines.process import InOrder
from delayer.enqueue.bring_back import BYTES, BringBack
from delayer.enqueue.rules import SweepGate
from delayer.recovery.ports import Died
from delayer.schedule.instants import MINUTE, SECOND
from tests.fakes.faults import Fault, FaultPlan, Faulty
from tests.world import START


@define
class Consumer:
    """Takes a second for each request; there are records that it cannot handle, and some that it dies of."""

    clock: ManualClock
    cannot: set[object] = Factory(set)
    dies_of: set[object] = Factory(set)
    handled: list[object] = Factory(list)
    unavailable: set[object] = Factory(set)

    def handle(self, records: Sequence[object]) -> list[int]:
        self.clock.move(SECOND)
        if self.unavailable.intersection(records):
            raise Unavailable("too large, or throttled")
        if self.dies_of.intersection(records):
            raise Died("out of memory")
        self.handled += [record for record in records if record not in self.cannot]
        return [at for at, record in enumerate(records) if record in self.cannot]


def a_stand() -> tuple[BringBack, StoredDeadLetters[MemoryObjects], Consumer]:
    clock, store = ManualClock(START), StoredDeadLetters(MemoryObjects())
    consumer = Consumer(clock)
    bring_back = BringBack(
        clock=clock,
        parallel=InOrder(),
        dead_letter_store=store,
        stream_consumer=consumer,
        observer=MemoryObserver(),
    )
    return bring_back, store, consumer


def put(store: StoredDeadLetters[MemoryObjects], *records: str, at: int = 0) -> None:
    store.set_aside(WaitingRecords(records=records, reason="", at=START + at))


def test_what_is_handled_is_deleted() -> None:
    bring_back, store, consumer = a_stand()
    put(store, "a", "b")
    store.objects["aws/lambda/uuid/shard/x"] = b'{"payload": "{\\"Records\\": [\\"c\\"]}"}'
    bring_back(START, SweepGate.OPEN)
    assert consumer.handled == ["c", "a", "b"]
    assert store.objects == {}


def test_other_dead_letters_are_left_alone() -> None:
    bring_back, store, consumer = a_stand()
    store.objects["dead-lettered/x/y.json"] = b"{}"
    store.objects["waiting/0-damaged.json"] = b"no records"
    bring_back(START, SweepGate.OPEN)
    assert consumer.handled == []
    assert len(store.objects) == 2


def test_what_cannot_be_handled_yet_stays() -> None:
    bring_back, store, consumer = a_stand()
    put(store, "a", "b")
    consumer.cannot = {"b"}
    bring_back(START, SweepGate.OPEN)
    assert len(store.objects) == 1
    consumer.cannot = set()
    bring_back(START + 5 * MINUTE, SweepGate.OPEN)
    assert store.objects == {}


def test_one_that_kills_takes_none_along() -> None:
    """Each alone: the others are done, and the killer is the consumer's to judge."""
    bring_back, store, consumer = a_stand()
    put(store, "a", "killer", "b")
    consumer.dies_of = {"killer"}
    bring_back(START, SweepGate.OPEN)
    assert consumer.handled == ["a", "b"]
    assert len(store.objects) == 1


def test_it_comes_once_in_five_minutes_and_never_while_the_stream_is_not_read() -> None:
    """To list the store costs more than all else that an idle tick does."""
    bring_back, store, _consumer = a_stand()
    plan = FaultPlan()
    bring_back.dead_letter_store = Faulty(store, plan)
    for minute in range(10):
        bring_back(START + minute * MINUTE, SweepGate.OPEN)
    assert len(plan.seen) == 2 * 2
    bring_back(START + 10 * MINUTE, SweepGate.CLOSED)
    assert len(plan.seen) == 2 * 2


@pytest.mark.parametrize(("gate", "done"), [(SweepGate.OPEN, 12), (SweepGate.URGENT, 4)])
def test_it_takes_a_share_of_the_tick(gate: SweepGate, done: int) -> None:
    bring_back, store, consumer = a_stand()
    for at in range(30):
        put(store, f"r{at}", at=at)
    bring_back(START, gate)
    assert len(consumer.handled) == done


def test_what_always_fails_starves_nobody() -> None:
    """The next round goes on where this one ended."""
    bring_back, store, consumer = a_stand()
    for at in range(30):
        put(store, f"r{at}", at=at)
    consumer.cannot = {f"r{at}" for at in range(20)}
    for round_ in range(4):
        bring_back(START + round_ * 5 * MINUTE, SweepGate.OPEN)
    assert set(consumer.handled) == {f"r{at}" for at in range(20, 30)}


def test_an_outage_of_the_store_does_not_fail_the_tick() -> None:
    bring_back, store, consumer = a_stand()
    put(store, "a")
    closed = evolve(bring_back, dead_letter_store=Faulty(store, FaultPlan(Fault.BEFORE, 1)))
    closed(START, SweepGate.OPEN)
    assert consumer.handled == []
    bring_back(START + 5 * MINUTE, SweepGate.OPEN)
    assert consumer.handled == ["a"]


def test_an_object_that_cannot_be_asked_for_starves_none_behind_it() -> None:
    """Again and again the first one fails; the round goes on with the next."""
    bring_back, store, consumer = a_stand()
    for at in range(10):
        put(store, f"r{at}", at=at)
    consumer.unavailable = {"r0"}
    bring_back(START, SweepGate.OPEN)
    assert consumer.handled == [f"r{at}" for at in range(1, 10)]
    assert len(store.objects) == 1


def test_only_what_is_left_of_an_object_stays() -> None:
    """What is done is not sent again in each round, for as long as one record of its object waits."""
    bring_back, store, consumer = a_stand()
    put(store, "a", "b", "c")
    consumer.cannot = {"b"}
    for round_ in range(3):
        bring_back(START + round_ * 5 * MINUTE, SweepGate.OPEN)
    assert consumer.handled == ["a", "c"]
    [content] = store.objects.values()
    assert records_in(content) == ["b"]
    [key] = store.objects
    assert key.startswith(f"waiting/{START:013d}-"), "it waits since then"


def test_large_records_share_no_request() -> None:
    """Lambda takes six million bytes."""
    bring_back, store, consumer = a_stand()
    put(store, *(f"{at}" + "ä" * 300_000 for at in range(8)))
    bring_back.stream_consumer = sizes = Sizes(consumer)
    bring_back(START, SweepGate.OPEN)
    assert len(sizes.seen) > 1
    assert max(sizes.seen) <= BYTES
    assert store.objects == {}


def test_what_is_left_when_the_time_is_up_goes_on_with_the_next_tick() -> None:
    bring_back, store, consumer = a_stand()
    for at in range(30):
        put(store, f"r{at}", at=at)
    for minute in range(3):
        bring_back(START + minute * MINUTE, SweepGate.OPEN)
    assert len(consumer.handled) == 30


def test_what_waits_for_more_than_an_hour_is_counted() -> None:
    """An alarm watches it: nothing lies there unseen."""
    bring_back, store, consumer = a_stand()
    put(store, "a")
    consumer.cannot = {"a"}
    for round_ in range(13):
        consumer.clock.at = START + round_ * 5 * MINUTE
        bring_back(consumer.clock.now(), SweepGate.OPEN)
    assert isinstance(bring_back.observer, MemoryObserver)
    assert bring_back.observer.counts["NotBroughtBack"] == 1


@define
class Sizes:
    """Notes how much each request holds."""

    consumer: Consumer
    seen: list[int] = Factory(list)

    def handle(self, records: Sequence[object]) -> list[int]:
        self.seen.append(sum(len(str(record).encode()) for record in records))
        return self.consumer.handle(records)
