"""A clock that is set back or forward fires nothing early, and loses nothing."""

import random
from pathlib import Path

import pytest

from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND
from delayer.serve.turns.lead import LONGEST_SLEEP
from tests.unit.serve.world import START, World


@pytest.mark.parametrize("seed", range(25))
def test_whatever_the_clock_does_each_fires_once_and_none_early(seed: int, tmp_path: Path) -> None:
    """Also over the end of a life, which knows nothing of the clock of the one before."""
    pick = random.Random(seed)
    world = World(path=str(tmp_path / "a.db"))
    dues: dict[str, int] = {}
    for _ in range(40):
        what = pick.random()
        if what < 0.5:
            due = world.clock.now() + pick.choice([0, 10, 40, 60, SECOND, 5 * SECOND, MINUTE, HOUR])
            dues[world.post(due)] = due
        elif what < 0.8:
            world.run_until(world.clock.now() + pick.choice([1, 30, SECOND, 10 * SECOND, 2 * MINUTE]), step=SECOND // 2)
        elif what < 0.95:
            world.clock.at += pick.choice([-1, 1]) * pick.choice([1, 300, 5 * SECOND, MINUTE, HOUR, DAY])
            if pick.random() < 0.5:
                world.settle()
        else:
            world = world.next_life()
    world.clock.at = max([world.clock.at, *dues.values()]) + MINUTE
    world.run_until(world.clock.now() + MINUTE, step=SECOND)
    assert sorted(one for one, _ in world.reached) == sorted(dues)
    assert [(one, at) for one, at in world.reached if at < dues[one]] == []
    assert {world.state(one) for one in dues} == {"executed"}
    assert world.machine.waiting() == 0


def test_a_clock_that_is_set_back_after_the_claim_holds_the_attempt() -> None:
    world = World()
    one = world.post(START + 5 * SECOND)
    world.clock.at = START + 5 * SECOND - 40  # within the lead
    world.settle()
    assert world.state(one) == "claimed"
    world.clock.at = START
    world.settle()
    assert world.reached == []
    world.run_until(START + 6 * SECOND)
    assert world.reached == [(one, START + 5 * SECOND)]


def test_what_was_written_before_the_clock_was_set_back_is_still_read_after_it(tmp_path: Path) -> None:
    """Numbers of changes go on where they were: a reader never believes that it has read the new ones."""
    world = World(path=str(tmp_path / "a.db"))
    world.post(START + SECOND)
    world.run_until(START + 2 * SECOND)
    before = world.machine.feed.last
    world.clock.at = START - 30 * DAY
    world = world.next_life()
    one = world.post(world.clock.now() + SECOND)
    assert world.machine.feed.last > before
    world.run_until(world.clock.now() + 2 * SECOND)
    assert world.state(one) == "executed"
    events = world.call("api-schedule-get", id=one).body
    assert "executed" in events


def test_nobody_sleeps_for_longer_than_a_second() -> None:
    """The monotonic clock, by which a thread sleeps, stands still while the machine is suspended."""
    assert LONGEST_SLEEP <= SECOND
