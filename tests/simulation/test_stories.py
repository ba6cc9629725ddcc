"""Many stories, from many seeds: no invariant is broken in any, and each goes as it did when it was recorded.

A class for each hundred seeds, so that the processes that run the tests can share them.
"""

from collections.abc import Sequence

import pytest

from tests.proofs.stored import is_long, stored
from tests.simulation.story.digest import digest
from tests.simulation.story.shrink import shrink
from tests.simulation.story.story import Story, play
from tests.simulation.story.transcript import transcript

TOGETHER = 20
HUNDRED = range(0, 100, TOGETHER)
ON_RECORD: Sequence[str] = stored()["stories"]["digests"]  # of the first hundred


def check(seeds: Sequence[int]) -> None:
    """Plays them."""
    changed = []
    for seed in seeds:
        played = play(Story(seed=seed), aloud=seed < len(ON_RECORD))
        if played.broken:
            pytest.fail(transcript(shrink(played)))
        if played.log and digest(played) != ON_RECORD[seed]:
            changed.append(seed)
    assert not changed, (
        "These stories are sound, and go otherwise than on record: the functions call, decide or wait in another way. "
        "If that is meant, `make record ARGS=--stories` writes them down anew."
    )


class Hundred:
    """A hundred seeds. `make simulate SEEDS=10000` plays more of them."""

    first: int

    @pytest.mark.parametrize("part", HUNDRED)
    def test_no_story_breaks_an_invariant(self, part: int) -> None:
        """Some seconds: each story is up to 20,000 steps of all functions."""
        first = self.first + part
        check([seed for seed in range(first, first + TOGETHER) if not is_long(seed)])

    @pytest.mark.thorough
    def test_no_long_story_breaks_an_invariant(self) -> None:
        """A minute: outages of a day, and all that is tried again meanwhile, in up to 250,000 steps a story."""
        check([seed for seed in range(self.first, self.first + 100) if is_long(seed)])


class TestTheFirstHundred(Hundred):
    first = 0


class TestTheSecondHundred(Hundred):
    first = 100


class TestTheThirdHundred(Hundred):
    first = 200


class TestTheFourthHundred(Hundred):
    first = 300


@pytest.mark.thorough
class TestTheFifthHundred(Hundred):
    first = 400
