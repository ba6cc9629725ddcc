"""A lane hands over batches as the mapping says; records of one key stay in one lane."""

import threading
import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from local.emulator.patches.stream_lanes import Lane, lane_of


def record(number: int, key: str = "a") -> dict[str, Any]:
    return {"dynamodb": {"Keys": {"pk": {"S": key}}, "SequenceNumber": f"{number:05d}"}}


def numbered(*numbers: int) -> list[tuple[int, dict[str, Any]]]:
    return [(number, record(number)) for number in numbers]


def taken(lane: Lane) -> list[str]:
    return [each["dynamodb"]["SequenceNumber"] for each in lane.batch()]


def test_a_full_batch_is_handed_over_at_once_whatever_the_window() -> None:
    lane = Lane(size=2, window=60)
    lane.add(numbered(0, 1, 2))
    assert taken(lane) == ["00000", "00001"]
    lane.done(2)
    assert lane.first() == 2


def test_without_a_window_nothing_waits() -> None:
    lane = Lane(size=100, window=0)
    lane.add(numbered(7))
    assert taken(lane) == ["00007"]


def test_a_batch_waits_for_more_until_its_window_is_over() -> None:
    lane = Lane(size=100, window=0.2)
    began = time.monotonic()
    lane.add(numbered(0))
    threading.Timer(0.05, lane.add, [numbered(1)]).start()
    assert taken(lane) == ["00000", "00001"]
    assert time.monotonic() - began >= 0.19


def test_what_is_not_done_comes_again_first() -> None:
    lane = Lane(size=3, window=0)
    lane.add(numbered(0, 1, 2))
    assert taken(lane) == ["00000", "00001", "00002"]
    lane.done(1)
    assert taken(lane) == ["00001", "00002"]
    lane.done(2)
    assert lane.first() is None


def test_a_record_that_comes_later_wakes_the_lane() -> None:
    lane = Lane(size=3, window=0)
    threading.Timer(0.05, lane.add, [numbered(4)]).start()
    assert taken(lane) == ["00004"]


@given(st.text(), st.integers(1, 10), st.integers(0, 99), st.integers(0, 99))
def test_records_of_one_key_are_in_one_lane(key: str, lanes: int, one: int, other: int) -> None:
    assert lane_of(record(one, key), lanes) == lane_of(record(other, key), lanes) < lanes
