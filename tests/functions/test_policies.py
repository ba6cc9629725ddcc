"""The policies that are built in."""

import zoneinfo
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import pytest

from delayer.extension.harness import NotAccepted, handler_in
from delayer.extension.policy import DAY, HOUR, Asked, At, Refused
from delayer.extension.policy_harness import ask, instant
from tests.cfn import ROOT


def asked_with(when: dict[str, object]) -> Asked[Any]:
    """Without the checks of the API."""
    fields = msgspec.convert({"policy": "next-business-hour", **when}, business.target.fields)
    return Asked(
        policy=fields, now=SATURDAY, accepted_at=SATURDAY, schedule_id="", owner="owner", payload="", key=bytes(8)
    )


spread = handler_in(ROOT / "functions/policy-spread")
business = handler_in(ROOT / "functions/policy-next-business-hour")
SATURDAY = instant("2026-11-21T09:00:00Z")
LISBON = {"timeZone": "Europe/Lisbon"}


def test_spread_is_even_and_the_same_however_often_it_is_asked() -> None:
    """It takes some seconds: 4,000 times are asked for."""
    chosen = [ask(spread, {"seconds": 10}, number=number) for number in range(2_000)]
    assert chosen == [
        ask(spread, {"seconds": 10}, number=number, now=SATURDAY + DAY, accepted_at=SATURDAY) for number in range(2_000)
    ]
    seconds = Counter((one.instant - SATURDAY) // 1_000 for one in chosen if isinstance(one, At))
    assert set(seconds) == set(range(10))
    assert all(150 < times < 250 for times in seconds.values())


@pytest.mark.parametrize("fields", [{}, {"seconds": 0}, {"seconds": 31_536_001}, {"seconds": 1.5}], ids=str)
def test_spread_has_a_length(fields: dict[str, object]) -> None:
    with pytest.raises(NotAccepted, match=r"when\.seconds"):
        ask(spread, fields)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-11-21T09:00:00Z", "2026-11-23T09:00:00Z"),  # a Saturday
        ("2026-11-23T08:59:59.999Z", "2026-11-23T09:00:00Z"),
        ("2026-11-23T12:00:00.001Z", "2026-11-23T12:00:00.001Z"),  # it is open
        ("2026-11-23T17:00:00Z", "2026-11-24T09:00:00Z"),
    ],
)
def test_monday_to_friday_from_nine_to_five(now: str, expected: str) -> None:
    assert ask(business, LISBON, now=instant(now)) == At(instant(expected))


def test_hours_of_its_own_a_zone_and_holidays() -> None:
    fields = {
        "timeZone": "America/New_York",
        "hours": {"SAT": ["10:00-12:00"], "MON": ["13:00-24:00"]},
        "holidays": ["2026-11-21"],
    }
    assert ask(business, fields, now=SATURDAY) == At(instant("2026-11-23T13:00:00-05:00"))


def test_a_late_decision_does_not_fire_outside_business_hours() -> None:
    """The function was broken over the weekend: what was accepted in time waits for Monday."""
    friday = SATURDAY - 24 * HOUR
    assert ask(business, now=SATURDAY, accepted_at=friday) == At(instant("2026-11-23T09:00:00Z"))


def test_zones_are_those_of_series_and_not_those_of_the_machine(tmp_path: Path) -> None:
    """Whose database may be another one: here its Chatham Islands have the time of UTC."""
    wrong = tmp_path / "Pacific/Chatham"
    wrong.parent.mkdir()
    wrong.write_bytes(files("tzdata").joinpath("zoneinfo", "UTC").read_bytes())
    zoneinfo.reset_tzpath((str(tmp_path),))
    try:
        chosen = ask(business, {"timeZone": "Pacific/Chatham"}, now=SATURDAY)
    finally:
        zoneinfo.reset_tzpath()
        zoneinfo.ZoneInfo.clear_cache()
    assert chosen == At(instant("2026-11-22T19:15:00Z"))


def test_a_calendar_without_any_hour_is_refused() -> None:
    answer = ask(business, {"hours": {"MON": []}})
    assert isinstance(answer, Refused)
    assert "no business hour in the next 400 days" in answer.detail


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        ({"timeZone": "../etc"}, "no such time zone"),
        ({"hours": {"MON": ["17:00-09:00"]}}, "the closing must be after the opening"),
        ({"holidays": ["2026-02-30"]}, "cannot be read"),
    ],
)
def test_what_an_api_without_these_checks_has_accepted_is_refused(when: dict[str, object], reason: str) -> None:
    answer = business.target.choose(asked_with(when))
    assert isinstance(answer, Refused)
    assert reason in answer.detail


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"hours": {"Monday": ["09:00-12:00"]}}, "when"),
        ({"hours": {}}, "when.hours: out of bounds: {}; allowed: at least 1 field"),
        ({"hours": {"MON": ["9-17"]}}, 'when.hours.MON.0: not allowed: "9-17"; allowed: from-to within a day'),
        ({"hours": {"MON": ["17:00-09:00"]}}, "when.hours.MON.0"),
        ({"holidays": ["Easter"]}, 'when.holidays.0: not allowed: "Easter"; allowed: a date that there is, such as'),
        ({"holidays": ["2026-02-30"]}, "when.holidays.0"),
        ({"holidays": ["20261225"]}, "when.holidays.0"),
        ({"timeZone": "Europe"}, "when.timeZone"),
        ({"timeZone": "../etc"}, "when.timeZone"),
        (
            {"timeZone": "Europe/Atlantis"},
            'when.timeZone: not allowed: "Europe/Atlantis"; allowed: a zone of the IANA database, like Europe/Lisbon',
        ),
    ],
    ids=str,
)
def test_the_api_refuses_what_can_never_be(fields: dict[str, object], wrong: str) -> None:
    with pytest.raises(NotAccepted) as refused:
        ask(business, fields)
    assert str(refused.value).startswith(wrong)
