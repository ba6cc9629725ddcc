"""How long a function receives beside its batch."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import define

from delayer.actions.rules.model import Done, Result
from delayer.engines.aws.bounded_calls import DEADLINE, MOST_MARGIN
from delayer.engines.memory import AtOnce, MemoryObserver
from delayer.execute.execute import GRACE, Held
from delayer.flow.room import PATIENCE
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.messages import ExecutorMessage, encode
from delayer.wiring.executor import ATTEMPT, STOPS, Spread, handler_of
from tests.cfn import functions
from tests.fakes.target import ScriptedTarget
from tests.looking import put_row
from tests.samples import an_executor_message, claimed
from tests.world import START, World

EXECUTORS = sorted(name for name in functions() if name.startswith("executor-"))


@pytest.mark.parametrize("name", EXECUTORS)
def test_each_function_receives_for_a_while_and_has_time_for_what_it_receives(name: str) -> None:
    """Else a target that hangs would keep it idle; or it would only give back."""
    earliest, latest = STOPS
    assert functions()[name]["Timeout"] - MOST_MARGIN - ATTEMPT > latest
    assert earliest * 1_000 > PATIENCE


def test_each_invocation_stops_at_another_time() -> None:
    spread = Spread()
    drawn = set()
    for _ in range(20):
        spread.begin()
        drawn.add(spread.seconds)
    assert len(drawn) == 20
    assert all(STOPS[0] <= seconds <= STOPS[1] for seconds in drawn)


@define
class Observer(MemoryObserver):
    """As that of a function, which looks on."""

    def observed(self, handle: Any) -> Any:
        return handle


@define
class Noted(AtOnce):
    """Counts the invocations."""

    begun: int = 0

    def begin(self) -> None:
        self.begun += 1


def test_each_invocation_looks_after_threads_that_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many of them, the process ends: before anything has begun with its messages."""
    world = World()
    world.observer = Observer()
    noted = Noted(world.clock)
    monkeypatch.setattr(World, "workers_for", lambda *_: noted)
    target = ScriptedTarget(world.clock)
    handle = handler_of(world.ports("execute"), target)  # type: ignore[arg-type] # on fakes
    for number in (1, 2):
        handle(event_of(an_executor_message(START)), None)
        assert noted.begun == number
        assert target.reached == [], "it has no claim"


def event_of(message: ExecutorMessage) -> dict[str, object]:
    record = {"messageId": "1", "body": encode(message), "eventSourceARN": "arn:aws:sqs:::queue"}
    return {"Records": [record]}


@pytest.mark.parametrize(("left", "attempts"), [(ATTEMPT, 1), (ATTEMPT - 0.001, 0)], ids=["just enough", "too little"])
def test_an_attempt_begins_only_if_it_can_end(monkeypatch: pytest.MonkeyPatch, left: float, attempts: int) -> None:
    monkeypatch.setattr(type(DEADLINE), "left", lambda _: left)
    world = World()
    world.observer = Observer()
    message, target = an_executor_message(START), ScriptedTarget(world.clock)
    put_row(world.ledger, claimed(message.schedule, message.nonce))
    handle = handler_of(world.ports("execute"), target)  # type: ignore[arg-type] # on fakes
    handle(event_of(message), None)
    assert len(target.reached) == attempts


def test_what_its_author_says_is_how_long_an_attempt_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target is left behind a second later, whatever it waits for."""
    world = World()
    world.observer = Observer()
    message, looking = an_executor_message(START), Looking(world.clock)
    put_row(world.ledger, claimed(message.schedule, message.nonce))
    monkeypatch.setattr(World, "workers_for", lambda *_: looking)

    def target(_: ExecutorMessage) -> Result:
        deadlines.extend(one.left_at for one in looking.now.args if isinstance(one, Held))
        return Done("HTTP 200")

    deadlines: list[Millis] = []
    handle = handler_of(world.ports("execute"), target, seconds=5)  # type: ignore[arg-type] # on fakes
    handle(event_of(message), None)
    assert deadlines == [START + (5 + GRACE) * SECOND]


@define
class Looking(AtOnce):
    """Knows what is done now."""

    now: Any = None

    def start(self, number: int, do: Callable[[], object]) -> None:
        self.now = do
        super().start(number, do)

    do = start
