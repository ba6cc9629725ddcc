"""Every block of the documentation that can be run on one machine is run, as a reader would do it.

The tutorial is in test_tutorial.py.
"""

import pytest

from tests.e2e.docs.place import Place, PlaceOnAws
from tests.e2e.docs.session import TUTORIAL, performed, sessions

pytestmark = pytest.mark.thorough
# These pages speak of `make local-aws`, or of what an operator does with credentials of AWS.
ON_AWS = (
    "operate/dead-letters.md",
    "operate/doctor.md",
    "operate/operations.md",
    "operate/owner-policies.md",
    "start/emulator.md",
    "use/flow.md",
)
SESSIONS = sessions(lambda page: page not in (TUTORIAL, *ON_AWS))
SESSIONS_ON_AWS = sessions(lambda page: page in ON_AWS)


@pytest.mark.parametrize("name", SESSIONS)
def test_a_page_does_what_it_says(place: Place, name: str) -> None:
    """Block after block, each of which needs those before it; a tab of a page is a reader of its own.

    It takes seconds: what a page schedules is waited for.
    """
    performed(place, name, SESSIONS[name])


@pytest.mark.parametrize("name", SESSIONS_ON_AWS)
def test_a_page_about_aws_does_what_it_says(place_on_aws: PlaceOnAws, name: str) -> None:
    """It takes seconds: what a page schedules is waited for."""
    performed(place_on_aws, name, SESSIONS_ON_AWS[name])
