"""Cancel, change and put by name, against the firing instant: thousands of times, in whatever order things happen.

All functions run side by side in virtual time, and each call of a port takes a while: so each reading, writing and
sending of the one falls before, between or after those of the other.
"""

import random

import pytest

from delayer.ledger.model import State
from delayer.schedule.instants import MINUTE, SECOND, Millis
from tests.simulation.engine.chance import Chance
from tests.simulation.story.plan import Act, Do, Weather
from tests.simulation.story.story import perform
from tests.simulation.system.stack import Stack
from tests.world import LEAD, PERIOD, START

STORIES = [range(3), pytest.param(range(3, 30), marks=pytest.mark.thorough)]
TOGETHER = 40  # races in one story: 120 of each kind every day, 1,200 in all
BEGINNINGS = {Do.CANCEL: Do.POST, Do.PATCH: Do.POST, Do.RENAME: Do.NAME}


def acts(chance: random.Random, do: Do) -> list[Act]:
    """Schedules, and for each somebody who takes it back about its firing, or about its leaving the table."""
    planned = []
    for subject in range(TOGETHER):
        posted = START + chance.randint(0, MINUTE)
        due = posted + chance.choice([2 * SECOND, PERIOD - MINUTE, PERIOD + 3 * MINUTE])
        moment = chance.choice([due - LEAD, due - LEAD, due, due - PERIOD])
        asked = max(moment + chance.randint(-60, 60), posted + 20)
        planned.append(Act(posted, BEGINNINGS[do], subject, due))
        planned.append(Act(asked, do, subject, asked + 5 * MINUTE))
    return sorted(planned, key=lambda act: act.at)


@pytest.mark.parametrize("stories", STORIES, ids=len)
@pytest.mark.parametrize("repeats", [0, 0.3], ids=["each once", "at least once"])
@pytest.mark.parametrize("do", BEGINNINGS, ids=str)
def test_no_race_makes_an_answer_untrue(do: Do, repeats: float, stories: range) -> None:
    """200 and delivered: none. 409 and never delivered: none. And there are some of each, else nothing was raced.

    It takes seconds: each race is fought to its end, through all functions.
    """
    in_time = too_late = 0
    for seed in stories:
        chance = random.Random(f"{do} {repeats} {seed}")
        weather = Weather(repeats=repeats, delays=repeats)
        stack = Stack(chance=Chance(seed, None), weather=weather, log=lambda who, what: None)
        perform(stack, acts(chance, do))
        watch = stack.watch
        assert [one for one in watch.revoked if watch.reaches[one]] == []
        assert [one for one in watch.too_late if not watch.reaches[one]] == []
        assert all(row.state in (State.CLAIMED, State.EXECUTED) for row in watch.too_late.values())
        in_time += len(watch.revoked)
        too_late += len(watch.too_late)
    least: Millis = len(stories) * TOGETHER // 10
    assert in_time > least
    assert too_late > least // 4
