"""What has happened is announced while nothing else is due, the more at a time the longer that is."""

from itertools import pairwise

import pytest

from delayer.engines.sqlite.feed import RECENT
from delayer.schedule.instants import SECOND, Millis
from delayer.serve.turns.lead import LULL
from delayer.serve.turns.machine import ANNOUNCED, BEHIND, EVENTS, LULL_MISSED, MOST_ANNOUNCED, TELLING
from delayer.serve.turns.parts import LEAD
from tests.unit.serve.machines import Running

HOUR = 3_600  # seconds
ACTION = {"type": "http-request", "url": "https://a.example/"}
BATCH = {"schedules": [{"delaySeconds": HOUR, "action": ACTION}] * 50}


def announced_in_a_turn(running: Running) -> int:
    def left() -> int:
        cursor = running.machine.feed.cursor(EVENTS)
        [(number,)] = running.database.read("SELECT count(*) FROM changes WHERE number > ?", (cursor,))
        return int(number)

    before = left()
    running.machine.turn()
    return before - left()


@pytest.mark.parametrize(
    ("gap", "announced"),
    [
        (TELLING, ANNOUNCED),
        (2 * TELLING - 1, ANNOUNCED),
        (2 * TELLING, 2 * ANNOUNCED),
        (10 * TELLING, MOST_ANNOUNCED),
        (None, MOST_ANNOUNCED),
    ],
)
def test_the_longer_nothing_else_is_due_the_more_is_announced(gap: Millis | None, announced: int) -> None:
    running = Running()
    running.schedule(1)
    running.settle()
    if gap is None:
        running.run(10 * SECOND)
    else:
        running.clock.at += SECOND - LEAD - gap
    for _ in range(2):
        status, _ = running.call("POST", "/schedules/batch", BATCH)
        assert status == 200
    assert announced_in_a_turn(running) == announced


def test_while_one_call_follows_the_other_what_happened_is_announced_together() -> None:
    """A commit for each would take as long as the telling itself."""
    running = Running(lull=LULL)
    began = running.clock.now()
    running.machine.turn()
    instants: list[Millis] = []
    while running.clock.now() - began < 4 * LULL_MISSED:
        running.schedule(HOUR)
        if announced_in_a_turn(running):
            instants.append(running.clock.now())
        running.clock.at += LULL - 2
    assert [after - before for before, after in pairwise(instants)] == [9 * (LULL - 2)] * (len(instants) - 1)
    assert len(instants) > 2
    assert 9 * (LULL - 2) - LULL_MISSED < LULL
    last = running.clock.now() - (LULL - 2)
    while not announced_in_a_turn(running):
        following = running.machine.next_at()
        assert following is not None
        assert running.clock.now() < following <= last + LULL
        running.clock.at = following
    assert running.clock.now() == last + LULL


def test_what_is_far_behind_is_announced_with_each_turn_so_that_it_grows_no_longer() -> None:
    """However many calls come: there is never a turn without one."""
    running = Running(lull=LULL)
    longest = 0
    for _ in range(100):
        status, _ = running.call("POST", "/schedules/batch", BATCH)
        assert status == 200
        running.clock.at += BEHIND // 20
        cursor = running.machine.feed.cursor(EVENTS)
        [(oldest,)] = running.database.read("SELECT min(at) FROM changes WHERE number > ?", (cursor,))
        longest = max(longest, running.clock.now() - (oldest or running.clock.now()))
    assert BEHIND // 2 < longest <= 2 * BEHIND


def test_whoever_is_far_behind_reads_on_where_it_was() -> None:
    running = Running()
    feed = running.machine.feed
    for _ in range(RECENT // 50 + 2):
        running.call("POST", "/schedules/batch", BATCH)
    numbers = [number for (number,) in running.database.read("SELECT number FROM changes ORDER BY number", ())]
    for at in (0, 1, len(numbers) - RECENT, len(numbers) - RECENT + 1, len(numbers) // 2, len(numbers) - 2):
        assert [one.number for one in feed.after(numbers[at], 7)] == numbers[at + 1 : at + 8]
        assert [one.number for one in feed.after(numbers[at] - 1, 7)] == numbers[at : at + 7]
    assert feed.after(numbers[-1], 7) == []
