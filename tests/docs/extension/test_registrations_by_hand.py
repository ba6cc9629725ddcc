"""The commands of the operations page for an action whose stack is gone do what the page says."""

import json
import re
from importlib import import_module
from typing import Any, Final

import boto3
from attrs import evolve

from delayer.actions.register import Register
from delayer.actions.repository import StoredActions
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import Registration
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.memory import MemoryObserver
from delayer.lambdas.custom_resource import settle
from tests.cfn import ROOT
from tests.contract.conftest import create_table
from tests.unit.empty_account import empty_account

JMESPATH: Final[Any] = import_module("jmespath")  # comes with boto3, without types
SECTION = (ROOT / "docs/operate/operations.md").read_text().split("## Taking out an action whose stack is gone\n")[1]
GONE = "arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/1a2b"
REPORT = Registration(
    action=ActionType(type="report-make", schema="{}"), stack=GONE, token="9f-1", resource="Action", function="arn:f"
)
OTHER = evolve(REPORT, action=ActionType(type="slack-post", schema="{}"), token="9f-2")


def option(name: str) -> str:
    """What stands behind an option of one of the commands."""
    [value] = re.findall(rf"--{name} '([^']+)'", SECTION)
    return str(value)


def test_an_action_whose_stack_is_gone_is_taken_out() -> None:
    """On moto, whose tables and clients of boto3 take a second to be made."""
    with empty_account():
        take_out(boto3.client("dynamodb", "eu-west-1"))


def take_out(dynamodb: Any) -> None:
    actions = StoredActions(store=DynamoStore(dynamodb), table=create_table(dynamodb, "name"))
    actions.write("report-make", (REPORT,), ())
    actions.write("slack-post", (OTHER,), ())

    answer = dynamodb.get_item(TableName=actions.table, Key=json.loads(option("key")))
    [shown] = json.loads(JMESPATH.search(option("query"), answer))
    request = option("payload").replace("<stack>", shown["stack"]).replace("<token>", shown["token"])

    register = Register(
        action_rows=actions, built_in={}, describe=lambda _: REPORT.action, observer=MemoryObserver(), stack_id="own"
    )
    assert settle(json.loads(request), register, MemoryObserver())["Status"] == "SUCCESS"
    assert actions.actions() == {"slack-post": (OTHER,)}
