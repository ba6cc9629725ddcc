"""With threads and the true clock: what hangs for one message delays neither the attempt nor the outcome of another.

And by a clock that is moved by hand: what takes too long is left behind.
"""

import json
import sys
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

import pytest
from attrs import define, evolve, field
from greenlet import getcurrent, greenlet

from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.engines.ports import Clock, ReceivedMessage, Workers
from delayer.engines.process import SystemClock
from delayer.engines.workers import WorkerThreads, outcome_of
from delayer.execute.desk import Course
from delayer.execute.execute import GRACE, Execute
from delayer.flow.rules.gate import SLOTS, Go
from delayer.flow.use_cases.breaker import Breaker
from delayer.ledger.model import State
from delayer.schedule.instants import HOUR, SECOND, Millis
from delayer.schedule.messages import ExecutorMessage
from delayer.wiring import use_cases
from tests.looking import put_row
from tests.samples import NOW, a_claim, an_executor_message, an_id
from tests.unit.execute.test_execute import delivered
from tests.world import World

HELD = 500  # milliseconds: until then the first has begun by itself, also on a machine that has much to do
PATIENCE = 20  # seconds: so long what is expected may take on a machine that has much to do


@define(kw_only=True, slots=False)
class Threaded(World):
    """Its functions have threads, and the true clock."""

    def clock_for(self, function: str) -> Clock:
        return SystemClock()

    def workers_for(self, function: str) -> Workers:
        return WorkerThreads()


@define(eq=False)
class Hangs:
    """Passes on all calls; those of some methods hang if an argument tells of a schedule, until they are released."""

    of: Any
    happened: "SimpleQueue[None]"
    release: Event
    names: tuple[str, ...] = ()
    schedule_id: str = ""
    hung: list[str] = field(factory=list)

    def __getattr__(self, name: str) -> Any:
        real = getattr(self.of, name)
        if not callable(real):
            return real

        def call(*arguments: Any) -> Any:
            if name in self.names and self.schedule_id in repr(arguments):
                self.hung.append(name)
                self.happened.put(None)
                assert self.release.wait(PATIENCE)
            try:
                return real(*arguments)
            finally:
                self.happened.put(None)

        return call


@define(eq=False, kw_only=True)
class Batch:
    """Ten messages; a test says what the target of the first does, and which calls for it hang."""

    first: Callable[[], Result] = lambda: Done("HTTP 200")
    others: Callable[[], Result] = lambda: Done("HTTP 200")
    release: Event
    hangs: tuple[str, ...] = ()
    held: Millis = 0  # the others are due so much later
    world: Threaded = field(factory=Threaded)
    happened: "SimpleQueue[None]" = field(factory=SimpleQueue)
    messages: list[ExecutorMessage] = field(factory=list)
    reached: list[str] = field(factory=list)
    failed: list[list[str]] = field(factory=list)
    ledger: Hangs = field(init=False)
    store: Hangs = field(init=False)
    thread: Thread = field(init=False)

    def __attrs_post_init__(self) -> None:
        now = SystemClock().now()
        for at in range(10):
            due = now - 1_000 + at if at == 0 or not self.held else now + self.held
            message = an_executor_message(due, randomness=bytes([at] * 8), action=self.action(at))
            put_row(self.world.ledger, evolve(a_claim(), schedule_id=message.schedule.id))
            self.messages.append(message)
        first = self.messages[0].schedule.id
        self.ledger = Hangs(self.world.ledger_in_batches, self.happened, self.release, self.hangs, first)
        self.store = Hangs(self.world.store, self.happened, self.release, self.hangs, first)

    def action(self, at: int) -> str:
        return json.dumps({"type": "http-request", "url": f"http://target{at}/"})

    def target(self, message: ExecutorMessage) -> Result:
        self.reached.append(message.schedule.id)
        self.happened.put(None)
        return (self.first if message.schedule.id == self.messages[0].schedule.id else self.others)()

    def begin(self) -> None:
        execute = use_cases.execute(self.world.ports("execute"), self.target)
        letters: Any = execute.dead_letters
        execute = evolve(
            execute, ledger_in_batches=self.ledger, dead_letters=evolve(letters, dead_letter_store=self.store)
        )
        batch = delivered(*self.messages)
        self.thread = Thread(target=lambda: self.failed.append(execute(batch)), daemon=True)
        self.thread.start()

    def state(self, at: int) -> State:
        row = self.world.ledger.read(self.messages[at].schedule.id)
        assert row
        return row.state

    def until(self, what: Callable[[], bool]) -> None:
        while not what():
            self.happened.get(timeout=PATIENCE)

    def end(self) -> list[str]:
        self.release.set()
        self.thread.join(PATIENCE)
        [failed] = self.failed
        return failed


