"""What happens each minute, and what goes through many rows, takes a part of a turn, and goes on in the next one."""

from itertools import pairwise
from typing import Any

import pytest

from delayer.engines.memory import ManualClock
from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.store import SqliteStore
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis, minute_of
from delayer.series.use_cases.tick import SeriesTick
from tests.unit.serve.machines import Running


class Queries:
    """Counts what is read in each turn. To read takes some milliseconds."""

    def __init__(self, running: Running, monkeypatch: pytest.MonkeyPatch, takes: Millis = 1) -> None:
        self.number = 0
        query = SqliteStore.query

        def counted(store: SqliteStore, *given: Any) -> Any:
            self.number += 1
            running.clock.at += takes
            return query(store, *given)

        monkeypatch.setattr(SqliteStore, "query", counted)

    def of(self, turn: Any) -> int:
        before = self.number
        turn()
        return self.number - before


def place_of(running: Running) -> int:
    place = running.machine.ports("task-1minute-series").series_progress.place()
    assert place
    return int(place.minute)


def test_the_first_minute_after_a_long_time_off_is_done_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of forty days, 57,600 minutes: whatever comes meanwhile waits for no more than a few of them."""
    before = Running(each_minute=True)
    before.schedule(100 * DAY // SECOND)
    before.run(15 * MINUTE)
    began = place_of(before)
    running = Running(before.database, at=before.clock.at + 4 * DAY, each_minute=True)
    queries = Queries(running, monkeypatch)
    for turns in range(2_000):
        assert queries.of(running.machine.turn) < 40
        if turns % 500 == 0:
            running.schedule(HOUR // SECOND)
        if place_of(running) >= minute_of(running.clock.at) - 12:
            break
    assert turns > 300
    assert place_of(running) >= began + 4 * DAY // MINUTE
    running.run(MINUTE)
    assert running.warned("task-1minute-series has failed") == []


def test_what_fails_with_one_series_undoes_nothing_of_what_was_done_with_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is tried again for an hour, each minute."""
    calls: list[Millis] = []

    def tick(_: SeriesTick) -> bool:
        running.machine.again.failed("somebody", len(calls) + 1, "this is done")
        calls.append(running.clock.now())
        raise Unavailable("1 series could not be renewed")

    monkeypatch.setattr(SeriesTick, "__call__", tick)
    running = Running(each_minute=True)
    running.run(2 * MINUTE)
    assert [after - before for before, after in pairwise(calls)] == [MINUTE, MINUTE]
    assert len(running.database.read("SELECT * FROM again", ())) == 3
    assert len(running.warned("not all could be done: the next minute tries again")) == 3


def test_what_waits_for_a_policy_is_looked_for_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running(each_minute=True)
    when = {"policy": "spread", "seconds": 3600}
    action = {"type": "http-request", "url": "https://example.com/"}
    queue, asked = running.machine.queue("policy-spread"), []
    monkeypatch.setattr(type(queue), "receive", lambda *_: [])  # the policy is away
    for _ in range(150):
        status, _ = running.call("POST", "/schedules", {"when": when, "action": action})
        assert status == 201
    running.settle()
    running.clock.at += 3 * MINUTE
    queries, before = Queries(running, monkeypatch, 3), len(queue.messages)
    while running.machine.turn():
        asked.append(len(queue.messages) - before)
    assert asked[-1] == 150, "all of them once more"
    assert len(set(asked)) > 1, "in more than one turn"
    assert queries.number < 40


def test_a_job_that_cancels_many_takes_a_turn_for_each_page(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running()
    ids = [running.schedule(HOUR // SECOND, group="g") for _ in range(70)]
    running.settle()

    def now(clock: ManualClock) -> Millis:
        clock.at += 1
        return clock.at

    monkeypatch.setattr(ManualClock, "now", now)
    assert running.call("DELETE", "/schedules", query={"group": "g"})[0] == 202
    cancelled = [20]  # in the turn of the call itself
    while cancelled[-1] < len(ids) and len(cancelled) < 100:
        running.machine.turn()
        cancelled.append(sum(one["state"] == "cancelled" for one in running.machine.items.rows("ledger")))
    assert cancelled[-1] == len(ids)
    assert max(later - earlier for earlier, later in pairwise(cancelled)) <= 20
