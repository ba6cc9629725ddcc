"""Many stories, from many seeds: no invariant is broken in any; and each deliberate bug is found."""

from typing import Any

import pytest

from delayer.core.firing import enqueueing, executing
from delayer.core.schedule.instants import SECOND
from delayer.use_cases.api import cancel
from delayer.use_cases.firing import enqueue, execute
from tests.cfn import functions, resources
from tests.proofs.test_record import RECORD
from tests.simulation.__main__ import find
from tests.simulation.bugs import BUGS, BY_NAME
from tests.simulation.bugs.bug import BrokenBug, Bug
from tests.simulation.engine.chance import Chance
from tests.simulation.oracle.invariant import Invariant
from tests.simulation.story.plan import Weather
from tests.simulation.story.shrink import fewest, shrink
from tests.simulation.story.story import Story, play
from tests.simulation.story.transcript import transcript
from tests.simulation.system.stack import NAMES, TIMEOUTS, Stack
from tests.world import LEASE

SEEDS = 500
TOGETHER = 25


@pytest.mark.parametrize("first", range(0, SEEDS, TOGETHER))
def test_no_story_breaks_an_invariant(first: int) -> None:
    """`make simulate SEEDS=10000` plays more of them."""
    for seed in range(first, first + TOGETHER):
        played = play(Story(seed=seed))
        if played.broken:
            pytest.fail(transcript(shrink(played)))


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_each_deliberate_bug_is_found(bug: Bug) -> None:
    """It breaks the invariant that it names; one that merely raises is an error of the harness.

    The record has the first story that finds it, and the documentation shows the record: `make record` renews both.
    Here that one is played: the stories before it find nothing, and would take minutes.
    """
    on_record = RECORD["bugs"][bug.name]
    assert on_record["seed"] is not None
    with bug.switched_in():
        broken = play(Story(seed=on_record["seed"])).broken
    assert broken is not None
    assert (broken.invariant, str(broken)) == (bug.breaks, on_record["says"])


def merely_raises(*_: Any, **__: Any) -> Any:
    raise AttributeError("a name that was forgotten in a change of names")


@pytest.mark.parametrize("breaks", [Invariant.NOTHING_LOST, Invariant.ONE_END])
@pytest.mark.parametrize(
    ("where", "name", "instead"),
    [
        (enqueue.Enqueue, "send", None),
        (enqueue.Enqueue, "send", merely_raises),
        (enqueueing, "decide", merely_raises),
        (execute.Execute, "reach", merely_raises),
        (executing, "decide_attempt", merely_raises),
        (cancel, "decide_cancel", merely_raises),
    ],
)
def test_a_bug_that_merely_raises_is_no_find(
    where: Any, name: str, instead: Any, breaks: Invariant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the code under test catches what it raises, and goes on as if something else were wrong."""
    broken = Bug(name="broken", what="", breaks=breaks, swaps=((where, name, instead),))
    monkeypatch.setitem(BY_NAME, "broken", broken)
    with pytest.raises(BrokenBug):
        find("broken", SEEDS)


def test_the_same_seed_is_the_same_story() -> None:
    """Step by step; else a failure could not be played again."""
    assert play(Story(seed=7), aloud=True).log == play(Story(seed=7), aloud=True).log


def test_a_story_played_with_all_that_happened_is_the_same() -> None:
    """What was noted of it is all there is to it."""
    played = play(Story(seed=12), aloud=True)
    assert play(played.story, aloud=True).log == played.log


def test_a_failing_story_is_made_short() -> None:
    """It breaks the same invariant, with less of everything, and says how it is played again."""
    bug = BY_NAME["duplicate-discards-body"]
    seed = RECORD["bugs"][bug.name]["seed"]
    with bug.switched_in():
        whole = play(Story(seed=seed))
        short = shrink(whole)
    assert short.broken
    assert short.broken.invariant is Invariant.NOTHING_LOST
    assert len(short.story.surprises or ()) < len(whole.story.surprises or ())
    assert f"make simulate SEED={seed}" in transcript(short)


def test_its_times_are_those_of_the_template() -> None:
    """How long a function may take, and a message stays invisible: leases and retries hang on them."""
    given = {name: functions()[NAMES[name]]["Timeout"] * SECOND for name in TIMEOUTS}
    assert given == TIMEOUTS
    stack = Stack(chance=Chance(0, None), weather=Weather(), log=lambda who, what: None)
    queues = resources("AWS::SQS::Queue")
    for queue, name in (
        (stack.delayer_queue, "DelayerQueue"),
        (stack.sweep_queue, "SweepQueue"),
        (stack.http_queue, "ExecutorhttprequestQueue"),
        (stack.suspects, "DelayerSuspectsQueue"),
        (stack.http_suspects, "ExecutorhttprequestSuspectsQueue"),
    ):
        assert queue.visibility == queues[name]["VisibilityTimeout"] * SECOND
    assert functions()["delayer-relay"]["Timeout"] * SECOND == LEASE


def test_fewest_leaves_what_is_needed() -> None:
    assert fewest(list(range(20)), lambda some: {3, 17} <= set(some)) == [3, 17]
    assert fewest([1], lambda some: True) == []
