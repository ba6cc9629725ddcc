"""Whatever EventBridge has: what is mapped is taken by Delayer, and all else has a reason."""

from datetime import datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from delayer_client.eventbridge.mapping.outcome import Left, Options, Request, Translated
from delayer_client.eventbridge.reading.sources import Found, Rule, Schedule
from delayer_client.eventbridge.translating import translate, translate_rule, translate_schedule
from tests.client.eventbridge.samples import admitted
from tests.client.eventbridge.strategies import destinations, moments, rules, schedules

some = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
cutovers = st.none() | st.timedeltas(timedelta(minutes=10), timedelta(days=30))


def is_sound(item: Translated, now: datetime) -> None:
    if isinstance(item, Left):
        assert item.reason
        assert item.field
        assert "\n" not in item.reason
    else:
        admitted(item, now)


@some
@given(schedules(), moments, cutovers)
def test_a_schedule(schedule: Schedule, now: datetime, ahead: timedelta | None) -> None:
    options = Options(now=now, cutover=None if ahead is None else now + ahead)
    is_sound(translate_schedule(schedule, options), now)


@some
@given(rules(), moments, cutovers)
def test_a_rule_with_its_targets(rule: Rule, now: datetime, ahead: timedelta | None) -> None:
    items = translate_rule(rule, destinations, Options(now=now, cutover=None if ahead is None else now + ahead))
    assert len(items) == len(rule.targets or ())
    for item in items:
        is_sound(item, now)


@some
@given(st.lists(schedules(), max_size=4), st.lists(rules(), max_size=2), moments)
def test_each_has_a_name_of_its_own_each_time(ours: list[Schedule], those: list[Rule], now: datetime) -> None:
    found = Found(schedules=tuple(ours), rules=tuple(those))
    items = translate(found, Options(now=now))
    by_name = {one.name: one.tag for one in items if isinstance(one, Request)}
    assert len({(one.name, one.tag) for one in items if isinstance(one, Request)}) == len(by_name)
    assert translate(found, Options(now=now)) == items
