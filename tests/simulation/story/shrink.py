"""Makes a failing story short: leaves out whatever it breaks without.

Delta debugging (Zeller and Hildebrandt, 2002), over what people do and over what surprising happens.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from attrs import evolve

from tests.simulation.story.story import Played, Story, play

Thing = TypeVar("Thing")
TRIES = 600  # plays at most; what is left then is short enough


def shrink(failing: Played, at_most: int = TRIES) -> Played:
    """The shortest story found that breaks the same invariant, told aloud; in so many tries."""
    assert failing.broken is not None
    invariant, tries, steps = failing.broken.invariant, 0, failing.steps

    def breaks(story: Story) -> bool:
        """Within as many steps: what is shorter breaks it no later, and what does not need not be played to its end."""
        nonlocal tries, steps
        tries += 1
        played = play(story, at_most=steps)
        if played.broken is None or played.broken.invariant is not invariant:
            return False
        steps = played.steps
        return True

    story, before = failing.story, None
    while story != before and tries < at_most:
        before = story
        surprises = fewest(
            sorted(story.surprises or ()),
            lambda some, story=story: tries < at_most and breaks(evolve(story, surprises=frozenset(some))),  # type: ignore[misc]
        )
        story = evolve(story, surprises=frozenset(surprises))
        acts = fewest(
            list(story.acts or ()),
            lambda some, story=story: tries < at_most and breaks(evolve(story, acts=tuple(some))),  # type: ignore[misc]
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
