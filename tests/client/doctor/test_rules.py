"""Rules of series that stand, and are refused of a new one: the doctor finds what the API refuses, and nothing else."""

from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

from delayer.engines.aws.expressions import to_attributes
from delayer.engines.store.model import Item
from delayer.recurrence.rule import check_new, parse_rule
from delayer.recurrence.terms import BadRule
from delayer.schedule.instants import DAY
from delayer.series.repository.series_table import cursor_item, definition_item
from delayer.series.rules.rules import text_of
from delayer.series.rules.series import Cursor, SeriesDefinition, SeriesState
from delayer_client.operator.doctor.facts import StoredRule
from delayer_client.operator.doctor.gather import stored
from delayer_client.operator.doctor.judge.rules import misplaced
from tests.client.doctor.account import NOW
from tests.contract.conftest import create_table
from tests.contract.series.test_series_table import BEGUN, DEFINITION

OWNER = "arn:aws:iam::123456789012:role/a#b"


def series_of(cron: str) -> SeriesDefinition:
    return evolve(DEFINITION, owner=OWNER, repeat=text_of(parse_rule({"cron": cron}, 0)))


def items(series: str, cron: str, *, is_over: bool = False) -> list[Item]:
    state = SeriesState.CANCELLED if is_over else SeriesState.ACTIVE
    cursor: Cursor = evolve(BEGUN, owner=OWNER, series=series, state=state, expires_at=DAY if is_over else 0)
    return [
        cursor_item(cursor),
        definition_item(series, series_of(cron)) | ({"expiresAt": 9} if is_over else {}),
    ]


@pytest.fixture
def stack() -> Any:
    with mock_aws():
        dynamodb = boto3.client("dynamodb", region_name="eu-west-1")
        table = create_table(dynamodb, "list", "entry")
        for item in [
            *items("a", "cron(0 10 ? * JAN *)"),
            *items("b", "cron(0 10 ? * MON *)"),
            *items("c", "0 9 * * MON"),
            *items("d", "rate(1 day)"),
            *items("e", "cron(0 10 ? * FEB *)", is_over=True),
        ]:
            dynamodb.put_item(TableName=table, Item=to_attributes(item))
        yield SimpleNamespace(client=lambda _: dynamodb, outputs={"RegistryTable": table})


def test_the_rules_that_stand_in_the_dialect_of_eventbridge_are_looked_at(stack: Any) -> None:
    found = stored.look_at_rules(stack, NOW)
    assert found.is_whole
    assert sorted((one.series, one.cron) for one in found.rules) == [
        ("a", "cron(0 10 ? * JAN *)"),
        ("b", "cron(0 10 ? * MON *)"),
    ]
    assert all(isinstance(one, StoredRule) and one.owner == OWNER for one in found.rules)


@pytest.mark.parametrize(
    ("cron", "names"),
    [
        ("cron(0 10 ? * JAN *)", ["JAN"]),
        ("cron(0 FRI-MON * * ? *)", ["FRI", "MON"]),
        ("cron(0 9 1 jun-sun,jul ? *)", ["SUN"]),
        ("cron(0 9 ? JAN-MAR MON,FRI#2,SATL *)", []),
    ],
)
def test_names_in_the_wrong_field(cron: str, names: list[str]) -> None:
    assert misplaced(cron) == names


fields = st.sampled_from(["*", "1", "FRI-MON", "NOV-FEB", "MON", "JAN/3", "SUN,2", "FRI#2", "SATL", "1,JUL"])


@given(fields, fields, fields, fields)
def test_it_is_what_the_api_refuses(minute: str, hour: str, month: str, weekday: str) -> None:
    """Of all that an earlier release took."""
    cron = f"cron({minute} {hour} ? {month} {weekday} *)"
    try:
        rule = parse_rule({"cron": cron}, 0)
    except BadRule:
        return
    try:
        check_new(rule)
    except BadRule:
        assert misplaced(cron)
    else:
        assert misplaced(cron) == []
