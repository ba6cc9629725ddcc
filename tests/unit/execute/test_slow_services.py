"""Whatever asks AWS for an attempt may take its time: nothing waits for ever, is lost, or harms its neighbours."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import define, evolve, field

from delayer.actions.rules.model import Done, Refused, Result
from delayer.engines.ports import NotBegun
from delayer.engines.store.model import entry_key
from delayer.flow.repository import HOLD, SLOTS_LIST
from delayer.flow.rules.block import opened
from delayer.flow.rules.gate import SLOTS, Go, seats_of
from delayer.flow.words import limited, suspended
from delayer.ledger.model import LedgerRow, State
from delayer.ledger.rules import contested, stopped, taken
from delayer.schedule.instants import MINUTE, SECOND, Millis
from delayer.schedule.messages import ExecutorMessage
from tests.looking import put_item, put_row
from tests.samples import NOW, a_claim, an_executor_message, an_id
from tests.unit.execute.test_execute import delivered
from tests.unit.flow.use_cases.test_limits import PARTY, TEN, world_with, writes
from tests.world import ACTION, World

TWO = limited(PARTY, NOW - MINUTE, 0, "", concurrency=2)


@define
class Slow:
    """Each call takes so long. What comes before it, and after it, is done once each."""

    of: Any
    world: World
    takes: Millis = 0
    before: list[Callable[[], None]] = field(factory=list)
    after: list[Callable[[], None]] = field(factory=list)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if self.before:
                self.before.pop(0)()
            self.world.clock.move(self.takes)
            answer = getattr(self.of, name)(*arguments, **named)
            if self.after:
                self.after.pop(0)()
            return answer

        return call


def the_row(world: World) -> LedgerRow:
    row = world.ledger.read(an_id())
    assert row
    return row


def stop(world: World) -> None:
    put_row(world.ledger, stopped(the_row(world), world.clock.now()))


@pytest.mark.parametrize("takes", [20, 140, 160, 300, 2_000])
def test_a_line_that_answers_slowly_keeps_no_message_for_ever(takes: Millis) -> None:
    """Each turn is missed when its answer comes. Another message waits on, and its function goes on with others."""
    world = world_with(TEN)
    put_row(world.ledger, a_claim())
    booking = world.execute.room.turns.booking
    booking.lines = Slow(booking.lines, world, takes)
    assert world.execute(delivered(an_executor_message())) == []
    assert world.clock.now() - NOW < 12 * SECOND
    assert (len(world.target.reached), world.http_queue.sent) == ((1, 0) if takes < 150 else (0, 1))


def test_without_time_a_message_waits_for_no_room() -> None:
    world = world_with(TEN)
    put_row(world.ledger, a_claim())
    [left] = evolve(world.execute, has_time=lambda: False)(delivered(an_executor_message()))
    assert isinstance(left, NotBegun), "another function may begin it at once"
    assert writes(world) == 0


def test_a_row_of_seats_that_cannot_be_read_harms_whoever_it_counts_and_nobody_else() -> None:
    world = world_with(TWO)
    unread = {"taken": 2, HOLD + "x": f"2 {NOW + MINUTE} of-a-newer-version"}
    put_item(world.seat_rows, entry_key(SLOTS_LIST, seats_of(TWO)), unread)
    messages = []
    for at in range(10):
        url = "http://target/" if at == 0 else f"http://target{at}/"
        message = an_executor_message(NOW, randomness=bytes([at] * 8), action=json.dumps({**ACTION, "url": url}))
        put_row(world.ledger, evolve(a_claim(), schedule_id=message.schedule.id))
        messages.append(message)
    assert world.execute(delivered(*messages)) == ["m0"]
    assert len(world.target.reached) == 9


def test_a_defect_of_the_room_harms_one_message_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    put_row(world.ledger, a_claim())
    neighbour = an_executor_message(NOW + 1)
    put_row(world.ledger, a_claim(NOW + 1))
    line_up = type(world.execute.room).line_up

    def failing(self: Any, messages: dict[str, ExecutorMessage]) -> Any:
        if any(one.schedule.id == an_id() for one in messages.values()):
            raise ZeroDivisionError
        return line_up(self, messages)

    monkeypatch.setattr(type(world.execute.room), "line_up", failing)
    assert world.execute(delivered(an_executor_message(), neighbour)) == ["m0"]
    assert [message for _, message in world.target.reached] == [neighbour]


@pytest.mark.parametrize("slow", ["its policy", "its take"])
def test_a_stop_is_missed_by_half_a_second_at_most(slow: str) -> None:
    """What was read, or taken, longer ago is read again before its attempt."""
    world = World()
    put_row(world.ledger, contested(a_claim()) if slow == "its take" else a_claim())
    ledger = Slow(world.ledger_in_batches, world)

    def stops() -> None:
        world.clock.move(3 * SECOND)
        stop(world)

    def permit(_: ExecutorMessage) -> Refused | None:
        if slow == "its policy" and not the_row(world).stopped_at:
            stops()
        return None

    if slow == "its take":
        ledger.after = [lambda: None, stops]
    execute = evolve(world.execute, ledger_in_batches=ledger, permit=permit)
    assert execute(delivered(an_executor_message())) == []
    assert world.target.reached == []
    assert the_row(world).state is State.DROPPED


def test_whoever_is_taken_in_anew_leaves_again() -> None:
    """A circuit opens, its hop is refused, the circuit closes, it has a seat again, and its take is refused."""
    world = world_with(TWO)
    put_row(world.ledger, evolve(a_claim(), attempt=2, retry_of="f0"))
    circuit = opened(PARTY, NOW, "down")

    def opens() -> None:
        world.blocks.change(circuit)
        world.clock.move(2_500)

    def closes() -> None:
        put_row(world.ledger, contested(the_row(world)))
        world.blocks.remove(circuit)
        world.clock.move(2_500)

    def takes() -> None:
        put_row(world.ledger, taken(the_row(world), "other"))

    ledger = Slow(world.ledger_in_batches, world, before=[opens, closes, takes])
    execute = evolve(world.execute, ledger_in_batches=ledger)
    assert execute(delivered(an_executor_message(attempt=2))) == []
    assert world.target.reached == []
    world.blocks.remove(TWO)
    world.clock.move(10 * SECOND)
    others = {f"{at}": an_executor_message() for at in range(SLOTS)}
    answers: Sequence[object] = [*execute.room.line_up(others).values()]
    assert sum(isinstance(one, Go) for one in answers) == SLOTS // 2, "all slots are free"


def test_what_was_taken_goes_by_the_turn_that_it_has_booked() -> None:
    """Its target is suspended since: that puts it off no more. The turn is booked at the last look."""
    world = world_with(TEN, suspended(PARTY, NOW, "", ""))
    put_row(world.ledger, taken(contested(a_claim()), an_executor_message().fence))
    assert world.execute(delivered(an_executor_message())) == []
    assert [at - NOW for at, _ in world.target.reached] == [50]
    assert writes(world) == 1


def test_a_target_that_exits_has_had_its_attempt() -> None:
    world = World()
    put_row(world.ledger, a_claim())

    def target(message: ExecutorMessage) -> Result:
        raise SystemExit(message.attempt)

    assert evolve(world.execute, target=target)(delivered(an_executor_message())) == []
    assert (the_row(world).attempt, the_row(world).detail) == (2, "the executor failed: SystemExit")


def test_without_a_thread_for_it_an_attempt_comes_again_and_its_neighbours_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    put_row(world.ledger, a_claim())
    neighbour = an_executor_message(NOW + 1)
    put_row(world.ledger, a_claim(NOW + 1))
    start = type(world.execute.workers).start
    refused: list[int] = []

    def starting(self: Any, number: int, do: Callable[[], object]) -> None:
        if not refused and "make" in repr(do):
            refused.append(number)
            raise RuntimeError("can't start new thread")
        start(self, number, do)

    monkeypatch.setattr(type(world.execute.workers), "start", starting)
    assert world.execute(delivered(an_executor_message(), neighbour)) == ["m0"]
    assert len(world.target.reached) == 1
    assert the_row(world).attempt == 1


def test_a_clock_that_is_set_back_before_an_attempt_holds_nothing() -> None:
    """It would be held for as long as the clock was set back."""
    world = World()
    put_row(world.ledger, a_claim())

    def set_back() -> None:
        world.clock.at -= 600 * SECOND

    ledger = Slow(world.ledger_in_batches, world, after=[set_back])
    assert evolve(world.execute, ledger_in_batches=ledger, target=lambda _: Done("too early"))(
        delivered(an_executor_message())
    ) == ["m0"]
    assert the_row(world).state is State.CLAIMED
