"""Every block of the documentation that can be run on one machine is run on one stack, as a reader would do it."""

import json
from collections.abc import Callable

import pytest

from tests.docs.blocks.elsewhere import runner_of
from tests.docs.blocks.fences import Fence, all_fences
from tests.e2e.docs.place import Place
from tests.e2e.docs.session import Session

FENCES = [fence for fence in all_fences() if fence.is_run and not runner_of(fence)]
TUTORIAL = "use/tutorial.md"


@pytest.fixture(scope="module")
def session_of(place: Place) -> Callable[[Fence], Session]:
    """The one of its page, or of its tab: each is an owner of its own, so what one has done is not in another's way."""
    sessions: dict[str, Session] = {}

    def session_of(fence: Fence) -> Session:
        name = f"{fence.page.removesuffix('.md')} {fence.tab or fence.language}".replace(" ", "-").replace("/", "-")
        return sessions.setdefault(name, Session(place=place, name=name))

    return session_of


@pytest.mark.parametrize("fence", FENCES, ids=lambda fence: fence.id)
def test_a_block_does_what_the_page_says(session_of: Callable[[Fence], Session], fence: Fence) -> None:
    """One after the other; each needs those before it on its page."""
    session_of(fence).perform(fence)


def test_the_story_of_the_tutorial_has_happened(place: Place) -> None:
    """Order 17 was reminded, in each of the three ways; orders 18 to 21 were not; the series ran once in each."""
    reminded = [json.loads(request.body) for request in place.receiver.of("/remind")]
    assert reminded.count({"order": 17}) == 3
    assert reminded.count({"report": "unpaid orders"}) == 3
    assert len(reminded) == 6


def test_each_step_of_the_tutorial_is_shown_in_three_ways() -> None:
    """And on no page is there a tab that nobody runs or reads."""
    tabs = [fence.tab for fence in all_fences() if fence.page == TUTORIAL]
    assert len(tabs) > 30
    assert tabs == ["Python", "Command line", "curl"] * (len(tabs) // 3)
