"""How long a page of 200 takes among many: `PYTHONPATH=shared:client:. python -m tests.client.console.measure`."""

import argparse
import time
from datetime import timedelta
from statistics import median

from starlette.testclient import TestClient

from delayer_client import HttpRequest, NewSchedule
from delayer_client.console import Place, application
from delayer_client.testing import FakeDelayer

BATCH = 100


def main() -> None:
    """Schedules them within a day, then loads the first page and one in the middle, ten times each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=100_000)
    number = parser.parse_args().schedules
    fake = FakeDelayer()
    fill(fake, number)
    place = Place(url=fake.url, client=lambda owner: fake.async_client(owner=owner or None), now=lambda: fake.now)
    with TestClient(application(place), base_url="http://localhost:8080") as browser:
        for name, path in (
            ("first page of 200", "/console/schedules"),
            ("from tomorrow on", "/console/schedules?from=day"),
        ):
            took = [seconds(browser, path) for _ in range(10)]
            print(
                f"{number:,} schedules, {name}: median {median(took) * 1000:.0f} ms, at most {max(took) * 1000:.0f} ms"
            )


def fill(fake: FakeDelayer, number: int) -> None:
    """Over two days."""
    client = fake.client()
    action = HttpRequest(url="https://example.com/hook")
    for begin in range(0, number, BATCH):
        some = range(begin, min(begin + BATCH, number))
        client.batch(
            [
                NewSchedule(action=action, delay=timedelta(seconds=60 + one * 172_800 / number), group=f"g{one % 50}")
                for one in some
            ]
        )


def seconds(browser: TestClient, path: str) -> float:
    """Of one page."""
    begin = time.perf_counter()
    assert browser.get(path).status_code == 200
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
