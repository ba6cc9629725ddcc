"""Each target becomes its action, or is refused with the reason."""

import json
import re
from typing import Any

import pytest

from delayer.accept.rules.admission import MAX_BODY_BYTES
from delayer.actions.rules.foreign import built_in
from delayer.http.json_body import MAX_DEPTH
from delayer_client.eventbridge.mapping import api_destinations, payloads
from delayer_client.eventbridge.mapping.arns import PATTERNS
from delayer_client.eventbridge.mapping.outcome import Options
from delayer_client.eventbridge.mapping.targets import ADDRESS, REFUSED
from delayer_client.eventbridge.translating import translate_schedule
from tests.client.eventbridge.samples import (
    BUS,
    FUNCTION,
    MACHINE,
    NOW,
    PLACE,
    QUEUE,
    QUEUE_URL,
    TOPIC,
    UNIVERSAL,
    a_schedule,
    moved,
    notes_of,
    why_not,
)
from tests.openapi import openapi

EVENT = {"EventBridgeParameters": {"Source": "orders", "DetailType": "Due"}}


@pytest.mark.parametrize(
    ("arn", "more", "action"),
    [
        (FUNCTION, {}, {"type": "lambda-invoke", "functionArn": FUNCTION}),
        (f"{FUNCTION}:live", {}, {"type": "lambda-invoke", "functionArn": f"{FUNCTION}:live"}),
        (QUEUE, {}, {"type": "sqs-send", "queueUrl": QUEUE_URL}),
        (
            f"{QUEUE}.fifo",
            {"SqsParameters": {"MessageGroupId": "g"}},
            {"type": "sqs-send", "queueUrl": f"{QUEUE_URL}.fifo", "messageGroupId": "g"},
        ),
        (
            QUEUE.replace("arn:aws", "arn:aws-cn").replace("eu-west-1", "cn-north-1"),
            {},
            {
                "type": "sqs-send",
                "queueUrl": "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/delayer-target-orders",
            },
        ),
        (TOPIC, {}, {"type": "sns-publish", "topicArn": TOPIC}),
        (f"{TOPIC}.fifo", {}, {"type": "sns-publish", "topicArn": f"{TOPIC}.fifo"}),
        (MACHINE, {}, {"type": "step-start", "stateMachineArn": MACHINE}),
        (BUS, EVENT, {"type": "event-put", "eventBusArn": BUS, "source": "orders", "detailType": "Due"}),
    ],
)
def test_templated(arn: str, more: dict[str, Any], action: dict[str, str]) -> None:
    body = moved(a_schedule(arn=arn, target=more))
    assert body["action"] == action
    assert body["payload"] == {"order": 17}


@pytest.mark.parametrize("service", REFUSED)
def test_a_service_without_an_action(service: str) -> None:
    assert REFUSED[service] in why_not(a_schedule(arn=f"arn:aws:{service}:{PLACE}:some/thing"))


@pytest.mark.parametrize(
    ("arn", "more", "said"),
    [
        ("arn:aws:unheard:::of", {}, "of unheard"),
        ("nothing", {}, "what is no ARN"),
        (f"{QUEUE}.fifo", {}, "a FIFO queue needs one"),
        (f"{QUEUE}.fifo", {"SqsParameters": {"MessageGroupId": "two words"}}, "no such messageGroupId"),
        (f"arn:aws-iso:sqs:{PLACE}:orders", {}, "no such queueUrl"),
        (BUS, {}, "they are missing"),
        (BUS, {"EventBridgeParameters": {"Source": "aws.orders", "DetailType": "Due"}}, "no such source"),
        (BUS, {**EVENT, "Input": "[17]"}, "has to be a JSON object"),
        (QUEUE, {"Input": "Good morning"}, "it is not JSON"),
        (QUEUE, {"Input": '{"time": <aws.scheduler.scheduled-time>}'}, "it is not JSON"),
        (QUEUE, {"Input": "NaN"}, "it is not JSON"),
        (QUEUE, {"Input": "[1e400]"}, "Number out of range"),
        (QUEUE, {"Input": '"<aws.scheduler.execution-id>"'}, "<aws.scheduler.execution-id>"),
        (QUEUE, {"Input": '"<aws.scheduler.attempt-number>"'}, "<aws.scheduler.attempt-number>"),
        (QUEUE, {"Input": '"<delayer.occurrence.number>"'}, "which Delayer would replace"),
        (QUEUE, {"Input": '"<delayer.occurrence.time>"'}, "which Delayer would replace"),
        (QUEUE, {"Input": "[" * 491 + "]" * 491}, "more than 490 levels"),
        (TOPIC, {"Input": json.dumps("x" * 253_951)}, "sns-publish takes 253,952"),
        (QUEUE, {"Input": json.dumps("x" * 262_000)}, "the request would have"),
    ],
)
def test_what_an_action_does_not_take(arn: str, more: dict[str, Any], said: str) -> None:
    assert said in why_not(a_schedule(arn=arn, target=more))


