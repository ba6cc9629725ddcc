"""A rule in English."""

from typing import Any

import pytest
from hypothesis import given

from delayer.recurrence.describe import description
from delayer.recurrence.rule import parse_rule
from delayer.schedule.instants import parse_instant
from tests.recurrence.strategies import repeats

NOW = parse_instant("2026-11-22T12:00:00Z")


@pytest.mark.parametrize(
    ("repeat", "expected"),
    [
        ({"cron": "0 9 * * MON-FRI", "timeZone": "Europe/Lisbon"}, "every weekday at 09:00, Europe/Lisbon"),
        ({"cron": "0 9 * * *"}, "every day at 09:00, UTC"),
        ({"cron": "0 9 * * 1"}, "every Monday at 09:00, UTC"),
        ({"cron": "0 9,17 * * *"}, "every day at 09:00 and 17:00, UTC"),
        ({"cron": "*/15 * * * *"}, "every 15 minutes, UTC"),
        ({"cron": "1-1/1 * * * *"}, "at minute 1 of every hour, UTC"),
        ({"cron": "cron(5-5/10 8 ? * MON-FRI *)"}, "every weekday at 08:05, UTC"),
        ({"cron": "0 9 * * 1-5/2"}, "at 09:00 on Monday, Wednesday, and Friday, UTC"),
        ({"cron": "0 9 1-31 * MON"}, "every day at 09:00, UTC"),  # one of both is enough
        ({"cron": "0 9 1 * 0-6"}, "every day at 09:00, UTC"),
        ({"cron": "0 9 15W * */2"}, "at 09:00 on the weekday nearest to the 15th, if it is on weekday */2, UTC"),
        (
            {"cron": "0 9 15W,20 * MON"},
            "at 09:00 on the weekday nearest to the 15th or on day 20 or on weekday MON, UTC",
        ),
        ({"cron": "@hourly"}, "at the start of every hour, UTC"),
        ({"cron": "0 9 22 * *"}, "at 09:00 on the 22nd day of every month, UTC"),
        ({"cron": "0 9 11,13 * *"}, "at 09:00 on the 11th and the 13th day of month, UTC"),
        ({"cron": "0 9 15W * *"}, "at 09:00 on the weekday nearest to the 15th, UTC"),
        ({"cron": "0 9 L * *"}, "at 09:00 on the last day of every month, UTC"),
        ({"cron": "0 9 * * FRIL"}, "at 09:00 on the last Friday of the month, UTC"),
        ({"cron": "cron(0 18 ? * MON-FRI *)"}, "every weekday at 18:00, UTC"),
        (
            {"cron": "cron(15 10 ? * 6L 2027-2028,2031)"},
            "at 10:15 on the last Friday of the month, in 2027 to 2028 and 2031, UTC",
        ),
        ({"every": "PT1M"}, "every minute, from 2026-11-22T12:00:00.000Z"),
        ({"every": "PT90M"}, "every 1 hour and 30 minutes, from 2026-11-22T12:00:00.000Z"),
        ({"cron": "rate(1 day)"}, "every 24 hours, from 2026-11-22T12:00:00.000Z"),
        ({"every": "P1D", "timeZone": "Asia/Tokyo"}, "every day, from 2026-11-22 at 21:00, Asia/Tokyo"),
        (
            {"every": "P1M", "timeZone": "UTC", "anchor": "2027-01-31"},
            "every month, from 2027-01-31 at 00:00; in a shorter month on its last day, UTC",
        ),
    ],
)
def test_in_usual_words(repeat: dict[str, Any], expected: str) -> None:
    assert description(parse_rule(repeat, NOW)) == expected


@given(repeats())
def test_each_rule_has_one(repeat: dict[str, Any]) -> None:
    text = description(parse_rule(repeat, NOW))
    assert text.strip() == text
    assert text[0].islower()
