"""What the tests of this folder have in common."""

import pytest

from delayer.core.schedule.instants import SECOND, format_instant
from delayer_client import Repeat
from tests.e2e.client import Client, now
from tests.e2e.series.each_minute import EachMinute

PATH = "/each-minute"


@pytest.fixture(scope="session")
def each_minute(client: Client) -> EachMinute:
    """It is made for the first test of the folder, and looked at by the last one."""
    first = now() + 3 * SECOND
    rule = Repeat(every="PT1M", anchor=format_instant(first), from_=format_instant(first))
    made = client.delayer.series.create(rule, client.target(PATH), payload="<delayer.occurrence.number>")
    return EachMinute(id=made.id, path=PATH, first=first)
