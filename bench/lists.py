"""How long a page of a long list takes of FakeDelayer, which the console is tested against.

Run as `python -m bench.lists`, or with another number of schedules: `python -m bench.lists 1000`.
"""

import sys
from time import perf_counter

import httpx

from delayer_client.testing import FakeDelayer

SCHEDULES = 100_000
IN_A_BATCH = 100
SPREAD = 864_000  # seconds over which they are due
LISTS = {"all": "", "a group": "&group=group-1", "a state": "&state=scheduled"}
PAGES = 5


def filled(number: int) -> httpx.Client:
    """A client of a fake with so many schedules."""
    fake = FakeDelayer()
    http = httpx.Client(transport=fake.transport, base_url=fake.url)
    for first in range(0, number, IN_A_BATCH):
        made = http.post("/schedules/batch", json={"schedules": [one(first + at) for at in range(IN_A_BATCH)]})
        made.raise_for_status()
    return http


def one(number: int) -> dict[str, object]:
    """They are accepted in another order than they are due."""
    return {
        "delaySeconds": 3600 + 7919 * number % SPREAD,
        "action": {"type": "http-request", "url": "https://example.com/hook"},
        "payload": {"order": number},
        "group": f"group-{number % 3}",
    }


def pages(http: httpx.Client, query: str) -> list[float]:
    """Milliseconds of each of the first pages of a hundred."""
    taken, cursor = [], ""
    for _ in range(PAGES):
        began = perf_counter()
        page = http.get(f"/schedules?limit=100{query}{cursor}").raise_for_status().json()
        taken.append((perf_counter() - began) * 1000)
        if "nextCursor" not in page:
            break
        cursor = f"&cursor={page['nextCursor']}"
    return taken


def main(number: int = SCHEDULES) -> None:
    """Prints what it has measured."""
    began = perf_counter()
    http = filled(number)
    print(f"{number:,} schedules, made in {perf_counter() - began:.1f} s")
    for name, query in LISTS.items():
        taken = pages(http, query)
        print(f"{name}: {', '.join(f'{one:.1f}' for one in taken)} ms for each page of a hundred")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
