"""Whatever EventBridge has: what is mapped is taken by Delayer, and all else has a reason."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from delayer_client.eventbridge.mapping.outcome import Left, Options, Request, Translated
from delayer_client.eventbridge.reading.sources import Found, Rule, Schedule
from delayer_client.eventbridge.translating import translate, translate_rule, translate_schedule
from tests.client.eventbridge.samples import admitted
from tests.client.eventbridge.strategies import destinations, moments, rules, schedules

cutovers = st.none() | st.timedeltas(timedelta(minutes=10), timedelta(days=30))
many = pytest.mark.parametrize("examples", [100, pytest.param(400, marks=pytest.mark.thorough)])


def tried(examples: int, check: Callable[..., None], *drawn: st.SearchStrategy[Any]) -> None:
    """So many are drawn, and each is checked."""
    some = settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    some(given(*drawn)(check))()


def is_sound(item: Translated, now: datetime) -> None:
    if isinstance(item, Left):
        assert item.reason
        assert item.field
        assert "\n" not in item.reason
    else:
        admitted(item, now)


@many
def test_a_schedule(examples: int) -> None:
    """It takes a second, as each is translated and admitted."""

    def check(schedule: Schedule, now: datetime, ahead: timedelta | None) -> None:
        options = Options(now=now, cutover=None if ahead is None else now + ahead)
        is_sound(translate_schedule(schedule, options), now)

    tried(examples, check, schedules(), moments, cutovers)


@many
def test_a_rule_with_its_targets(examples: int) -> None:
    """It takes a second or two, as a rule has several targets."""

    def check(rule: Rule, now: datetime, ahead: timedelta | None) -> None:
        items = translate_rule(rule, destinations, Options(now=now, cutover=None if ahead is None else now + ahead))
        assert len(items) == len(rule.targets or ())
        for item in items:
            is_sound(item, now)

    tried(examples, check, rules(), moments, cutovers)


@many
def test_each_has_a_name_of_its_own_each_time(examples: int) -> None:
    """It takes some seconds: whole accounts are drawn, and translated twice."""

    def check(ours: list[Schedule], those: list[Rule], now: datetime) -> None:
        found = Found(schedules=tuple(ours), rules=tuple(those))
        items = translate(found, Options(now=now))
        by_name = {one.name: one.tag for one in items if isinstance(one, Request)}
        assert len({(one.name, one.tag) for one in items if isinstance(one, Request)}) == len(by_name)
        assert translate(found, Options(now=now)) == items

    tried(examples, check, st.lists(schedules(), max_size=4), st.lists(rules(), max_size=2), moments)
