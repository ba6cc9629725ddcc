"""While a target keeps a function waiting, it receives more from its queue, and brings that to its end."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from attrs import define, field

from delayer.engines.ports import Outgoing, ReceivedMessage, Unavailable
from delayer.engines.workers import outcome_of
from delayer.execute.desk import Apart, Course, Desk, Until
from delayer.execute.refill import BATCH, LONGEST_PAUSE, LOOK, SHORTEST_PAUSE, TAKES_LONG, Refill, pause_after
from delayer.flow.rules.gate import SLOTS
from delayer.recovery.guard import COMES_AGAIN
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.messages import WARM_UP
from tests.fakes.messaging import MemoryQueue
from tests.world import START, World


def always() -> bool:
    return True


@define(eq=False, kw_only=True)
class Function:
    """Port Workers, and what is done about each message: `slow …` hang at their targets until they are released.

    Everything else that is done apart ends at once.
    """

    has_time: Callable[[], bool] = always
    world: World = field(factory=World)
    queue: MemoryQueue = field(init=False)
    refill: Refill = field(init=False)
    handled: list[str] = field(factory=list)
    pulls: list[tuple[Millis, int, int]] = field(factory=list)  # when, how many were asked for, and how many came
    when: dict[str, Callable[[], object]] = field(factory=dict)  # what happens when this message is handled
    is_released: bool = False
    most: int = 0  # under way at a time
    until: Millis = START + 30 * SECOND  # what hangs is released then
    desk: Desk = field(init=False)
    _hanging: list[int] = field(factory=list)
    _ended: list[tuple[int, Any]] = field(factory=list)
    _under_way: int = 0

    def __attrs_post_init__(self) -> None:
        self.queue = self.world.http_queue
        self.refill = Refill(
            clock=self.world.clock,
            guard=self.world.guarded_execute,
            own_queue=self,  # type: ignore[arg-type] # what it calls
            has_time=lambda: self.has_time(),
            observer=self.world.observer,
        )

    # ------------------------------------------------------------ port Workers

    def begin(self) -> None: ...

    def start(self, number: int, do: Callable[[], object]) -> None:
        if do == self.hang and not self.is_released:
            self._hanging.append(number)
        else:
            self._ended.append((number, outcome_of(do)))

    do = start

    def ended(self, until: Millis | None) -> list[tuple[int, object]]:
        if self.is_released:
            self._ended += [(number, None) for number in self._hanging]
            self._hanging.clear()
        if not self._ended and until:
            self.world.clock.sleep_until(until if self.is_released else min(until, self.until))
            self.is_released |= self.world.clock.now() >= self.until
        found, self._ended = self._ended, []
        return found

    def leave_behind(self, number: int) -> None:
        pytest.fail("nothing here has a deadline")

    # ------------------------------------------------------------ port Queue

    def pull(self, at_most: int) -> list[ReceivedMessage]:
        pulled = self.queue.pull(at_most)
        self.pulls.append((self.world.clock.now(), at_most, len(pulled)))
        return pulled

    def delete(self, received: ReceivedMessage) -> None:
        self.queue.delete(received)

    # ------------------------------------------------------------ the executor

    def hang(self) -> None: ...

    def release(self) -> None:
        self.is_released = True

    def settle(self, received: ReceivedMessage) -> Course:
        body = received.body
        self._under_way += 1
        self.most = max(self.most, self._under_way)
        self.handled.append(body)
        self.when.get(body, lambda: None)()
        if body.startswith("slow"):
            began = self.world.clock.now()
            yield Apart(self.hang, left_at=lambda: 0, kept_since=lambda: began)
        now = self.world.clock.now()
        if body.startswith("turn"):
            yield Until(now + SECOND, kept_since=now)
        if body.startswith("held"):
            yield Until(now + 2 * SECOND)
        if body.startswith("service"):
            yield Apart(self.hang)
        self._under_way -= 1
        return None if body == "not begun" else body != "unsettled"

    def __call__(self, *bodies: str) -> list[str]:
        """A batch; returns the bodies of what comes again."""
        done: dict[str, bool] = {}
        self.desk = Desk(clock=self.world.clock, workers=self, requests={})
        for at, body in enumerate(bodies):
            received = ReceivedMessage(message_id=f"m{at}", body=body, source="executor")
            self.desk.begin(self.settle(received), partial(done.__setitem__, body))
        self.desk.begin(self.refill(self.desk, self), lambda _: None)  # type: ignore[arg-type] # what it calls
        self.desk.run()
        return [body for body, is_done in done.items() if not is_done]


def function_with(*bodies: str, **parts: Any) -> Function:
    function = Function(**parts)
    function.queue.send([Outgoing(body=body) for body in bodies])
    return function


def left_in(function: Function) -> list[str]:
    return [message.body for message in function.queue.messages]


def numbered(name: str, number: int) -> list[str]:
    return [f"{name} {at}" for at in range(number)]


def test_while_one_hangs_others_are_received_and_deleted() -> None:
    quick = numbered("quick", 30)
    function = function_with(*quick)
    assert function("slow") == []
    assert sorted(function.handled) == sorted(["slow", *quick])
    assert left_in(function) == []
    assert [asked for _, asked, _ in function.pulls[:3]] == [BATCH] * 3


def test_as_many_are_received_as_there_are_slots() -> None:
    """Each hangs: all slots are used, and no more is received."""
    function = function_with(*numbered("slow", SLOTS + 5))
    function("slow")
    assert function.most == SLOTS
    assert sum(came for _, _, came in function.pulls) == SLOTS - 1
    assert len(left_in(function)) == 6


def test_what_is_received_is_as_much_as_finds_room() -> None:
    function = function_with(*numbered("slow", SLOTS))
    function(*numbered("slow at first", 10))
    assert sum(asked for at, asked, _ in function.pulls[:1]) == SLOTS - 10
    assert function.most == SLOTS


def test_what_it_received_is_brought_to_its_end() -> None:
    """Its batch is done, and it waits for the rest, which is held for two seconds."""
    function = function_with("held", until=START + SECOND)
    assert function("slow") == []
    assert function.world.clock.now() > START + 2 * SECOND
    assert left_in(function) == []


def test_it_goes_on_receiving_when_its_batch_is_done_and_what_it_received_hangs() -> None:
    """Its batch waits for its turn, which keeps others waiting as a target does."""
    function = function_with("slow too")
    function.when["slow too"] = lambda: function.queue.send([Outgoing(body="quick", delay_seconds=2)])
    function.when["quick"] = function.release
    assert function("turn") == []
    assert function.handled == ["turn", "slow too", "quick"]
    assert START + 2 * SECOND < function.world.clock.now() < START + 3 * SECOND
    assert left_in(function) == []


def test_what_there_was_no_time_for_is_given_back_at_once() -> None:
    """Another function may begin it. What was not settled for another reason comes again after a while."""
    left = [True]
    function = function_with("not begun", has_time=lambda: bool(left))
    function.when["not begun"] = left.clear
    function("slow")
    assert function.queue.visible() == 1
    function = function_with("unsettled")
    function.when["unsettled"] = function.release
    function("slow")
    assert (function.queue.visible(), len(left_in(function))) == (0, 1)
    function.world.clock.move(COMES_AGAIN * SECOND)
    assert function.queue.visible() == 1


@pytest.mark.parametrize("where", ["admits", "end", "delete"])
def test_whatever_is_raised_beside_the_batch_is_said_and_harms_nobody(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes again. The batch is settled, and so is what else is received."""
    function = function_with("broken", "quick")
    owner: Any = function if where == "delete" else function.world.guarded_execute
    real = getattr(type(owner), where)

    def breaks(self: Any, received: Any, *given: object) -> Any:
        if "broken" in repr(received):
            raise ZeroDivisionError
        return real(self, received, *given)

    monkeypatch.setattr(type(owner), where, breaks)
    assert function("slow") == []
    assert "quick" in function.handled
    assert left_in(function) == ["broken"]
    assert any("beside the batch" in str(line) for line in function.world.observer.lines)


