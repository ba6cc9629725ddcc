"""Makes a failing story short: leaves out whatever it breaks without.

Delta debugging (Zeller and Hildebrandt, 2002), over what people do and over what surprising happens.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from attrs import evolve

from tests.simulation.story.story import Played, Story, play

Thing = TypeVar("Thing")
TRIES = 600  # plays at most; what is left then is short enough
WORK = 10**9  # steps at most


def shrink(failing: Played, at_most: int = WORK) -> Played:
    """The shortest story found that breaks the same invariant, told aloud; in about so many steps in all."""
    assert failing.broken is not None
    invariant, tries, steps = failing.broken.invariant, 0, failing.steps
    done, left = 0, at_most // 2  # steps; the other half is for what people do

    def breaks(story: Story) -> bool:
        """Within as many steps: what is shorter breaks it no later, and what does not need not be played to its end."""
        nonlocal tries, steps, done
        if tries >= TRIES or done > left:
            return False
        played = play(story, at_most=steps)
        tries, done = tries + 1, done + played.steps
        if played.broken is None or played.broken.invariant is not invariant:
            return False
        steps = played.steps
        return True

    story, before = failing.story, None
    while story != before and tries < TRIES and done <= at_most:
        before = story
        surprises = fewest(
            sorted(story.surprises or ()),
            lambda some, story=story: breaks(evolve(story, surprises=frozenset(some))),  # type: ignore[misc]
        )
        story, left = evolve(story, surprises=frozenset(surprises)), at_most
        acts = fewest(
            list(story.acts or ()),
            lambda some, story=story: breaks(evolve(story, acts=tuple(some))),  # type: ignore[misc]
        )
        story = evolve(story, acts=tuple(acts))
    return play(story, aloud=True)


def fewest(things: Sequence[Thing], still: Callable[[Sequence[Thing]], bool]) -> Sequence[Thing]:
    """The fewest of them for which it is `still` so; halves first, single things at the end."""
    size = len(things)
    while size >= 1:
        start = 0
        while start < len(things):
            rest = [*things[:start], *things[start + size :]]
            if still(rest):
                things = rest
            else:
                start += size
        size //= 2
    return things