@pytest.fixture
def release() -> Iterator[Event]:
    event = Event()
    yield event
    event.set()


def others_are_executed(batch: Batch) -> bool:
    return all(batch.state(at) is State.EXECUTED for at in range(1, 10))


@pytest.mark.parametrize("held", [0, HELD], ids=["all are due", "the others are due later"])
def test_a_slow_target_delays_neither_the_attempts_of_its_neighbours_nor_their_outcomes(
    release: Event, held: Millis
) -> None:
    def first() -> Result:
        assert release.wait(PATIENCE)
        return Done("HTTP 200")

    batch = Batch(first=first, release=release, held=held)
    batch.begin()
    batch.until(lambda: others_are_executed(batch))
    assert batch.messages[0].schedule.id in batch.reached
    assert batch.state(0) is State.CLAIMED
    assert batch.thread.is_alive(), "its function is at work until all is done"
    assert batch.end() == []
    assert batch.state(0) is State.EXECUTED
    assert len(batch.reached) == 10


@pytest.mark.parametrize(
    ("hangs", "first"),
    [
        pytest.param("put", Refused("HTTP 404"), id="S3, for a schedule that failed"),
        pytest.param("read_each", Done("HTTP 200"), id="a read of the ledger"),
        pytest.param("write", Done("HTTP 200"), id="a write of the ledger"),
    ],
)
def test_a_call_that_hangs_for_one_message_delays_no_other(release: Event, hangs: str, first: Result) -> None:
    """Neither its attempt nor its outcome; the others come to that while it hangs."""
    batch = Batch(first=lambda: first, release=release, hangs=(hangs,), held=HELD)
    batch.begin()
    batch.until(lambda: bool(batch.store.hung + batch.ledger.hung) and others_are_executed(batch))
    assert batch.state(0) is State.CLAIMED
    assert batch.end() == []
    assert batch.state(0) is (State.FAILED if hangs == "put" else State.EXECUTED)
    assert len(batch.reached) == 10


def test_a_write_that_hangs_delays_no_outcome_that_comes_meanwhile(release: Event) -> None:
    """All are at their targets when the first answers; its request has begun without them."""
    others = Event()
    batch = Batch(release=release, hangs=("write",))
    batch.others = lambda: Done("HTTP 200") if others.wait(PATIENCE) else Retry(detail="it waited in vain")
    batch.begin()
    batch.until(lambda: batch.ledger.hung == ["write"] and len(batch.reached) == 10)
    others.set()
    batch.until(lambda: others_are_executed(batch))
    assert batch.end() == []


# ------------------------------------------------------------ what takes too long


@define(eq=False)
class Greenlets:
    """Port Workers: each thing runs until it ends or hangs, and whoever waits for one that hangs moves the clock."""

    world: World
    slept: Callable[[], None] = lambda: None
    hung: list[greenlet] = field(factory=list)
    left_behind: list[int] = field(factory=list)
    _busy: dict[int, greenlet] = field(factory=dict)
    _ended: list[tuple[int, object]] = field(factory=list)

    def begin(self) -> None: ...

    def start(self, number: int, do: Callable[[], object]) -> None:
        def body() -> None:
            outcome = outcome_of(do)
            if self._busy.pop(number, None):
                self._ended.append((number, outcome))

        self._busy[number] = greenlet(body)
        self._busy[number].switch()

    do = start

    def ended(self, until: Millis | None) -> list[tuple[int, object]]:
        if not self._ended and until != 0:
            assert until, "somebody waits for ever"
            self.world.clock.sleep_until(until)
            self.slept()
        found, self._ended = self._ended, []
        return found

    def leave_behind(self, number: int) -> None:
        self.left_behind.append(number)
        del self._busy[number]

    def hang(self) -> None:
        """In what was started."""
        self.hung.append(getcurrent())
        parent = getcurrent().parent
        assert parent
        parent.switch()

    def go_on(self) -> None:
        hung, self.hung = self.hung, []
        for one in hung:
            one.switch()


