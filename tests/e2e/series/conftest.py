"""What the tests of this folder have in common."""

import pytest

from delayer.core.schedule.instants import SECOND, format_instant
from tests.e2e.client import Client, now
from tests.e2e.series.each_minute import EachMinute

PATH = "/each-minute"


@pytest.fixture(scope="session")
def each_minute(client: Client) -> EachMinute:
    """It is made for the first test of the folder, and looked at by the last one."""
    first = now() + 3 * SECOND
    body = {
        "repeat": {"every": "PT1M", "anchor": format_instant(first), "from": format_instant(first)},
        "action": {"type": "http-request", "url": client.receiver.url + PATH},
        "payload": "<delayer.occurrence.number>",
    }
    status, headers, created = client.call("POST", "/series", body)
    assert status == 201, created
    return EachMinute(location=headers["location"], path=PATH, first=first)
