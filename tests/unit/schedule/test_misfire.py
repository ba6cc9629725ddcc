"""The rule for a late schedule."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND
from delayer.schedule.misfire import Drop, decide_misfire, duration
from tests.samples import NOW


def rule(after: str = "PT1H", do: str = "drop") -> str:
    return json.dumps({"after": after, "do": do})


@given(st.integers(-HOUR, 3 * HOUR))
def test_it_is_dropped_after_its_time_and_not_before(late: int) -> None:
    decision = decide_misfire(rule(), NOW, NOW + late)
    assert isinstance(decision, Drop) == (late > HOUR)


@given(st.integers(-HOUR, 1000 * DAY), st.sampled_from(["", rule(do="fire")]))
def test_without_a_rule_it_fires_however_late(late: int, on_late: str) -> None:
    assert decide_misfire(on_late, NOW, NOW + late) is None


def test_the_reason_says_how_late() -> None:
    assert decide_misfire(rule("PT1S"), NOW, NOW + 1500) == Drop("1500 ms late; to be dropped after PT1S")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PT0S", 0),
        ("PT1H", HOUR),
        ("P1D", DAY),
        ("P2DT3H4M5S", 2 * DAY + 3 * HOUR + 4 * MINUTE + 5 * SECOND),
        ("PT90M", 90 * MINUTE),
        ("P0DT1S", SECOND),
    ],
)
def test_durations(text: str, expected: int) -> None:
    assert duration(text) == expected


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1DT", "1H", "PT1.5S", "P1M", "P1Y", "PT1S\n", "pt1h", "PT-1S", "P1W"]
)
def test_what_is_no_duration(text: str) -> None:
    """A month has no fixed length; and no API lets it in."""
    with pytest.raises(ValueError, match="not a duration"):
        duration(text)


@pytest.mark.parametrize("on_late", ["{", "[]", "{}", '{"after":1,"do":"drop"}', '{"do":"drop"}'])
def test_a_rule_that_cannot_be_read(on_late: str) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        decide_misfire(on_late, NOW, NOW)
