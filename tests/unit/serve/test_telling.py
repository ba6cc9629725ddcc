"""What has happened is announced while nothing else is due, the more at a time the longer that is."""

import pytest

from delayer.engines.sqlite.feed import RECENT
from delayer.schedule.instants import SECOND, Millis
from delayer.serve.turns.machine import ANNOUNCED, EVENTS, MOST_ANNOUNCED, TELLING
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
