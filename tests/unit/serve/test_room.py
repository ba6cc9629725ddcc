"""No more begins than there is room for, and what may begin is not kept waiting by what is written meanwhile."""

from functools import partial

import pytest

from delayer.actions.rules.model import Done
from delayer.engines.ports import Outgoing
from delayer.engines.sqlite.store import SqliteStore
from delayer.execute.execute import Execute
from delayer.schedule.instants import DAY, HOUR, SECOND
from delayer.schedule.messages import ExecutorMessage
from tests.unit.serve.machines import Running

FEW = 2


def due(running: Running, number: int) -> list[str]:
    """So many, all due now."""
    ids = [running.schedule(1) for _ in range(number)]
    running.clock.at += SECOND
    return ids


def keep_waiting(running: Running, number: int) -> None:
    """The first that are due leave the table, and wait in the delayer queue."""
    machine = running.machine
    for one in machine.fire.due(number):
        machine.turns.begin()
        machine.turns.do(partial(machine.fire.set_aside, one), lambda _: None)
        machine.turns.end()


def states(running: Running, ids: list[str]) -> list[str]:
    """Of each schedule."""
    return [running.call("GET", f"/schedules/{one}")[1]["state"] for one in ids]


def test_attempts_begin_however_many_cancels_come() -> None:
    """Each turn has a cancel, and writes before anything else is done."""
    running = Running()
    others = [running.schedule(60) for _ in range(10)]
    ids = due(running, 3)
    for one in others:
        assert running.call("DELETE", f"/schedules/{one}")[0] == 200
    assert len(running.started) == 3
    running.settle()
    assert states(running, ids) == ["executed"] * 3


def test_an_attempt_whose_instant_has_come_begins_before_anything_is_written() -> None:
    """Each of its steps would wait for a commit otherwise."""
    running = Running()
    other = running.schedule(60)
    running.schedule(1)
    running.run(SECOND - 1)
    assert not running.started, "it is claimed, and not due"
    running.clock.at += 1
    assert running.call("DELETE", f"/schedules/{other}")[0] == 200
    assert len(running.started) == 1


def test_while_all_attempts_are_busy_nothing_is_due() -> None:
    """The end of an attempt is waited for: turns that do nothing would take a processor."""
    running = Running(attempts=FEW)
    due(running, 5)
    while running.machine.turn():
        pass
    assert len(running.started) == FEW // 2, "one target has half of the room"
    following = running.machine.next_at()
    assert following is None or following > running.clock.now()
    running.settle()
    assert not running.machine.items.rows("schedules")


def test_what_has_waited_is_claimed_when_it_can_begin() -> None:
    """The relay hands over no more than there is room for, so the others can still be cancelled."""
    running = Running(attempts=FEW)
    running.clock.at += 1
    ids = due(running, 30)
    machine = running.machine
    keep_waiting(running, 30)
    running.clock.at += 10 * SECOND
    while machine.turn():
        pass
    assert sum(one.desk.number for one in machine.executors.values()) <= FEW
    claimed = [one for one in states(running, ids) if one == "claimed"]
    assert len(claimed) <= 2 * FEW
    running.settle()
    running.run(60 * SECOND)
    assert states(running, ids) == ["executed"] * 30


def test_what_has_waited_and_what_is_due_have_room_by_turns() -> None:
    """Neither keeps the other from its room, also if there is room for one alone."""
    running = Running(attempts=1)
    waited = due(running, 6)
    machine = running.machine
    keep_waiting(running, 6)
    running.clock.at += 10 * SECOND
    ids = due(running, 6)
    for _ in range(8):
        while machine.turn():
            pass
        if running.started:
            running.started.popleft()()
    ended = [states(running, some).count("executed") for some in (waited, ids)]
    assert min(ended) >= 2


def test_a_suspect_of_an_action_that_is_gone_ends_nothing() -> None:
    """It waits for a start with that action; all others go on."""
    running = Running()
    running.machine.queue("executor-gone").send([Outgoing(body="{}")])
    [(number,)] = running.database.read("SELECT number FROM messages", ())
    running.database.write("INSERT INTO notes VALUES (?, ?, ?)", (number, 1, 2))
    again = Running(running.database, at=running.clock.at + DAY)
    schedule = again.schedule(0)
    again.settle()
    assert states(again, [schedule]) == ["executed"]
    assert again.database.read("SELECT count(*) FROM messages", ()) == [(1,)]


@pytest.mark.parametrize("attempts", [1, 5])
def test_what_winds_down_begins_no_attempt_and_loses_none(attempts: int) -> None:
    running = Running()
    ids = due(running, attempts)
    while running.machine.turn():
        pass
    assert len(running.started) == attempts
    running.machine.wind_down()
    running.settle()
    assert states(running, ids) == ["claimed"] * attempts
    again = Running(running.database, at=running.clock.at)
    again.settle()
    assert states(again, ids) == ["executed"] * attempts


def test_a_target_that_hangs_keeps_no_other_from_its_room() -> None:
    """Half of the attempts are under way at it, many more are due before those of another target."""
    reached: list[str] = []

    def target(message: ExecutorMessage) -> Done:
        reached.append(message.schedule.id)
        return Done("done")

    running = Running(targets=lambda _: target)
    hanging = [running.schedule(1, action=at("hangs")) for _ in range(300)]
    running.clock.at += 1
    well = [running.schedule(1, action=at("well")) for _ in range(70)]
    running.clock.at += SECOND
    for _ in range(20):
        while running.machine.turn() or attempted(running, "well"):
            pass
        running.clock.at += 5
    assert reached == well
    waiting = [one for one, state in zip(hanging, states(running, hanging), strict=True) if state == "scheduled"]
    assert len(waiting) > 150, "unclaimed"
    for one in waiting:
        assert running.call("DELETE", f"/schedules/{one}")[0] == 200
    running.settle()
    running.run(HOUR)
    assert sorted(reached[70:]) == sorted(set(hanging) - set(waiting))


def at(host: str) -> dict[str, str]:
    return {"type": "http-request", "url": f"https://{host}.example/"}


def attempted(running: Running, host: str) -> bool:
    """Goes on with what threads do, but with no attempt at another host. Whether there was anything."""
    before = list(running.started)
    running.started.clear()
    for do in before:
        _, step = do.args
        is_attempt = step.func.__name__ == Execute.make.__name__
        if is_attempt and host not in step.args[0].message.schedule.definition.action:
            running.started.append(do)
        else:
            do()
    return len(running.started) < len(before)


def test_what_is_blocked_is_not_read_again_at_each_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand bodies each time would be more than a machine has memory for."""
    running = Running()
    hanging = [running.schedule(1, action=at("hangs"), payload="x" * 1_000) for _ in range(400)]
    running.clock.at += SECOND
    while running.machine.turn() or attempted(running, "nobody"):
        pass
    read: list[str] = []
    text_of = SqliteStore.text_of

    def counted(self: SqliteStore, table: str, partition: str, sort: str) -> bytes | None:
        read.append(sort)
        return text_of(self, table, partition, sort)

    monkeypatch.setattr(SqliteStore, "text_of", counted)
    for _ in range(20):
        assert running.machine.fire.due(64) == []
        running.clock.at += 20
    assert len(read) == len(set(read)) <= len(hanging)
    running.call("POST", "/schedules", {"delaySeconds": 0, "action": at("well")})
    assert len(running.machine.fire.due(64)) == 1
