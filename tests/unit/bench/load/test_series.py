"""Which occurrences are due, and which have arrived."""

import json

from bench.load.arrivals import Arrival
from bench.load.due_times import MINUTE
from bench.load.series import SERIES, TIME, arrivals_of, due_of, post, spread
from local.receiver import ReceivedRequest

START = 1_795_251_600_000


def test_series_are_spread_over_the_minute_and_each_is_due_every_minute() -> None:
    series = spread(4, START, 2, "http://target")
    assert [one.first - START for one in series] == [0, 15_000, 30_000, 45_000]
    due = due_of(series)
    assert len(due) == 8
    assert due["1@2026-11-21T09:01:15.000Z"] == START + MINUTE + 15_000


def test_a_request_says_which_occurrence_it_is() -> None:
    [series] = spread(1, START, 1, "http://target")
    call = post(series)
    body = json.loads(call.body or "")
    assert (call.path, call.expected, body["repeat"]["count"]) == ("/series", 201, 1)
    headers = {SERIES: body["action"]["headers"][SERIES], TIME: "2026-11-21T09:00:00.000Z"}
    request = ReceivedRequest(at_ms=START + 5, method="POST", path="/", headers=headers, body=b"", status=200)
    assert arrivals_of([request]) == [Arrival(schedule_id=next(iter(due_of([series]))), at_ms=START + 5)]
