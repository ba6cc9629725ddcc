"""A function that a target keeps waiting receives more, and brings all of it to its end."""

import time
from collections.abc import Callable, Sequence
from threading import Event, Semaphore, Thread
from typing import Any

import pytest
from attrs import define, evolve, field

from delayer.engines.memory.messaging import MemoryQueue
from delayer.engines.memory.runtime import ManualClock, MemoryObserver, Tokens
from delayer.engines.ports import Outgoing, ReceivedMessage, Running, Unavailable
from delayer.engines.process import Started
from delayer.execute.refill import LONGEST_PAUSE, LOOK, TAKES_LONG, Refill, pause_after
from delayer.flow.repository import StoredSeats
from delayer.flow.rules.block import Party
from delayer.flow.rules.gate import SLOTS
from delayer.flow.use_cases.seats import Seats, Slots
from tests.samples import NOW, OWNER
from tests.tables import on_sqlite

PARTY = Party(owner=OWNER, target="http-request target")


@define
class Hanging:
    """Handles all at once but for messages `slow …`, which end when the test says so."""

    clock: ManualClock
    slots: Slots
    release: Event
    handled: list[str]
    release_at: str = ""  # when this message comes

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        failed = []
        for received in batch:
            self.handled.append(received.body)
            if received.body == self.release_at:
                self.release.set()
            with self.slots.one(Party(owner=received.body, target=received.body)):
                if received.body.startswith("slow"):
                    with self.slots.kept_waiting():
                        self.clock.move(TAKES_LONG)
                        self.release.wait(10)
            if received.body == "unsettled":
                failed.append(received.message_id)
        return failed


@define
class Looking:
    """Port Background: threads, and whoever waits for one for a while looks again at once."""

    looks: Semaphore = field(factory=lambda: Semaphore(0))  # one for each

    def start(self, do: Callable[[], Any]) -> "Looked":
        return Looked(self, Started().start(do))


@define
class Looked:
    """Port Running."""

    by: Looking
    running: Running[Any]

    def wait(self, seconds: float) -> bool:
        if seconds:
            self.by.looks.release()
            time.sleep(0)
        return self.running.wait(0)

    def result(self) -> Any:
        return self.running.result()


class ReleasesWhenEmpty(MemoryQueue):
    """Ends what hangs once all was received."""

    release: Event

    def pull(self, at_most: int) -> list[ReceivedMessage]:
        pulled = super().pull(at_most)
        if not pulled:
            self.release.set()
        return pulled


def refill_of(
    *bodies: str, has_time: Callable[[], bool] = lambda: True
) -> tuple[Refill, Hanging, ReleasesWhenEmpty, MemoryObserver]:
    clock, release, observer = ManualClock(NOW), Event(), MemoryObserver()
    queue = ReleasesWhenEmpty(clock=clock)
    queue.release = release
    queue.send([Outgoing(body=body) for body in bodies])
    slots = Slots(clock=clock)
    handle = Hanging(clock, slots, release, [])
    refill = Refill(
        handle=handle,
        handle_beside=lambda received: handle([received]),
        own_queue=queue,
        suspects="suspects",
        slots=slots,
        seats=Seats(clock=clock, seat_rows=on_sqlite(StoredSeats), new_token=Tokens(), observer=observer),
        background=Looking(),
        has_time=has_time,
        observer=observer,
    )
    return refill, handle, queue, observer


def batch_of(*bodies: str, source: str = "queue") -> list[ReceivedMessage]:
    return [ReceivedMessage(message_id=f"m{at}", body=body, source=source) for at, body in enumerate(bodies)]


def test_while_one_hangs_others_are_received_and_deleted() -> None:
    refill, handle, queue, _ = refill_of(*(f"quick {number}" for number in range(30)))
    assert refill(batch_of("slow")) == []
    assert sorted(handle.handled) == sorted(["slow", *(f"quick {number}" for number in range(30))])
    assert queue.messages == []


def test_as_many_are_received_as_there_are_slots() -> None:
    """Each hangs: those that have a slot count once, so that all slots are used, and no more is received."""
    refill, handle, queue, _ = refill_of(*(f"slow {number}" for number in range(SLOTS + 5)))
    ended, looks = Event(), Semaphore(0)
    refill = evolve(refill, background=Looking(looks))
    Thread(target=lambda: ended.set() if refill(batch_of("slow")) == [] else None, daemon=True).start()
    while len(handle.handled) < SLOTS:
        assert looks.acquire(timeout=20)
    while looks.acquire(blocking=False):
        pass  # those from before
    assert [looks.acquire(timeout=20) for _ in range(5)] == [True] * 5, "it could have received more"
    assert not ended.is_set()
    assert len(handle.handled) == SLOTS
    assert queue.visible() == 6
    handle.release.set()
    assert ended.wait(10)