def test_the_payload_is_the_input_byte_for_byte() -> None:
    text = '{"a":1.50,  "b":12345678901234567890123, "c":"\\u00e9"}'
    item = translate_schedule(a_schedule(target={"Input": text}), Options(now=NOW))
    assert text.encode() in getattr(item, "body")  # noqa: B009 - a Request, as the next line says
    assert moved(a_schedule(target={"Input": text}))["payload"]["b"] == 12345678901234567890123


def test_context_attributes() -> None:
    text = '{"at": "<aws.scheduler.scheduled-time>", "of": "<aws.scheduler.schedule-arn>"}'
    series, once = a_schedule(target={"Input": text}), a_schedule("at(2027-01-01T09:00:00)", target={"Input": text})
    assert moved(series)["payload"] == {"at": "<delayer.occurrence.time>", "of": series.arn}
    assert moved(once)["payload"] == {"at": "2027-01-01T09:00:00Z", "of": once.arn}


def test_without_an_input_it_is_the_event_of_the_scheduler() -> None:
    schedule = a_schedule("at(2027-01-01T09:00:00)", target={"Input": None})
    assert moved(schedule)["payload"] == {
        "version": "0",
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": "123456789012",
        "time": "2027-01-01T09:00:00Z",
        "region": "eu-west-1",
        "resources": [schedule.arn],
        "detail": "{}",
    }


def test_what_gets_an_envelope_is_noted() -> None:
    for arn in (FUNCTION, MACHINE):
        assert "`payload`" in notes_of(translate_schedule(a_schedule(arn=arn), Options(now=NOW)))["Target.Input"]


def test_another_account_needs_a_role() -> None:
    arn = QUEUE.replace("123456789012", "210987654321")
    role = "arn:aws:iam::210987654321:role/delayer"
    assert "in the account 210987654321" in why_not(a_schedule(arn=arn))
    assert moved(a_schedule(arn=arn), roles={"210987654321": role})["action"]["roleArn"] == role
    assert "no such roleArn" in why_not(a_schedule(arn=arn), roles={"210987654321": "delayer"})


def test_what_the_stack_has_to_allow_is_noted() -> None:
    for arn, more in ((FUNCTION, {}), (QUEUE, {}), (TOPIC, {}), (MACHINE, {}), (BUS, EVENT)):
        schedule = a_schedule(arn=arn.replace("eu-west-1", "us-east-1"), target=more)
        notes = notes_of(translate_schedule(schedule, Options(now=NOW)))
        assert re.search(
            r"\w+TargetNamePattern of the stack must match delayer-target-orders$", notes["Target.RoleArn"]
        )
        assert "TargetRegions" in notes["Target.Arn"]


