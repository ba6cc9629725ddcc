"""How long an invocation may take, and each of its calls."""

import time
from typing import Any

import pytest

from delayer.engines.aws import bounded_calls as deadline
from delayer.engines.aws.bounded_calls import Deadline
from tests.cfn import functions, written

NOW = 1_795_251_600.0


class Context:
    """Lambda's."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds * 1000)


@pytest.fixture(autouse=True)
def _clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 500.0)
    monkeypatch.setattr(time, "time", lambda: NOW)


def begun(seconds: float, event: object = None) -> Deadline:
    made = Deadline()
    made.begin(event, Context(seconds))
    return made


@pytest.mark.parametrize(("given", "left"), [(10, 9), (20, 18), (60, 58), (120, 118), (1, 0.9)])
def test_there_is_time_for_the_answer(given: float, left: float) -> None:
    assert begun(given).left() == pytest.approx(left)


def test_a_call_leaves_time_for_the_next() -> None:
    """Three calls in a row that hang leave an eighth of the time."""
    assert begun(10).end_of_call() == pytest.approx(504.5)


def test_without_a_context_there_is_no_deadline() -> None:
    made = begun(10)
    made.begin({}, None)
    assert made.left() == float("inf")
    assert made.end_of_call() == float("inf")


@pytest.mark.parametrize(
    ("waited", "left"),
    [(0.1, 9), (2, 9), (5, 6), (12, -1), (31, 9), (-3, 9)],
    ids=["warm", "cold", "very cold", "nobody waits", "another clock", "a clock ahead"],
)
def test_the_gateway_waits_since_before_the_start(waited: float, left: float) -> None:
    """It answers by itself, with an error that is no problem, once its own timeout is over."""
    event: Any = {"requestContext": {"timeEpoch": (NOW - waited) * 1000}}
    assert begun(10, event).left() == pytest.approx(left)


@pytest.mark.parametrize(
    "event", [None, [], {"Records": []}, {"requestContext": None}, {"requestContext": {}}], ids=str
)
def test_other_events_have_no_gateway(event: object) -> None:
    assert begun(10, event).left() == 9


def test_the_gateway_waits_as_much_longer_as_the_template_says() -> None:
    names = written()["Mappings"]["Functions"].values()
    waits = {one["Name"]: one["ApiTimeoutMillis"] / 1000 for one in names if "ApiTimeoutMillis" in one}
    differences = {waits[name] - functions()[name]["Timeout"] for name in waits}
    assert differences == {deadline.GATEWAY_WAITS_LONGER}
