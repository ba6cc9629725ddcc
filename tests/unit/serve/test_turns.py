"""A turn is bounded, and nothing that is done in it can end the turns, or keep what is due waiting."""

from collections.abc import Callable
from typing import Any

import pytest

from delayer.engines.ports import Unavailable
from delayer.schedule.instants import SECOND
from delayer.serve.fire import Fire
from delayer.serve.turn import TurnJob
from tests.unit.serve.machines import Running

SAID = "a secret of a client"


def sleeps(running: Running) -> Callable[..., Any]:
    clock = running.machine.ports("anything").clock

    def do(*_: object) -> None:
        running.machine.again.failed("somebody", 1, "this is undone")
        clock.sleep_until(running.clock.now() + SECOND)

    return do


def test_a_job_that_would_wait_is_undone_and_ends_nothing() -> None:
    """A command of an operator, or whatever else comes from another thread."""
    running = Running()
    reported: list[Any] = []
    running.machine.turn([TurnJob(do=sleeps(running), deliver=reported.append)])
    assert [type(one) for one in reported] == [Unavailable]
    assert running.database.read("SELECT * FROM again", ()) == []
    running.schedule()


def test_a_call_that_would_wait_is_answered_503(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running()
    monkeypatch.setattr(running.machine.function("api-schedule-post").handler, "answer", sleeps(running))
    status, _ = running.call("POST", "/schedules", {})
    assert status == 503
    monkeypatch.undo()
    running.schedule()


def test_the_text_of_a_defect_is_not_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may hold what a client sent (ADR 0067)."""
    running = Running()

    def fails(*_: object, **__: object) -> None:
        raise ValueError(SAID)

    monkeypatch.setitem(running.machine.uses, "stream-lifecycle", fails)
    monkeypatch.setattr(Fire, "page", fails)
    running.schedule()
    running.machine.turn()
    running.machine.turn()
    lines = [one for one in running.observer.lines if "error" in one[2]]
    assert {one[0] for one in lines} == {
        "a schedule could not be fired: the relay has it",
        "stream-lifecycle has failed",
    }
    assert {one[2]["error"] for one in lines} == {"ValueError"}
    assert all(one[2]["where"] for one in lines)
    assert SAID not in str(running.observer.lines)
