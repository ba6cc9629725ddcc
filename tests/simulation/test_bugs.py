"""Each deliberate bug is found: by the short story that is on record, and by nothing but the bug."""

from typing import Any

import pytest

from delayer.accept.use_cases import cancel
from delayer.enqueue import enqueue
from delayer.enqueue import rules as enqueueing
from delayer.execute import execute
from delayer.execute import rules as executing
from tests.proofs.stored import LONG, short_story, stored
from tests.simulation.__main__ import find
from tests.simulation.bugs import BUGS, BY_NAME
from tests.simulation.bugs.bug import BrokenBug, Bug
from tests.simulation.oracle.invariant import Invariant
from tests.simulation.story.shrink import fewest, shrink
from tests.simulation.story.story import Story, play
from tests.simulation.story.transcript import transcript

SEEDS = 500


def bugs() -> list[Any]:
    """Those whose short story takes many steps are found by `make test-all`; what is not on record is asked for."""
    on_record = stored()["bugs"]
    long = {name for name, one in on_record.items() if one.get("steps", 0) > LONG}
    return [pytest.param(bug, id=bug.name, marks=pytest.mark.thorough if bug.name in long else ()) for bug in BUGS]


class TestBugs:
    """In a class, so that another process can play the rest."""

    @pytest.mark.parametrize("bug", bugs())
    def test_each_deliberate_bug_is_found(self, bug: Bug) -> None:
        """It breaks the invariant that it names, and the same story without it breaks none.

        A few stories take seconds: their bug only shows when something is tried for hours.
        """
        on_record = stored()["bugs"][bug.name]
        story = short_story(on_record)
        with bug.switched_in():
            broken = play(story).broken
        assert (broken and broken.invariant, str(broken)) == (bug.breaks, on_record["says"]), (
            f"The story on record does not find {bug.name} as it did: {broken or 'nothing is broken'}. If the code has "
            "changed on purpose, `make record ARGS=--bugs` looks for another one. If there is none, either the bug is "
            "not put in any more, or the simulation does not see it any more: mend that first."
        )
        assert play(story).broken is None


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


def test_a_bug_is_found_by_the_first_seed_that_breaks_its_invariant() -> None:
    """As `make record` and `make simulate ARGS=--bugs` look for it. A second: four whole stories are played."""
    found = find("cancel-over-claims", SEEDS)
    assert found.seed is not None
    with BY_NAME["cancel-over-claims"].switched_in():
        before = [play(Story(seed=seed)).broken for seed in range(found.seed)]
        assert str(play(Story(seed=found.seed)).broken) == found.broken
    assert not any(broken and broken.invariant is Invariant.LEGAL for broken in before)


def test_a_failing_story_is_made_short() -> None:
    """It breaks the same invariant, with less of everything, and says how it is played again.

    Some seconds: it is played dozens of times, and a little shorter each time.
    """
    bug = BY_NAME["duplicate-discards-body"]
    seed = stored()["bugs"][bug.name]["seed"]
    with bug.switched_in():
        whole = play(Story(seed=seed))
        short = shrink(whole)
    assert short.broken
    assert short.broken.invariant is Invariant.NOTHING_LOST
    assert len(short.story.surprises or ()) < len(whole.story.surprises or ())
    assert f"make simulate SEED={seed}" in transcript(short)


def test_fewest_leaves_what_is_needed() -> None:
    assert fewest(list(range(20)), lambda some: {3, 17} <= set(some)) == [3, 17]
    assert fewest([1], lambda some: True) == []
