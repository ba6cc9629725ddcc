"""For which objects of the store a command for many is given."""

import pytest

from delayer.dead_letters.model import Contents
from delayer.dead_letters.rules import DeadLetterMetadata, Selection
from tests.samples import NOW, OWNER

UNREAD = Contents(schedules=(), malformed=1)


@pytest.mark.parametrize(
    ("where", "is_given"),
    [
        ({}, True),
        ({"owner": OWNER}, True),
        ({"owner": "somebody"}, False),
        ({"group": "g"}, False),
        ({"action": "sqs-send"}, False),
        ({"reason": "NO json"}, True),
        ({"reason": "late"}, False),
        ({"since": NOW}, True),
        ({"since": NOW + 1}, False),
        ({"until": NOW}, False),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_of_no_group_and_no_action(where: dict[str, object], is_given: bool) -> None:
    """Nobody knows which, so a command for one of them leaves it alone."""
    filed = DeadLetterMetadata(reason="it is no JSON", owner=OWNER, at=NOW)
    found = Selection(**{"until": NOW + 1, **where}).of(filed, UNREAD)  # type: ignore[arg-type] # of a parameter
    assert found == (UNREAD if is_given else None)
