"""Two hundred schedules due in the same second: all delivered, each once, none early."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from delayer.schedule.instants import SECOND, format_instant
from tests.e2e.client import LATE, Client, now

NUMBER = 200
FIRST = 20  # POSTed before, to learn how long the others take


@pytest.mark.thorough
def test_two_hundred_in_the_same_second(client: Client) -> None:
    """It begins when all of it has been POSTed, which takes as long as the machine needs: half a minute at most."""
    due: dict[str, int] = {}

    def post(path: str) -> int:
        """Without a key, which would be another row for each."""
        body = {"pointInTime": format_instant(due[path]), "action": client.target(path).as_json(), "payload": None}
        headers = {"Content-Type": "application/json", "Delayer-Owner": client.owner}
        return client.call_once("POST", "/schedules", json.dumps(body).encode(), headers)[0]

    def post_all(paths: list[str]) -> None:
        with ThreadPoolExecutor(4) as clients:
            assert set(clients.map(post, paths)) == {201}

    due |= {f"/before/{n}": now() for n in range(FIRST)}
    post_all(list(due))  # the functions start, which the others need not wait for
    started = now()
    post_all(list(due))
    begin = now() + 5 * SECOND + 2 * (now() - started) * NUMBER // FIRST
    due = {f"/burst/{n}": begin + n * SECOND // NUMBER for n in range(NUMBER)}
    post_all(list(due))
    assert now() < begin - SECOND, "the burst was still being POSTed as it began"
    for path, instant in due.items():
        (request,) = client.arrivals(path)
        assert 0 <= request.at_ms - instant < LATE
    counts = Counter(request.path for request in client.receiver.requests if "/burst/" in request.path)
    assert set(counts.values()) == {1}
