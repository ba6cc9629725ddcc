"""Whatever is not the expected response is counted, and is no part of the speed."""

import pytest

from bench.load.throughput import TimedCall, summarise


def call(seconds: float, failure: str | None = None) -> TimedCall:
    return TimedCall(seconds=seconds, failure=failure)


def test_failures_are_counted_by_their_text_and_are_no_part_of_the_speed() -> None:
    made = [call(0.01), call(0.03), call(9, "503: a"), call(9, "503: a"), call(9, "404: b")]
    row = summarise(8, made, 2)
    assert (row.calls, row.failed, row.per_second) == (5, 3, 1)
    assert row.p50_ms == pytest.approx(20)
    assert row.failures == {"503: a": 2, "404: b": 1}


def test_without_an_expected_response_there_is_no_median() -> None:
    row = summarise(8, [call(1, "503: a")], 2)
    assert (row.failed, row.per_second, row.p50_ms) == (1, 0, None)
