"""A step that fails with a change harms nobody else, comes again, and is a dead letter after a day."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from delayer.engines.sqlite.database import Database, Unwritten
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND
from delayer.serve.turns.following import AgainSource, FeedSource
from delayer.serve.turns.machine import EVENTS, LAYOUT, Machine
from tests.unit.serve.machines import Running


def journaled(running: Running, schedule_id: str) -> list[str]:
    _, shown = running.call("GET", f"/schedules/{schedule_id}", None)
    return [one["event"] for one in shown.get("history", [])]


def failing(machine: Machine, is_bad: Callable[[Any], bool], *, raises: bool) -> list[int]:
    """Makes the step that announces events fail with some of them. Returns how many each call was given."""
    announce, calls = machine.uses[EVENTS], list[int]()

    def use(records: Sequence[Any]) -> list[str]:
        calls.append(len(records))
        bad = [one.sequence for one in records if is_bad(one)]
        if bad and raises:
            raise KeyError("a secret of a client")
        return [*announce([one for one in records if one.sequence not in bad]), *bad]

    machine.uses[EVENTS] = use
    return calls


def of(schedule_id: str) -> Callable[[Any], bool]:
    return lambda record: bool(record.event) and record.event.schedule_id == schedule_id


@pytest.mark.parametrize("raises", [True, False])
def test_one_change_is_set_aside_and_nobody_waits(raises: bool) -> None:
    running = Running()
    first, bad, last = (running.schedule(HOUR // SECOND) for _ in range(3))
    is_down = [True]
    failing(running.machine, lambda one: is_down[0] and of(bad)(one), raises=raises)
    running.settle()
    assert journaled(running, first) == ["scheduled"]
    assert journaled(running, last) == ["scheduled"]
    assert journaled(running, bad) == []
    running.run(MINUTE)
    assert journaled(running, bad) == []
    is_down[0] = False
    running.run(5 * MINUTE)
    assert journaled(running, bad) == ["scheduled"]
    assert running.database.read("SELECT * FROM again", ()) == []


def test_a_batch_that_raises_is_taken_apart_once() -> None:
    running = Running()
    ids = [running.schedule(HOUR // SECOND) for _ in range(5)]
    running.machine.feed.move(EVENTS, 0)
    calls = failing(running.machine, of(ids[2]), raises=True)
    running.settle()
    assert max(calls) > 1
    assert calls[1:6] == [1] * 5
    later = running.schedule(HOUR // SECOND)
    running.settle()
    assert journaled(running, later) == ["scheduled"]


def test_the_pauses_grow_and_a_day_later_it_is_a_dead_letter() -> None:
    running = Running()
    bad = running.schedule(3 * DAY // SECOND)
    running.machine.feed.move(EVENTS, 0)
    calls = failing(running.machine, of(bad), raises=True)
    running.settle()
    before = len(calls)
    running.run(MINUTE)
    in_the_first_minute = len(calls) - before
    running.run(DAY - HOUR)
    assert running.objects.list("feed/", "", 10) == []
    assert 3 <= in_the_first_minute <= 7
    assert len(calls) < 23 * 12 + 20
    running.run(2 * HOUR)
    [key] = running.objects.list("feed/", "", 10)
    content = running.objects.get(key)
    assert content
    letter = json.loads(content)
    assert key == f"feed/{EVENTS}/{letter['number']}"
    assert (letter["step"], letter["why"], letter["table"]) == (EVENTS, "KeyError", "schedules")
    assert bad in json.dumps(letter["new"])
    assert running.warned("a step is given up")
    assert running.database.read("SELECT * FROM again", ()) == []
    given = len(calls)
    running.run(DAY // 2)
    assert len(calls) == given


def test_a_restart_goes_on_with_what_was_set_aside(tmp_path: Path) -> None:
    database = Database(path=str(tmp_path / "d"), layout=LAYOUT)
    running = Running(database)
    bad = running.schedule(HOUR // SECOND)
    running.machine.feed.move(EVENTS, 0)
    failing(running.machine, of(bad), raises=True)
    running.settle()
    assert database.read("SELECT reader FROM again", ()) == [(EVENTS,)]
    database.close()
    again = Running(Database(path=str(tmp_path / "d"), layout=LAYOUT), running.clock.now() + MINUTE)
    again.run(MINUTE)
    assert journaled(again, bad) == ["scheduled"]


def test_a_change_that_cannot_be_read_is_set_aside() -> None:
    running = Running()
    first = running.schedule(HOUR // SECOND)
    running.machine.feed.move(EVENTS, 0)
    telling, read = running.machine.telling, running.machine.telling.read
    assert isinstance(telling, FeedSource)
    number = running.machine.feed.last
    telling.read = lambda one: 1 / 0 if one.number == number else read(one)
    last = running.schedule(HOUR // SECOND)
    running.settle()
    assert journaled(running, last) == ["scheduled"]
    assert [row[:2] for row in running.database.read("SELECT reader, number FROM again", ())] == [(EVENTS, number)]
    telling.read = read
    running.run(5 * MINUTE)
    assert journaled(running, first) == ["scheduled"]


def test_a_commit_that_fails_moves_no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running()
    schedule = running.schedule(HOUR // SECOND)
    running.machine.feed.move(EVENTS, 0)

    def commit() -> None:
        monkeypatch.undo()
        running.database.rollback()
        raise Unwritten("the disk")

    monkeypatch.setattr(Database, "commit", lambda _: commit())
    running.machine.turn()
    assert running.machine.feed.cursor(EVENTS) == 0
    running.run(5 * SECOND)
    assert journaled(running, schedule) == ["scheduled"]


def test_what_is_set_aside_stays_in_the_feed() -> None:
    running = Running()
    bad = running.schedule(HOUR // SECOND)
    feed = running.machine.feed
    feed.move(EVENTS, 0)
    failing(running.machine, of(bad), raises=True)
    running.settle()
    running.schedule(HOUR // SECOND)
    running.schedule(HOUR // SECOND)
    running.settle()
    [(number,)] = running.database.read("SELECT number FROM again", ())
    feed.forget(running.clock.now() + 1, [EVENTS], 100)
    assert feed.change(number)
    assert feed.forgotten() < number
    running.machine.again.done(EVENTS, number)
    assert feed.forget(running.clock.now() + 1, [EVENTS], 100) == 2
    assert feed.change(number) is None
    assert feed.forgotten() >= number


def test_numbers_grow_although_the_clock_was_set_back_between_two_lives(tmp_path: Path) -> None:
    path = str(tmp_path / "d")
    running = Running(Database(path=path, layout=LAYOUT))
    running.schedule(HOUR // SECOND)
    running.settle()
    last = running.machine.feed.last
    running.database.close()
    earlier = Running(Database(path=path, layout=LAYOUT), running.clock.now() - HOUR)
    schedule = earlier.schedule(2 * HOUR // SECOND)
    earlier.settle()
    assert earlier.machine.feed.last > last
    assert journaled(earlier, schedule) == ["scheduled"]


def test_changes_that_were_set_aside_each_have_a_reason_of_their_own() -> None:
    """A turn may be done anew when all its batches were read: each is settled by what was seen of it alone."""
    running = Running()
    for _ in range(2):
        running.schedule(HOUR // SECOND)
    running.machine.feed.move(EVENTS, 0)
    telling, read = running.machine.telling, running.machine.telling.read
    assert isinstance(telling, FeedSource)
    first = running.machine.feed.after(0, 1)[0].number
    telling.read = lambda one: 1 / 0
    running.settle()
    telling.read = lambda one: 1 / 0 if one.number == first else read(one)
    running.clock.at += 10 * SECOND
    [asides] = [one for one in running.machine.sources if isinstance(one, AgainSource) and one.of is telling]
    batches = list(asides.batches())
    assert [bool(one.unread) for one in batches] == [True, *[False] * (len(batches) - 1)]
    assert len(batches) > 1
    for one in batches:
        one.settle([])
    assert running.database.read("SELECT number, tries FROM again", ()) == [(first, 2)]


def test_what_was_undone_leaves_nothing_to_be_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was noted, and never was: whoever looked for it at once, again and again, would take a processor."""
    running = Running()
    running.schedule(HOUR // SECOND)
    running.settle()

    def commit() -> None:
        monkeypatch.undo()
        running.database.rollback()
        raise Unwritten("the disk")

    monkeypatch.setattr(Database, "commit", lambda _: commit())
    action = {"type": "http-request", "url": "https://example.com/"}
    status, _ = running.call("POST", "/schedules", {"delaySeconds": 60, "action": action})
    assert status == 503
    running.run(SECOND)
    following = running.machine.next_at()
    assert following is None or following > running.clock.now()
    assert not running.machine.turn()
