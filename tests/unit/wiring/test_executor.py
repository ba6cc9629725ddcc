"""How long a function receives beside its batch."""

from typing import Any

import pytest
from attrs import define

from delayer.engines.aws.bounded_calls import DEADLINE, MOST_MARGIN
from delayer.engines.aws.time_limit import TimeLimit
from delayer.engines.memory.runtime import MemoryObserver
from delayer.fakes import ScriptedTarget
from delayer.flow.use_cases.seats import SLOT_PATIENCE
from delayer.schedule.messages import encode
from delayer.wiring import executor
from delayer.wiring.executor import ATTEMPT, STOPS, Spread, handler_of
from tests.cfn import functions
from tests.looking import put_row
from tests.samples import an_executor_message, claimed
from tests.world import START, World

EXECUTORS = sorted(name for name in functions() if name.startswith("executor-"))


@pytest.mark.parametrize("name", EXECUTORS)
def test_each_function_receives_for_a_while_and_has_time_for_what_it_receives(name: str) -> None:
    """Else a target that hangs would keep it idle; or it would only give back."""
    earliest, latest = STOPS
    assert functions()[name]["Timeout"] - MOST_MARGIN - ATTEMPT > latest
    assert earliest * 1_000 > SLOT_PATIENCE


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


class Noted(TimeLimit):
    """Counts the invocations."""

    begun = 0

    def begin(self) -> None:
        type(self).begun += 1


def test_each_invocation_looks_after_threads_that_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many of them, the process ends."""
    monkeypatch.setattr(executor, "TimeLimit", Noted)
    world = World()
    world.observer = Observer()
    handle = handler_of(world.ports("execute"), ScriptedTarget(world.clock))  # type: ignore[arg-type] # on fakes
    for _ in range(2):
        handle({"Records": []}, None)
    assert Noted.begun == 2


@pytest.mark.parametrize(("left", "attempts"), [(ATTEMPT, 1), (ATTEMPT - 0.001, 0)], ids=["just enough", "too little"])
def test_an_attempt_begins_only_if_it_can_end(monkeypatch: pytest.MonkeyPatch, left: float, attempts: int) -> None:
    monkeypatch.setattr(type(DEADLINE), "left", lambda _: left)
    world = World()
    world.observer = Observer()
    message, target = an_executor_message(START), ScriptedTarget(world.clock)
    put_row(world.ledger, claimed(message.schedule, message.nonce))
    handle = handler_of(world.ports("execute"), target)  # type: ignore[arg-type] # on fakes
    handle({"Records": [{"messageId": "1", "body": encode(message), "eventSourceARN": "arn:aws:sqs:::queue"}]}, None)
    assert len(target.reached) == attempts
