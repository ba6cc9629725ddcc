"""Many stories, from many seeds: no invariant is broken in any; and each deliberate bug is found."""

import pytest

from delayer.core.instants import SECOND
from tests.cfn import functions, resources
from tests.simulation.__main__ import find
from tests.simulation.bugs import BUGS, BY_NAME, Bug
from tests.simulation.chance import Chance
from tests.simulation.plan import Weather
from tests.simulation.shrink import fewest, shrink
from tests.simulation.stack import NAMES, TIMEOUTS, Stack
from tests.simulation.story import Story, play
from tests.simulation.telling import told
from tests.simulation.watch import Invariant
from tests.world import LEASE

SEEDS = 500
TOGETHER = 25


@pytest.mark.parametrize("first", range(0, SEEDS, TOGETHER))
def test_no_story_breaks_an_invariant(first: int) -> None:
    """`make simulate SEEDS=10000` plays more of them."""
    for seed in range(first, first + TOGETHER):
        played = play(Story(seed=seed))
        if played.broken:
            pytest.fail(told(shrink(played)))


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_each_deliberate_bug_is_found(bug: Bug) -> None:
    """A simulation that cannot fail shows nothing."""
    found = find(bug.name, SEEDS)
    assert found.seed is not None, f"not found in {SEEDS} stories"
    assert "raised TypeError" not in found.broken, "the bug itself is broken"


def test_the_same_seed_is_the_same_story() -> None:
    """Step by step; else a failure could not be played again."""
    assert play(Story(seed=7), aloud=True).told == play(Story(seed=7), aloud=True).told


def test_a_story_played_with_all_that_happened_is_the_same() -> None:
    """What was noted of it is all there is to it."""
    played = play(Story(seed=12), aloud=True)
    assert play(played.story, aloud=True).told == played.told


def test_a_failing_story_is_made_short() -> None:
    """It breaks the same invariant, with less of everything, and says how it is played again."""
    bug = BY_NAME["twin-discards-body"]
    found = find(bug.name, SEEDS)
    assert found.seed is not None
    with bug.switched_in():
        whole = play(Story(seed=found.seed))
        short = shrink(whole)
    assert short.broken
    assert short.broken.invariant is Invariant.NOTHING_LOST
    assert len(short.story.surprises or ()) < len(whole.story.surprises or ())
    assert f"make simulate SEED={found.seed}" in told(short)


def test_its_times_are_those_of_the_template() -> None:
    """How long a function may take, and a message stays invisible: leases and retries hang on them."""
    given = {name: functions()[NAMES[name]]["Timeout"] * SECOND for name in TIMEOUTS}
    assert given == TIMEOUTS
    stack = Stack(chance=Chance(0, None), weather=Weather(), tell=lambda who, what: None)
    queues = resources("AWS::SQS::Queue")
    for queue, name in (
        (stack.delayer_queue, "DelayerQueue"),
        (stack.sweep_queue, "SweepQueue"),
        (stack.http_queue, "HttpRequestQueue"),
        (stack.dead, "DelayerDeadLetterQueue"),
    ):
        assert queue.visibility == queues[name]["VisibilityTimeout"] * SECOND
    assert functions()["delayer-relay"]["Timeout"] * SECOND == LEASE


def test_fewest_leaves_what_is_needed() -> None:
    assert fewest(list(range(20)), lambda some: {3, 17} <= set(some)) == [3, 17]
    assert fewest([1], lambda some: True) == []
