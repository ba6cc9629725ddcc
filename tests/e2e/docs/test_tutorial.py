"""Every block of the tutorial is run on the engine, as a reader would do it, in each of the three ways it shows."""

import json

import pytest

from tests.docs.blocks.fences import all_fences
from tests.e2e.docs.place import Place
from tests.e2e.docs.session import TUTORIAL, performed, sessions

SESSIONS = sessions(lambda page: page == TUTORIAL)


@pytest.mark.thorough
@pytest.mark.parametrize("name", SESSIONS)
def test_a_reader_comes_to_the_end_of_the_tutorial(place: Place, name: str) -> None:
    """Block after block; and then order 17 was reminded, orders 18 to 21 were not, and the series ran once.

    It takes half a minute: the tutorial waits for what it schedules.
    """
    before = len(place.receiver.of("/remind"))
    performed(place, name, SESSIONS[name])
    reminded = [json.loads(request.body) for request in place.receiver.of("/remind")[before:]]
    assert sorted(map(str, reminded)) == sorted(map(str, ({"order": 17}, {"report": "unpaid orders"})))


def test_each_step_of_the_tutorial_is_shown_in_three_ways() -> None:
    """And on no page is there a tab that nobody runs or reads."""
    tabs = [fence.tab for fence in all_fences() if fence.page == TUTORIAL]
    assert len(tabs) > 30
    assert tabs == ["Python", "Command line", "curl"] * (len(tabs) // 3)
