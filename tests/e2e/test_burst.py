"""Two hundred schedules due in the same second: all delivered, each once, none early."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from delayer.core.instants import SECOND
from tests.e2e.client import Client, now

NUMBER = 200


def test_two_hundred_in_the_same_second(client: Client) -> None:
    begin = now() + 20 * SECOND
    due = {f"/burst/{n}": begin + n * SECOND // NUMBER for n in range(NUMBER)}
    with ThreadPoolExecutor(4) as clients:
        list(clients.map(lambda path: client.schedule(path, due[path]), due))
    assert now() < begin - SECOND, "the burst was still being POSTed as it began"
    for path, instant in due.items():
        (delivery,) = client.delivered(path, seconds=40)
        assert 0 <= delivery.at_ms - instant < 10 * SECOND
    counts = Counter(delivery.path for delivery in client.receiver.deliveries if "/burst/" in delivery.path)
    assert set(counts.values()) == {1}
