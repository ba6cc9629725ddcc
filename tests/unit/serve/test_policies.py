"""A policy that others have written is asked beside the turns: it may take its time, or hang, and harms only itself."""

from pathlib import Path
from typing import Any

from delayer.schedule.instants import HOUR, MINUTE, SECOND
from delayer.serve.beside.beside import AT_A_TIME
from delayer.serve.beside.extensions import extensions_in
from tests.unit.serve.machines import START, Running
from tests.unit.serve.test_folders import POLICY, write

ACTION = {"type": "http-request", "url": "https://example.com/"}
WHEN = {"policy": "next-full-hour"}
DIES = "    raise SystemExit('a secret of a client')\n"


def with_policy(folder: Path, text: str = POLICY) -> Running:
    return Running(at=START + MINUTE, extensions=extensions_in([write(folder, {"policy-next-full-hour": text})]))


def ask(running: Running, **fields: Any) -> str:
    status, shown = running.call("POST", "/schedules", {"when": WHEN, "action": ACTION, **fields})
    assert status == 201, shown
    return str(shown["scheduleId"])


def state_of(running: Running, schedule_id: str) -> str:
    return str(running.call("GET", f"/schedules/{schedule_id}")[1]["state"])


def turns(running: Running, number: int = 10) -> None:
    """Without anything that is in threads."""
    for _ in range(number):
        running.machine.turn()


def test_it_is_asked_in_a_thread_and_its_answer_is_written_in_a_turn(tmp_path: Path) -> None:
    running = with_policy(tmp_path)
    schedule = ask(running)
    turns(running)
    assert state_of(running, schedule) == "undecided"
    [asked] = running.started
    running.started.clear()
    asked()
    assert running.machine.items.rows("ledger") == []
    running.machine.turn()
    assert state_of(running, schedule) == "scheduled"
    running.run(HOUR)
    assert state_of(running, schedule) == "executed"


def test_one_that_does_not_answer_in_time_is_asked_again_and_its_late_answer_is_none(tmp_path: Path) -> None:
    running = with_policy(tmp_path)
    schedule = ask(running)
    turns(running)
    late = running.started.popleft()
    running.clock.at += MINUTE
    turns(running)
    assert [line[2] for line in running.warned("a policy does not answer")] == [
        {"policy": "next-full-hour", "hanging": 1}
    ]
    assert [line[2]["error"] for line in running.warned("its time is not decided")] == ["TimeoutError"]
    assert not running.started, "after a pause"
    running.clock.at += 2 * SECOND
    turns(running)
    late()
    turns(running)
    assert state_of(running, schedule) == "undecided"
    running.settle()
    assert state_of(running, schedule) == "scheduled"


def test_if_all_its_threads_hang_nobody_else_waits(tmp_path: Path) -> None:
    running = with_policy(tmp_path)
    ids = [ask(running) for _ in range(AT_A_TIME + 2)]
    turns(running)
    hanging = list(running.started)
    running.started.clear()
    assert len(hanging) == AT_A_TIME
    for _ in range(10):
        running.clock.at += MINUTE
        turns(running)
    assert not running.started
    schedule = running.schedule()
    running.settle()
    assert state_of(running, schedule) == "executed"
    assert {state_of(running, one) for one in ids} == {"undecided"}
    assert (following := running.machine.next_at()) is None or following > running.clock.now(), "it does not spin"
    hanging[0]()
    running.run(2 * HOUR)
    assert {state_of(running, one) for one in ids} == {"executed"}


def test_what_was_cancelled_meanwhile_is_not_decided(tmp_path: Path) -> None:
    running = with_policy(tmp_path)
    schedule = ask(running)
    turns(running)
    running.started.popleft()()
    assert running.call("DELETE", f"/schedules/{schedule}")[0] == 200
    running.run(2 * HOUR)
    assert state_of(running, schedule) == "cancelled"


def test_one_that_ends_its_thread_ends_no_turn_and_tells_nothing(tmp_path: Path) -> None:
    running = with_policy(tmp_path, POLICY.replace("    return At", f"{DIES}    return At"))
    schedule = ask(running)
    running.run(MINUTE)
    assert state_of(running, schedule) == "undecided"
    assert running.warned("its time is not decided")
    assert "a secret" not in str(running.observer.lines)
