"""A series is paused or cancelled at the instant at which its occurrence is claimed: the answer is true."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from attrs import frozen

from delayer.schedule.instants import MINUTE, SECOND, Millis, format_instant
from tests.e2e.client import Client, now, sleep_until

SERIES = 200
CALLS = ("DELETE", "POST")  # a cancel, and a pause
SIDE_BY_SIDE = 24
FIRST: Millis = 4 * SECOND  # after the POST of each
NUMBER = "x-number"  # the header by which an arrival says which occurrence it is


@frozen
class Halted:
    """What came of one series."""

    call: str
    path: str
    answer: dict[str, Any]


@pytest.mark.thorough
def test_each_answer_to_a_halt_at_the_claim_is_true(client: Client) -> None:
    """Over and over: nothing is handed over that the answer does not name, and nothing after it.

    It takes a minute and a half: the next time of each series is waited for.
    """
    draws = random.Random(SERIES)
    moments = [FIRST + draws.randint(-900, 300) for _ in range(SERIES)]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        halted = list(pool.map(lambda number: race(client, number, moments[number]), range(SERIES)))
    for call in CALLS:
        claimed = {one.answer["claimedUpTo"] for one in halted if one.call == call}
        assert claimed == {0, 1}, "some were claimed before, and some were not"
    for one in halted:
        if one.answer["claimedUpTo"]:
            arrived_once(client, one)  # nobody has stopped it
    sleep_until(now() + MINUTE + 2 * SECOND)  # past the next time of each
    for one in halted:
        arrived = client.receiver.of(one.path)
        assert [int(request.headers[NUMBER]) for request in arrived] == [1] * one.answer["claimedUpTo"], one
        assert not {request.headers["delayer-schedule-id"] for request in arrived} & {*one.answer["cancelled"]}, one


def arrived_once(client: Client, halted: Halted) -> None:
    """If it never does, the schedules that the answer names are shown, as they are then."""
    try:
        client.arrivals(halted.path)
    except TimeoutError as error:
        named = [one["scheduleId"] for one in halted.answer["claimed"]]
        shown = [client.delayer.get(one) for one in named]
        raise AssertionError(f"{halted} was claimed, and never arrived: {shown}") from error


def race(client: Client, number: int, after: Millis) -> Halted:
    """A series of one minute, and somebody who halts it about the claim of its first occurrence."""
    call, path, began = CALLS[number % len(CALLS)], f"/halt-{number}", now()
    first = format_instant(began + FIRST)
    body = {
        "repeat": {"every": "PT1M", "anchor": first, "from": first},
        "action": {
            "type": "http-request",
            "url": client.receiver.url + path,
            "headers": {NUMBER: "<delayer.occurrence.number>"},
        },
    }
    posted = answered(client, "POST", "/series", body, {"Idempotency-Key": path}, wanted=201)
    sleep_until(began + after)
    where = f"/series/{posted['seriesId']}" + ("/pause" if call == "POST" else "")
    return Halted(call, path, answered(client, call, where, wanted=200))


def answered(client: Client, *call: Any, wanted: int) -> dict[str, Any]:
    """The first answer that is not 503, which on a busy machine says that nobody knows: a client asks again.

    A repeated halt names what had been claimed before this repeat: what was claimed by then was never cancelled.
    """
    for _ in range(10):
        status, _, body = client.call(*call)
        if status != 503:
            assert status == wanted, body
            return body
    raise AssertionError("always 503")