@pytest.mark.parametrize(
    ("pause", "received", "asked", "then"),
    [
        pytest.param(LOOK, 10, 10, LOOK, id="there is more"),
        pytest.param(LONGEST_PAUSE, 10, 10, LOOK, id="there is more again"),
        pytest.param(LOOK, 0, 10, SHORTEST_PAUSE, id="nothing"),
        pytest.param(100, 0, 10, 200, id="nothing twice"),
        pytest.param(200, 0, 10, LONGEST_PAUSE, id="nothing for long"),
        pytest.param(LONGEST_PAUSE, 0, 10, LONGEST_PAUSE, id="nothing at all"),
        pytest.param(400, 3, 10, 200, id="a few"),
        pytest.param(100, 1, 10, SHORTEST_PAUSE, id="a few again"),
    ],
)
def test_the_less_there_is_the_more_rarely_it_is_asked_for(
    pause: Millis, received: int, asked: int, then: Millis
) -> None:
    """SQS is paid for each receive."""
    assert pause_after(pause, received, asked) == then


def test_it_is_asked_for_in_these_pauses() -> None:
    """From when the target takes long; at once again while there is more."""
    function = function_with(*numbered("quick", 12), until=START + 2 * SECOND)
    function("slow")
    instants = [at - START for at, *_ in function.pulls]
    assert instants[0] == TAKES_LONG
    assert [later - at for at, later in pairwise(instants)][:5] == [50, 100, 200, 250, 250]


def test_what_is_not_settled_stays_in_the_queue() -> None:
    function = function_with("unsettled", "quick")
    assert function("slow", "unsettled") == ["unsettled"]
    assert left_in(function) == ["unsettled"]


@pytest.mark.parametrize("beside", ["quick", "held", "service"])
def test_as_long_as_nothing_hangs_at_its_target_nothing_is_received(beside: str) -> None:
    """While the ledger is slow, what else is received would be slow, too."""
    function = function_with("another", until=START + 3 * SECOND)
    assert function("a", beside) == []
    assert function.handled == ["a", beside]
    assert (function.pulls, len(left_in(function))) == ([], 1)


def test_a_target_that_answers_soon_keeps_nobody_waiting() -> None:
    function = function_with("another", until=START + TAKES_LONG - 1)
    function("slow")
    assert function.pulls == []


def test_nothing_is_received_that_could_not_be_brought_to_its_end() -> None:
    asked: list[Millis] = []

    def has_time() -> bool:
        asked.append(1)
        return False

    function = function_with("quick", has_time=has_time)
    assert function("slow") == []
    assert asked
    assert function.handled == ["slow"]
    assert left_in(function) == ["quick"]


def test_if_nothing_can_be_received_the_batch_is_handled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    function = function_with("quick")

    def unavailable(*_: object) -> list[ReceivedMessage]:
        function.release()
        raise Unavailable("SQS is down")

    monkeypatch.setattr(Function, "pull", unavailable)
    assert function("slow") == []
    assert any("nothing received" in str(line) for line in function.world.observer.lines)


def test_a_warm_up_that_is_received_beside_is_deleted() -> None:
    function = function_with(WARM_UP)
    function("slow")
    assert left_in(function) == []


def test_nothing_is_received_by_itself() -> None:
    """A function that has nothing under way has ended."""
    function = function_with("quick")
    assert function() == []
    assert (function.handled, function.world.clock.now()) == ([], START)
