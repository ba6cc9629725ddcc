"""The registered action types: one row, in which each type is written for itself."""

import json
from typing import Any

import pytest
from attrs import evolve

from delayer.aws.deployment.actions import KEY, DynamoActions
from delayer.core.actions.action_type import ActionType
from delayer.core.actions.built_in import built_in
from delayer.core.actions.registration import Registration, Registrations, most_bytes
from delayer.fakes import MemoryActions
from delayer.ports.actions import Actions
from delayer.ports.unavailable import Unavailable
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.samples import GOLDEN

ADAPTER = DynamoActions
FIRST = Registration(
    action=ActionType(
        type="slack-post", schema='{"description": "é \\" \\\\ \\u0000"}', fair_by="channel", payload="{}"
    ),
    stack="arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/1a2b",
    token="1",
    resource="Slack",
    function="arn:aws:lambda:eu-west-1:123456789012:function:slack",
)
SECOND = evolve(FIRST, token="2", queue="http://localhost:8081/1/q", function="", resource="")
OTHER = evolve(FIRST, action=ActionType(type="sms-send", schema="{}", internal=True, largest_payload=1_000))


def adapter(dynamodb: Any) -> DynamoActions:
    return DynamoActions(dynamodb=dynamodb, table=create_table(dynamodb, "name"))


@pytest.fixture
def actions(dynamodb_or_fake: Any) -> Actions:
    return MemoryActions() if dynamodb_or_fake is None else adapter(dynamodb_or_fake)


def test_a_new_stack_has_none(actions: Actions) -> None:
    assert actions.actions() == {}


def test_what_is_written_is_read(actions: Actions) -> None:
    assert actions.write("slack-post", (FIRST,), ())
    assert actions.write("sms-send", (OTHER,), ())
    assert actions.write("slack-post", (FIRST, SECOND), (FIRST,))
    assert actions.actions() == {"slack-post": (FIRST, SECOND), "sms-send": (OTHER,)}


@pytest.mark.parametrize("over", [(), (SECOND,), (FIRST, SECOND), (SECOND, FIRST)], ids=len)
def test_of_two_writers_one_is_refused(actions: Actions, over: Any) -> None:
    """The row is what the first one wrote."""
    actions.write("slack-post", (FIRST,), ())
    assert not actions.write("slack-post", (SECOND,), over)
    assert actions.actions() == {"slack-post": (FIRST,)}


def test_what_is_taken_out_is_gone(actions: Actions) -> None:
    actions.write("slack-post", (FIRST,), ())
    actions.write("sms-send", (OTHER,), ())
    assert actions.write("slack-post", (), (FIRST,))
    assert actions.actions() == {"sms-send": (OTHER,)}
    assert not actions.write("slack-post", (SECOND,), (FIRST,))
    assert actions.write("slack-post", (SECOND,), ())


def test_nothing_over_nothing(actions: Actions) -> None:
    assert actions.write("slack-post", (), ())
    assert actions.actions() == {}


def test_it_takes_no_more_bytes_than_reckoned(dynamodb: Any) -> None:
    """So the row never becomes too large for DynamoDB, which counts names and values."""
    actions = adapter(dynamodb)
    strange = evolve(OTHER, action=evolve(OTHER.action, schema="\U0001f600é"))
    every: dict[str, Registrations] = {"slack-post": (FIRST, SECOND), "sms-send": (strange,)}
    every |= {kind: (evolve(FIRST, action=one, queue='"' * 9),) for kind, one in built_in().items()}
    for kind, known in every.items():
        actions.write(kind, known, ())
    row = dynamodb.get_item(TableName=actions.table, Key=KEY)["Item"]["types"]["M"]
    assert row.keys() == every.keys()
    for kind, text in row.items():
        size = len(kind) + len(text["S"].encode())
        assert size <= most_bytes(every[kind]) <= size + 300 * len(every[kind])


def test_a_row_of_the_first_version_is_read(dynamodb: Any) -> None:
    actions = adapter(dynamodb)
    dynamodb.put_item(TableName=actions.table, Item=json.loads((GOLDEN / "actions-item.json").read_text()))
    found = actions.actions()
    assert {kind: [(one.stack, one.token) for one in known] for kind, known in found.items()} == {
        "http-request": [("arn:aws:cloudformation:eu-west-1:123456789012:stack/delayer/0a1b", "1")],
        "report-make": [("arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/2c3d", "2")],
    }
    [report] = found["report-make"]
    assert report.function.endswith(":function:report")
    assert report.action == ActionType(type="report-make", schema='{"type":"object"}', fair_by="report", payload="{}")


@pytest.mark.parametrize("before", ["new", "old"])
def test_one_that_writes_in_between_is_not_overwritten(dynamodb: Any, before: str) -> None:
    """Between the read and the write of this one."""
    actions = adapter(dynamodb)
    if before == "old":
        actions.write("slack-post", (FIRST,), ())
    over = (FIRST,) if before == "old" else ()
    others = [True]

    def update_item(**arguments: Any) -> Any:
        if others.pop() if others and "#kind" in arguments["ExpressionAttributeNames"] else False:
            assert actions.write("slack-post", (SECOND,), over)
        return dynamodb.update_item(**arguments)

    late = DynamoActions(dynamodb=Wrapped(dynamodb, update_item=update_item), table=actions.table)
    assert not late.write("slack-post", (FIRST, SECOND), over)
    assert actions.actions() == {"slack-post": (SECOND,)}


def stored(dynamodb: Any, actions: DynamoActions, text: str) -> None:
    dynamodb.put_item(TableName=actions.table, Item={**KEY, "types": {"M": {"slack-post": {"S": text}}}})


@pytest.mark.parametrize(
    "text",
    ["", "<html>", "{}", "[1]", '[{"action": {"v": 2}, "stack": "s", "token": "1"}]', '[{"stack": "s", "token": "1"}]'],
)
def test_what_this_version_cannot_read_is_left_out(dynamodb: Any, text: str) -> None:
    """It must not keep the other types from being read, nor its own from being registered again."""
    actions = adapter(dynamodb)
    stored(dynamodb, actions, text)
    assert actions.actions() == {}
    actions.write("sms-send", (OTHER,), ())
    assert actions.actions() == {"sms-send": (OTHER,)}
    if text:
        assert actions.write("slack-post", (FIRST,), ())
        assert actions.actions()["slack-post"] == (FIRST,)


def test_what_another_version_wrote_in_another_way_can_be_replaced(dynamodb: Any) -> None:
    actions = adapter(dynamodb)
    stored(
        dynamodb,
        actions,
        '[{"token": "1", "stack": "s", "later": 1, "action": {"v": 1, "type": "slack-post", "schema": "{}"}}]',
    )
    [first] = actions.actions()["slack-post"]
    assert first == Registration(action=ActionType(type="slack-post", schema="{}"), stack="s", token="1")
    assert actions.write("slack-post", (FIRST,), (first,))
    assert actions.actions() == {"slack-post": (FIRST,)}


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_an_error_of_aws_is_unavailable(error: Exception) -> None:
    failing = DynamoActions(dynamodb=Failing(error), table="t")
    with pytest.raises(Unavailable):
        failing.actions()
    with pytest.raises(Unavailable):
        failing.write("slack-post", (FIRST,), ())