def limited(target: Callable[[ExecutorMessage], Result], seconds: float = 5) -> tuple[World, Greenlets, Execute]:
    world = World()
    put_row(world.ledger, a_claim())
    world.clock.sleep_until(NOW)
    workers = Greenlets(world)
    execute = use_cases.execute(world.ports("execute"), target, seconds=seconds)  # type: ignore[arg-type] # on fakes
    return world, workers, evolve(execute, workers=workers)


def test_a_target_that_takes_too_long_is_a_failed_attempt_whose_late_end_is_ignored() -> None:
    def target(_: ExecutorMessage) -> Result:
        workers.hang()
        return Done("too late")

    world, workers, execute = limited(target)
    assert execute(delivered(an_executor_message())) == []
    row = world.ledger.read(an_id())
    assert row
    assert (row.attempt, row.detail, row.state) == (2, "it took longer than 5 s", State.CLAIMED)
    assert world.clock.now() == NOW + (5 + GRACE) * SECOND
    assert len(workers.left_behind) == 1
    answers = execute.room.line_up({f"{number}": an_executor_message() for number in range(SLOTS)}).values()
    assert sum(isinstance(one, Go) for one in answers) == SLOTS // 2, "its slot is free"
    workers.go_on()
    assert world.ledger.read(an_id()) == row
    assert world.observer.counts["Retried"] == 1


def test_only_the_target_is_under_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has answered in time; what its circuit is reported takes long. The attempt was made, and is not made again."""
    world, workers, execute = limited(lambda _: Done("HTTP 200"))
    reported: list[Result] = []

    def made(_: object, message: ExecutorMessage, result: Result, receipt: str) -> None:
        reported.append(result)
        workers.hang()

    def slept() -> None:
        if world.clock.now() >= NOW + 20 * SECOND:
            workers.go_on()

    monkeypatch.setattr(Breaker, "made", made)
    workers.slept = slept
    assert execute(delivered(an_executor_message())) == []
    row = world.ledger.read(an_id())
    assert row
    assert (row.state, row.detail) == (State.EXECUTED, "HTTP 200")
    assert workers.left_behind == []
    assert reported == [Done("HTTP 200")], "once"


def test_an_attempt_without_a_limit_is_never_left_behind() -> None:
    def target(_: ExecutorMessage) -> Result:
        workers.hang()
        return Done("HTTP 200")

    def slept() -> None:
        if world.clock.now() >= NOW + HOUR:
            workers.go_on()

    world, workers, execute = limited(target, seconds=0)
    workers.slept = slept
    assert execute(delivered(an_executor_message())) == []
    assert workers.left_behind == []
    row = world.ledger.read(an_id())
    assert row
    assert row.state is State.EXECUTED


# ------------------------------------------------------------ what threads share


def test_who_goes_in_while_others_come_out_harms_nobody() -> None:
    """Attempts end in their threads, whatever asks for room meanwhile."""
    room = use_cases.room(World().ports("execute"))
    messages = [an_executor_message(NOW - 1 - number) for number in range(4)]
    said: list[object] = []
    before = sys.getswitchinterval()

    def in_and_out(number: int) -> None:
        for turn in range(300):
            [answer] = room.line_up({f"{number} {turn}": messages[number]}).values()
            said.append(answer)
            room.over(messages[number], f"{number} {turn}")

    threads = [Thread(target=in_and_out, args=(number,), daemon=True) for number in range(4)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    finally:
        sys.setswitchinterval(before)
    assert [type(one) for one in said] == [Go] * 1200
    whole = room.line_up({f"{number}": messages[0] for number in range(SLOTS)})
    assert sum(isinstance(one, Go) for one in whole.values()) == SLOTS // 2, "all slots were free again"


@pytest.mark.parametrize("settled", ["one", "other"])
def test_a_message_that_is_twice_in_a_batch_comes_again_if_one_of_them_does(
    settled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQS may deliver a message more than once; it is deleted by its id."""

    def settle(_: object, received: ReceivedMessage) -> Course:
        yield from ()
        return received.receipt == settled

    monkeypatch.setattr(Execute, "settle", settle)
    [received] = delivered(an_executor_message())
    assert set(World().execute([evolve(received, receipt="one"), evolve(received, receipt="other")])) == {"m0"}
