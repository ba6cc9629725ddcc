"""What is due fires in pages. One that raises is taken apart, and what raises alone keeps nobody waiting."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from delayer.actions.rules.model import Done
from delayer.engines.memory import ManualClock
from delayer.relay import rules
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis
from delayer.schedule.messages import ExecutorMessage
from delayer.serve.turns import fire
from delayer.serve.turns.fire import Fire
from tests.unit.serve.machines import Running

SAID = "a secret of a client"


def reaching() -> tuple[Running, list[str]]:
    """A machine, and the schedules that its target was reached for."""
    reached: list[str] = []

    def target(message: Any) -> Done:
        reached.append(message.schedule.id)
        return Done("done")

    return Running(targets=lambda _: target), reached


def failing_at(name: str, is_bad: Callable[[str], bool]) -> Callable[..., Any]:
    """In the place of what Fire does with some schedules at this place."""
    ours = getattr(Fire, name)

    def do(self: Fire, first: Any, second: Any) -> Any:
        claimed: Mapping[str, ExecutorMessage] = second if isinstance(second, dict) else {}
        named = [one.schedule.id for one in claimed.values()] or [first.get("due", "").partition("#")[2]]
        if any(is_bad(one) for one in named):
            raise ValueError(SAID)
        return ours(self, first, second)

    return do


def history(running: Running, schedule_id: str) -> list[str]:
    running.settle()
    _, shown = running.call("GET", f"/schedules/{schedule_id}")
    return [one["event"] for one in shown["history"]]


@pytest.mark.parametrize("place", ["decide", "send"])
@pytest.mark.parametrize("bad", [{0}, {31}, {63}, {5, 6}, {0, 63}], ids=str)
def test_its_neighbours_fire_at_once_and_it_comes_again(
    monkeypatch: pytest.MonkeyPatch, place: str, bad: set[int]
) -> None:
    running, reached = reaching()
    ids = [running.schedule(60) for _ in range(64)]
    poison = {ids[one] for one in bad}
    monkeypatch.setattr(Fire, place, failing_at(place, poison.__contains__))
    running.clock.at += MINUTE
    running.machine.turn()
    assert {one["scheduleId"] for one in running.machine.items.rows("ledger")} == set(ids) - poison, "in the same turn"
    running.settle()
    assert set(reached) == set(ids) - poison
    said = running.warned("a schedule could not be fired: the relay has it")
    assert len(said) == len(bad)
    assert SAID not in str(running.observer.lines)
    assert running.machine.items.rows("schedules") == []
    monkeypatch.undo()
    running.run(10 * SECOND)
    assert sorted(reached) == sorted(ids), "once"
    assert history(running, ids[min(bad)]) == ["scheduled", "enqueued", "claimed", "executed"]


def test_what_always_raises_waits_longer_each_time_and_is_there_until_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    running, reached = reaching()
    monkeypatch.setattr(rules, "decide", lambda *_: 1 // 0)  # the relay has it, too
    schedule = running.schedule()
    turns = [0]
    turn = type(running.machine).turn

    def counted(*given: Any, **named: Any) -> bool:
        turns[0] += 1
        return turn(*given, **named)

    monkeypatch.setattr(type(running.machine), "turn", counted)
    running.run(DAY)
    assert turns[0] < 3 * DAY // (5 * MINUTE)
    assert reached == []
    monkeypatch.undo()
    running.run(HOUR)
    assert reached == [schedule]


def test_what_was_set_aside_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    running, reached = reaching()
    monkeypatch.setattr(Fire, "decide", failing_at("decide", lambda _: True))
    schedule = running.schedule()
    running.settle()
    monkeypatch.undo()
    assert running.call("DELETE", f"/schedules/{schedule}")[0] == 200
    running.run(MINUTE)
    assert reached == []


@pytest.mark.parametrize("text", [b"{", b'{"due": 1}', b"\xff"], ids=str)
def test_what_cannot_be_read_is_a_dead_letter_with_all_that_there_is(text: bytes) -> None:
    running, reached = reaching()
    bad, good = running.schedule(60), running.schedule(60)
    running.database.write("UPDATE items SET item = ? WHERE sort LIKE ?", (text, f"%{bad}"))
    running.clock.at += MINUTE
    running.run(MINUTE)
    assert reached == [good]
    [letter] = [one for key, one in running.objects.items() if key.startswith("dead-lettered/")]
    assert json.loads(letter)["body"]


def test_a_page_is_no_larger_than_a_turn_may_write(monkeypatch: pytest.MonkeyPatch) -> None:
    running, reached = reaching()
    monkeypatch.setattr(fire, "BYTES", 3_000)
    ids = [running.schedule(60, payload="x" * 1_000) for _ in range(5)]
    large = running.schedule(61, payload="x" * 5_000)
    running.clock.at += 2 * MINUTE
    assert 1 <= len(running.machine.fire.due(64)) < 5
    running.settle()
    assert reached == [*ids, large], "one is fired whatever its size"


@pytest.mark.parametrize("delay", [0, 5, 2_000])
@pytest.mark.parametrize("ticks", [0, 1, 7])
def test_its_history_says_once_that_it_has_left_the_table(
    monkeypatch: pytest.MonkeyPatch, delay: int, ticks: int
) -> None:
    """The removal of its record and its row both tell it: as on AWS, it is one event, whatever time passes between."""
    running, _ = reaching()

    def now(clock: ManualClock) -> Millis:
        clock.at += ticks
        return clock.at

    schedules = [running.schedule(delay) for _ in range(3)]
    monkeypatch.setattr(ManualClock, "now", now)
    running.run((delay + 5) * SECOND)
    for schedule in schedules:
        assert history(running, schedule) == ["scheduled", "enqueued", "claimed", "executed"]
    said = [one["type"].rpartition(".")[2] for one in running.call("GET", "/events")[1]["events"]]
    assert said.count("enqueued") == len(schedules)
