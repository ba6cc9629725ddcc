"""A canary in every tick: it takes the whole path, is measured apart from the users' schedules, and disturbs nobody."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import define, evolve

from delayer.accept.use_cases.issue import Ids
from delayer.dead_letters.model import decode as decode_dead_letter
from delayer.engines.memory import ManualClock, MemoryObserver
from delayer.engines.ports import Clock, Observer, ReceivedMessage, Unavailable
from delayer.ledger.model import LedgerChange, State
from delayer.ledger.rules import Claim, decide_claim
from delayer.recovery.canary import SendCanary
from delayer.recovery.rules import Path
from delayer.relay.relay import first_attempt
from delayer.schedule.instants import MINUTE, SECOND
from delayer.schedule.messages import DelayerMessage, encode
from delayer.schedule.schedule import SYSTEM_OWNER, Schedule
from delayer.schedule.tables import SCHEDULES
from delayer.wiring import use_cases
from delayer.wiring.build import build
from delayer.wiring.pump import QueueSource
from tests.fakes.faults import Crash
from tests.fakes.messaging import MemoryQueue
from tests.samples import an_executor_message
from tests.unit.targets.apps import app_of
from tests.world import PERIOD, START, World


@define(kw_only=True, slots=False)
class CanaryWorld(World):
    """A stack with the canary switched on, and the executor of its action."""

    def build(self) -> None:
        self.settings = evolve(self.settings, has_canary=True)
        super().build()
        self.canary_queue = MemoryQueue(clock=self.clock, name="canary", visibility=90 * SECOND)
        self.canary_observer = MemoryObserver()
        target = canary_target(self.clock, self.canary_observer)
        self.execute_canary = evolve(
            use_cases.execute(self.ports("canary"), target),
            own_queue=self.canary_queue,
            observer=self.canary_observer,
            check=target.check,
        )
        self.relay = evolve(self.relay, executor_queues={**self.relay.executor_queues, "canary": self.canary_queue})
        ids = build(Ids, self.ports("tick"))
        self.send_canary = build(SendCanary, self.ports("tick"), ids=ids)
        self.played["executor-canary"] = "execute_canary"
        self.pump.sources.append(QueueSource(function="executor-canary", queue=self.canary_queue))

    def canaries(self) -> list[Schedule]:
        """All that were stored."""
        rows = [change.row for change in self.feed.records[SCHEDULES] if change.kind == "INSERT"]
        return [row for row in rows if isinstance(row, Schedule) and row.owner == SYSTEM_OWNER]


def canary_target(clock: Clock, observer: Observer) -> Any:
    """Port Target: the function of the action, with these at hand."""
    app = app_of("canary")
    app.handler.ports = SimpleNamespace(clock=clock, observer=observer)
    return app.handler.target


def test_each_tick_sends_one_and_each_arrives_on_time() -> None:
    """For an hour: those within the delayer period, and those beyond it."""
    world = CanaryWorld()
    world.run_until(START + 60 * MINUTE)
    arrived = world.canary_observer.canaries
    sent = len(world.canaries())
    assert sent == pytest.approx(60, abs=1)
    under_way = (PERIOD + 2 * MINUTE) // (2 * MINUTE)
    assert {metric for metric, _ in arrived} == {"CanaryNearLateness", "CanaryFarLateness"}
    assert sent - under_way - 2 <= len(arrived) < sent
    assert {lateness for _, lateness in arrived} == {0}


def test_each_canary_keeps_an_environment_of_each_executor_warm() -> None:
    """Once a minute each gets a message that asks for nothing, and leaves nothing behind."""
    world = CanaryWorld()
    handled: list[str] = []
    healthy = world.execute

    def counted(batch: Sequence[ReceivedMessage]) -> list[str]:
        handled.extend(one.body for one in batch)
        return healthy(batch)

    world.execute = counted  # type: ignore[assignment] # only called
    world.run_until(START + 30 * MINUTE)
    assert handled == [], "that its function has started is all that is wanted"
    assert world.http_queue.sent == len(world.canary_observer.canaries)
    assert world.http_queue.messages == []
    assert world.target.reached == []
    assert world.observer.warnings == []


def test_a_warm_up_that_cannot_be_sent_keeps_no_canary() -> None:
    """Whatever goes wrong: by then all is handed over, and what raises would hand it over once more."""
    for closed in (Closed(), Broken()):
        world = CanaryWorld()
        queues: Any = {**world.relay.executor_queues, "http-request": closed}
        world.relay = evolve(world.relay, executor_queues=queues)
        world.run_until(START + 10 * MINUTE)
        assert world.canary_observer.canaries
        assert world.canary_queue.sent <= len(world.canaries())
        assert bool(world.observer.warnings) == isinstance(closed, Broken)


class Broken:
    """A defect."""

    def send(self, messages: Sequence[Any]) -> list[int]:
        raise KeyError("a type that was taken out a moment ago")


class Closed:
    """SQS takes nothing."""

    def send(self, messages: Sequence[Any]) -> list[int]:
        return list(range(len(messages)))


def test_it_is_not_counted_among_the_users_schedules() -> None:
    world = CanaryWorld()
    world.run_until(START + 10 * MINUTE)
    assert world.canary_observer.canaries
    assert world.observer.lateness == []
    assert not {"Accepted", "Executed", "Late"} & set(world.observer.counts)


def test_after_an_outage_the_old_ones_are_dropped() -> None:
    """Half an hour of them at once would say nothing."""
    world = CanaryWorld()
    down: Any = Down()
    world.relay = evolve(world.relay, ledger_in_batches=down)
    world.run_until(START + 4 * MINUTE)
    world.ticking = False
    world.clock.sleep_until(START + 40 * MINUTE)
    world.build()
    world.run_until(START + 41 * MINUTE)
    ends = {row.state for canary in world.canaries() if (row := world.row(canary))}
    assert ends == {State.DROPPED}
    assert world.canary_observer.canaries == []


class Down:
    """A ledger that does not answer."""

    def write(self, changes: Any) -> list[Unavailable]:
        return [Unavailable("down")] * len(changes)


class Failing:
    """Ids, or a table, that raises."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def issue_for(self, *_: object) -> Any:
        raise self.error

    def put(self, _: object) -> None:
        raise self.error

    def beat(self, _: object) -> None:
        raise self.error