def test_what_it_received_is_brought_to_its_end() -> None:
    """Its batch is done, and it waits for the rest, and goes on receiving while that takes long."""
    refill, handle, queue, _ = refill_of("slow too", "quick")
    batch = Event()

    def handled(received: Sequence[ReceivedMessage]) -> list[str]:
        if received[0].body == "the batch":
            with handle.slots.one(PARTY), handle.slots.kept_waiting():
                handle.clock.move(TAKES_LONG)
                batch.wait(10)
            return []
        if received[0].body == "slow too":
            batch.set()
        return handle(received)

    refill = evolve(refill, handle=handled, handle_beside=lambda received: handled([received]))
    assert refill(batch_of("the batch")) == []
    assert sorted(handle.handled) == ["quick", "slow too"]
    assert queue.messages == []


def test_what_there_was_no_time_for_is_given_back_at_once() -> None:
    """Another function may begin it. What was not settled for another reason comes again after a while."""
    left = [True]
    refill, handle, queue, _ = refill_of("unsettled", has_time=lambda: left.pop() if left else False)
    handle.release_at = "unsettled"
    assert refill(batch_of("slow")) == []
    assert queue.visible() == 1


def test_whatever_is_raised_beside_the_batch_is_said() -> None:
    refill, handle, queue, observer = refill_of("broken")

    def handled(received: Sequence[ReceivedMessage]) -> list[str]:
        if received[0].body == "broken":
            raise ZeroDivisionError
        return handle(received)

    assert evolve(refill, handle_beside=lambda received: handled([received]))(batch_of("slow")) == []
    assert len(queue.messages) == 1
    assert any("not handled" in str(line) for line in observer.lines)


@pytest.mark.parametrize(
    ("pause", "received", "asked", "then"),
    [
        pytest.param(LOOK, 10, 10, LOOK, id="there is more"),
        pytest.param(LONGEST_PAUSE, 10, 10, LOOK, id="there is more again"),
        pytest.param(LOOK, 0, 10, 0.1, id="nothing"),
        pytest.param(0.1, 0, 10, 0.2, id="nothing twice"),
        pytest.param(0.2, 0, 10, LONGEST_PAUSE, id="nothing for long"),
        pytest.param(LONGEST_PAUSE, 0, 10, LONGEST_PAUSE, id="nothing at all"),
        pytest.param(0.4, 3, 10, 0.2, id="a few"),
        pytest.param(0.1, 1, 10, 0.1, id="a few again"),
    ],
)
def test_the_less_there_is_the_more_rarely_it_is_asked_for(
    pause: float, received: int, asked: int, then: float
) -> None:
    """SQS is paid for each receive."""
    assert pause_after(pause, received, asked) == then


def test_what_is_not_settled_stays_in_the_queue() -> None:
    refill, _, queue, _ = refill_of("unsettled", "quick")
    assert refill(batch_of("slow", "unsettled")) == ["m1"]
    assert [message.body for message in queue.messages] == ["unsettled"]


def test_as_long_as_nothing_hangs_nothing_is_received() -> None:
    refill, handle, queue, _ = refill_of("quick")
    assert refill(batch_of("a", "b")) == []
    assert handle.handled == ["a", "b"]
    assert len(queue.messages) == 1


def test_a_suspect_is_handled_alone() -> None:
    refill, handle, _, _ = refill_of("quick")
    handle.release.set()
    assert refill(batch_of("slow", source="suspects")) == []
    assert handle.handled == ["slow"]


def test_nothing_is_received_that_could_not_be_brought_to_its_end() -> None:
    asked = []

    def has_time() -> bool:
        asked.append(1)
        handle.release.set()
        return False

    refill, handle, queue, _ = refill_of("quick", has_time=has_time)
    assert refill(batch_of("slow")) == []
    assert asked
    assert handle.handled == ["slow"]
    assert len(queue.messages) == 1


def test_if_nothing_can_be_received_the_batch_is_handled_all_the_same() -> None:
    refill, handle, queue, observer = refill_of()

    def unavailable(at_most: int) -> list[ReceivedMessage]:
        handle.release.set()
        raise Unavailable("SQS is down")

    queue.pull = unavailable  # type: ignore[method-assign]
    assert refill(batch_of("slow")) == []
    assert any("nothing received" in str(line) for line in observer.lines)
