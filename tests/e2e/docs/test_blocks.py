"""Every block of the documentation that can be run on one machine is run on a stack, as a reader would do it.

The tutorial is in test_tutorial.py.
"""

import pytest

from tests.e2e.docs.place import Place
from tests.e2e.docs.session import TUTORIAL, performed, sessions

pytestmark = pytest.mark.thorough
SESSIONS = sessions(lambda page: page != TUTORIAL)


@pytest.mark.parametrize("name", SESSIONS)
def test_a_page_does_what_it_says(place: Place, name: str) -> None:
    """Block after block, each of which needs those before it; a tab of a page is a reader of its own.

    It takes seconds: what a page schedules is waited for.
    """
    performed(place, name, SESSIONS[name])
