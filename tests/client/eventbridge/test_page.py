"""The page about the move says what the code does."""

import re
from typing import Any

import msgspec
import pytest

from delayer_client.eventbridge.mapping.expressions import PLACEHOLDER
from delayer_client.eventbridge.mapping.outcome import Options, Request
from delayer_client.eventbridge.mapping.payloads import SCHEDULE_ARN, SCHEDULED_TIME, WITHOUT_COUNTERPART
from delayer_client.eventbridge.mapping.targets import REFUSED
from delayer_client.eventbridge.mapping.universal import CALLS
from delayer_client.eventbridge.reading import sources
from delayer_client.eventbridge.reading.documents import KNOWN
from delayer_client.eventbridge.reading.sources import Found
from delayer_client.eventbridge.translating import translate_rule, translate_schedule
from tests.cfn import ROOT
from tests.client.eventbridge.samples import (
    BUS,
    DESTINATION,
    FUNCTION,
    MACHINE,
    NOW,
    PLACE,
    QUEUE,
    QUEUE_URL,
    TOPIC,
    UNIVERSAL,
    a_rule,
    a_schedule,
    an_api_destination,
)

PAGE = (ROOT / "docs/use/from-eventbridge.md").read_text()
OPTIONS = Options(now=NOW)
EVENT = {"EventBridgeParameters": {"Source": "orders", "DetailType": "Due"}}
INPUTS: dict[str, Any] = {
    "sqs:sendMessage": {"QueueUrl": QUEUE_URL, "MessageBody": "17"},
    "sns:publish": {"TopicArn": TOPIC, "Message": "17"},
    "lambda:invoke": {"FunctionName": FUNCTION},
    "sfn:startExecution": {"StateMachineArn": MACHINE},
    "eventbridge:putEvents": {"Entries": [{"Source": "s", "DetailType": "d"}]},
}


def table(heading: str) -> dict[str, str]:
    """The first two columns of the first table under a heading."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    first = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert first
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", first[0], re.MULTILINE)
    return dict(rows[1:])


def of_schedule(arn: str, **target: Any) -> object:
    return translate_schedule(a_schedule(arn=arn, target=target), OPTIONS)


def of_rule(arn: str, found: Found = Found(), **target: Any) -> object:  # noqa: B008 - frozen
    [item] = translate_rule(a_rule(arn, **target), found, OPTIONS)
    return item


def moves() -> dict[str, object]:
    """What becomes of a target for each row of the table."""
    parameters = {"HttpParameters": {"PathParameterValues": ["a"]}}
    found: dict[str, object] = {
        "Lambda function": of_schedule(FUNCTION),
        "SQS queue": of_schedule(QUEUE),
        "SNS topic": of_schedule(TOPIC),
        "Step Functions state machine": of_schedule(MACHINE),
        "Event bus, of a schedule": of_schedule(BUS, **EVENT),
        "Event bus, of a rule": of_rule(BUS),
        "API destination, of a rule": of_rule(DESTINATION, an_api_destination(), **parameters),
        "any other call of `aws-sdk`": of_schedule(f"{UNIVERSAL}ecs:runTask"),
    }
    for call, given in INPUTS.items():
        found[f"`aws-sdk:{call}`"] = of_schedule(UNIVERSAL + call, Input=msgspec.json.encode(given).decode())
    return found | {what: of_rule(f"arn:aws:{service}:{PLACE}:some/thing") for service, what in REFUSED.items()}


def test_each_target_becomes_what_the_page_says() -> None:
    assert INPUTS.keys() == CALLS.keys()
    found = moves()
    assert found.keys() == table("Target by target").keys()
    for row, becomes in table("Target by target").items():
        item = found[row]
        kind = msgspec.json.decode(item.body)["action"]["type"] if isinstance(item, Request) else "stays"
        assert becomes.replace("`", "").startswith(kind), row


@pytest.mark.parametrize(
    "shape",
    [
        *(sources.Schedule, sources.Target, sources.Rule, sources.RuleTarget, sources.RetryPolicy),
        *(sources.FlexibleTimeWindow, sources.EventBridgeParameters, sources.SqsParameters, sources.HttpParameters),
        sources.InputTransformer,
    ],
    ids=lambda shape: shape.__name__,
)
def test_each_field_that_is_read_is_in_the_table(shape: type[msgspec.Struct]) -> None:
    named = {name for row in table("Field by field") for name in re.findall(r"`(\w+)`", row)}
    assert {field.encode_name for field in msgspec.structs.fields(shape)} - named == set()


def test_the_context_attributes() -> None:
    section = PAGE.split("| in an `Input` |")[1].split("\n\n")[0]
    rows = dict(re.findall(r"^\| `(<aws\.[\w.-]+>)` \| (.+) \|$", section, re.MULTILINE))
    assert rows.keys() == {SCHEDULED_TIME, SCHEDULE_ARN, *WITHOUT_COUNTERPART}
    assert PLACEHOLDER in rows[SCHEDULED_TIME]
    assert {name for name, said in rows.items() if said.startswith("none, it stays")} == WITHOUT_COUNTERPART.keys()


def test_what_is_read_from_files() -> None:
    printed = re.findall(r"`(aws [a-z -]+)`", PAGE.split("\n## What is read\n")[1].split("\n## ")[0])
    assert sorted(printed) == sorted(KNOWN.split(", "))