@pytest.mark.parametrize("part", ["ids", "schedules"])
@pytest.mark.parametrize("error", [Unavailable("throttled"), ValueError("a defect"), RecursionError()])
def test_the_tick_does_not_fail_because_of_its_canary(part: str, error: Exception) -> None:
    world = CanaryWorld()
    assert isinstance(world.tick.canary, SendCanary)
    failing: dict[str, Any] = {part: Failing(error)}
    canary = evolve(world.tick.canary, **failing)
    due = world.post(START + PERIOD + 90 * SECOND)
    world.read_stream()
    world.clock.move(2 * MINUTE)
    evolve(world.tick, canary=canary)()
    assert due
    assert world.observer.counts["Swept"] == 1
    assert world.observer.warnings == ["no canary"]


def test_a_tick_that_fails_has_its_canary_and_still_fails() -> None:
    """A sweep that is held, or broken, is when the canary is needed most."""
    world = CanaryWorld()
    failing: Any = Failing(Unavailable("throttled"))
    with pytest.raises(Unavailable):
        evolve(world.tick, schedules=failing)()
    assert len(world.canaries()) == 1


def test_a_crash_is_not_hidden() -> None:
    world = CanaryWorld()
    assert isinstance(world.tick.canary, SendCanary)
    with pytest.raises(Crash):
        evolve(world.tick.canary, ids=Failing(Crash("out of time")))()


def test_switched_off_there_is_none() -> None:
    world = World()
    assert world.tick.canary is None
    world.tick()
    assert [change for change in world.feed.records[SCHEDULES] if isinstance(change.row, Schedule)] == []


def test_a_message_of_no_known_path_is_dead_lettered() -> None:
    """Such as one of a later version: nothing is measured for it."""
    world = CanaryWorld()
    world.send_canary()
    [canary] = world.canaries()
    odd = evolve(canary, definition=evolve(canary.definition, action='{"type":"canary","path":"round"}'))
    message = DelayerMessage(schedule=odd, nonce="nonce")
    claim = decide_claim(Claim(message=message, fence="fence", now=START, lease=SECOND), None)
    assert isinstance(claim, LedgerChange)
    world.ledger.write([claim])
    world.clock.sleep_until(odd.point_in_time)
    handed_over = encode(first_attempt(message, "fence"))
    assert world.execute_canary([ReceivedMessage(message_id="1", body=handed_over)]) == []
    assert world.canary_observer.canaries == []
    row = world.row(odd)
    assert row
    assert row.state is State.DEAD_LETTERED
    [body] = world.store.objects.values()
    letter = decode_dead_letter(body)
    assert letter.reason.startswith("not an action canary as this version knows it: Invalid enum value 'round'")


def test_the_paths_are_measured_apart() -> None:
    clock, observer = ManualClock(START + 7), MemoryObserver()
    target = canary_target(clock, observer)
    for path in Path:
        message = an_executor_message()
        definition = evolve(message.schedule.definition, action=f'{{"type":"canary","path":"{path}"}}')
        target(evolve(message, schedule=evolve(message.schedule, point_in_time=START, definition=definition)))
    assert observer.canaries == [("CanaryNearLateness", 7), ("CanaryFarLateness", 7)]
