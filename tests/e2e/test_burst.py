"""Two hundred schedules due in the same second: all delivered, each once, none early."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from delayer.core.schedule.instants import SECOND, format_instant
from tests.e2e.client import LATE, Client, now

NUMBER = 200


@pytest.mark.thorough
def test_two_hundred_in_the_same_second(client: Client) -> None:
    """It takes half a minute: to POST them takes as long as the machine needs, and they are due after that."""
    begin = now() + 20 * SECOND
    due = {f"/burst/{n}": begin + n * SECOND // NUMBER for n in range(NUMBER)}

    def post(path: str) -> int:
        """Without a key, which would be another row for each."""
        body = {"pointInTime": format_instant(due[path]), "action": client.target(path).as_json(), "payload": None}
        headers = {"Content-Type": "application/json", "Delayer-Owner": client.owner}
        return client.call_once("POST", "/schedules", json.dumps(body).encode(), headers)[0]

    with ThreadPoolExecutor(4) as clients:
        assert set(clients.map(post, due)) == {201}
    assert now() < begin - SECOND, "the burst was still being POSTed as it began"
    for path, instant in due.items():
        (request,) = client.arrivals(path)
        assert 0 <= request.at_ms - instant < LATE
    counts = Counter(request.path for request in client.receiver.requests if "/burst/" in request.path)
    assert set(counts.values()) == {1}