@pytest.mark.parametrize(
    ("call", "given", "action", "payload"),
    [
        (
            "sqs:sendMessage",
            {"QueueUrl": QUEUE_URL, "MessageBody": "17"},
            {"type": "sqs-send", "queueUrl": QUEUE_URL},
            17,
        ),
        (
            "sqs:sendMessage",
            {"queueUrl": QUEUE_URL, "messageBody": "17", "DelaySeconds": 0},
            {"queueUrl": QUEUE_URL},
            17,
        ),
        (
            "sns:publish",
            {"TopicArn": TOPIC, "Message": "{}", "Subject": "Due", "MessageDeduplicationId": "1"},
            {"type": "sns-publish", "topicArn": TOPIC, "subject": "Due"},
            {},
        ),
        (
            "lambda:invoke",
            {"FunctionName": "delayer-target-orders", "Qualifier": "live"},
            {"functionArn": f"{FUNCTION}:live", "invocationType": "RequestResponse"},
            None,
        ),
        (
            "lambda:invoke",
            {"FunctionName": FUNCTION, "InvocationType": "Event", "Payload": "[1]"},
            {"type": "lambda-invoke", "functionArn": FUNCTION, "invocationType": "Event"},
            [1],
        ),
        ("sfn:startExecution", {"StateMachineArn": MACHINE, "Name": "n"}, {"type": "step-start"}, {}),
        (
            "eventbridge:putEvents",
            {"Entries": [{"EventBusName": "orders", "Source": "s", "DetailType": "d", "Detail": '{"a": 1}'}]},
            {"type": "event-put", "eventBusArn": f"arn:aws:events:{PLACE}:event-bus/orders", "source": "s"},
            {"a": 1},
        ),
    ],
)
def test_universal(call: str, given: dict[str, Any], action: dict[str, str], payload: Any) -> None:
    body = moved(a_schedule(arn=UNIVERSAL + call, target={"Input": json.dumps(given)}))
    assert body["action"].items() >= action.items()
    assert body["payload"] == payload


@pytest.mark.parametrize(
    ("call", "given", "said"),
    [
        ("ecs:runTask", {}, "the call ecs:runTask"),
        ("sqs:sendMessage", [], "has to be an object"),
        ("sqs:sendMessage", {"QueueUrl": QUEUE_URL}, "MessageBody is missing"),
        ("sqs:sendMessage", {"QueueUrl": QUEUE_URL, "MessageBody": "text"}, "it is not JSON"),
        (
            "sqs:sendMessage",
            {"QueueUrl": QUEUE_URL, "MessageBody": "1", "DelaySeconds": 5},
            "no counterpart of DelaySeconds",
        ),
        ("sqs:sendMessage", {"QueueUrl": QUEUE_URL + ".fifo", "MessageBody": "1"}, "a FIFO queue needs one"),
        ("sns:publish", {"PhoneNumber": "+1", "Message": "1"}, "TopicArn is missing"),
        (
            "sns:publish",
            {"TopicArn": TOPIC, "Message": "1", "MessageAttributes": {}},
            "no counterpart of MessageAttributes",
        ),
        ("lambda:invoke", {"FunctionName": FUNCTION, "InvocationType": "DryRun"}, "no InvocationType DryRun"),
        ("lambda:invoke", {"FunctionName": "123456789012:function:f"}, "no such functionArn"),
        ("eventbridge:putEvents", {"Entries": []}, "exactly one"),
        ("eventbridge:putEvents", {"Entries": [{"Source": "s", "DetailType": "d", "Resources": ["r"]}]}, "`Resources`"),
        (
            "eventbridge:putEvents",
            {"Entries": [{"Source": "s", "DetailType": "d", "Time": 1}]},
            "no counterpart of Time",
        ),
    ],
)
def test_a_call_that_no_action_makes(call: str, given: Any, said: str) -> None:
    assert said in why_not(a_schedule(arn=UNIVERSAL + call, target={"Input": json.dumps(given)}))


def test_the_bounds_are_those_of_the_contract() -> None:
    schemas = openapi()["components"]["schemas"]
    actions = [
        schema["properties"] for name, schema in schemas.items() if name.endswith("Action") and "properties" in schema
    ]
    for name, pattern in PATTERNS.items():
        assert {one[name]["pattern"] for one in actions if name in one} == {pattern}
    headers = schemas["HttpRequestAction"]["properties"]["headers"]
    assert headers["propertyNames"]["pattern"] == api_destinations.HEADER
    assert headers["additionalProperties"]["pattern"] == api_destinations.VALUE
    assert headers["maxProperties"] == api_destinations.MOST_HEADERS
    assert tuple(schemas["HttpRequestAction"]["properties"]["method"]["enum"]) == api_destinations.METHODS
    assert payloads.LARGEST == MAX_BODY_BYTES
    assert payloads.DEEPEST < MAX_DEPTH
    for kind, known in built_in().items():
        assert payloads.LARGEST_OF.get(kind, payloads.LARGEST) == known.largest_payload
        assert (kind in ADDRESS) == (not known.internal and kind != "http-request")
