"""What comes out of the classes of the built-in actions: bounds that hold, and texts that people can read."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from delayer.actions.rules.model import Message
from delayer.schedule.instants import Malformed
from delayer.targets.aws_call import TAKEN_ALONG, attributes_of, enveloped
from tests.samples import an_executor_message, an_id
from tests.unit.targets.apps import KINDS, target_of

# As the contract had them before they came from the classes; without `maxAttempts`, which is not the action's any more.
FIRST = json.loads(Path(__file__).with_name("first_contract.json").read_text())
TYPES = {kind: target_of(kind).action_type for kind in KINDS}
SCHEMAS: dict[str, dict[str, Any]] = {kind: json.loads(one.schema) for kind, one in TYPES.items()}
TEXTS = {"description", "x-allowed", "default", "examples"}

ROLE = "arn:aws:iam::210987654321:role/delayer/reports"
QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/delayer-target-orders"
TOPIC = "arn:aws:sns:eu-west-1:123456789012:delayer-target-orders"
BUS = "arn:aws:events:eu-west-1:123456789012:event-bus/delayer-target-orders"
FUNCTION = "arn:aws:lambda:eu-west-1:123456789012:function:delayer-target-orders"
MACHINE = "arn:aws:states:eu-west-1:123456789012:stateMachine:delayer-target-orders"
EVENT = {"eventBusArn": BUS, "source": "orders", "detailType": "Order due"}

VALID: dict[str, list[dict[str, Any]]] = {
    "canary": [{"path": "near"}, {"path": "far"}],
    "http-request": [
        {"url": "http://target/"},
        {"url": "http://target/", "connection": "crm"},
        {"url": "HTTPS://EXAMPLE.COM/"},
        {"url": "Http://Example.com:8080/A?B=c"},
        {"url": "http://target/a/../b?sig=%2f&x[]=1"},
        {"url": "https://a.example-1_x:65535/a/b;c?d=e&f=%20#g", "method": "PUT", "timeoutSeconds": 30},
        {"url": "http://target/", "keepAnswer": True, "keepHeaders": ["X-Trace", "etag"]},
        {"url": "http://[::1]:8080?x", "headers": {"X-One": "1\t2 ~", "accept": ""}},
    ],
    "sqs-send": [
        {"queueUrl": QUEUE},
        {"queueUrl": QUEUE, "messageGroupId": "tenant", "roleArn": ROLE},
        {"queueUrl": f"{QUEUE}.fifo", "messageGroupId": "order-17"},
        {"queueUrl": "http://127.0.0.1:4566/000000000000/q"},
    ],
    "sns-publish": [
        {"topicArn": TOPIC},
        {"topicArn": f"{TOPIC}.fifo", "messageGroupId": "order-17", "roleArn": ROLE},
        {"topicArn": TOPIC, "subject": "Your order", "attributes": {"kind": "order", "a.b-c_d": "é".encode().hex()}},
        {"topicArn": TOPIC, "attributes": {f"a{at}": "x" * 256 for at in range(5)}},
    ],
    "event-put": [EVENT, {**EVENT, "source": "com.example/orders", "roleArn": ROLE}],
    "lambda-invoke": [
        {"functionArn": FUNCTION},
        {"functionArn": f"{FUNCTION}:live", "invocationType": "RequestResponse", "roleArn": ROLE},
        {"functionArn": FUNCTION, "invocationType": "Event"},
    ],
    "step-start": [{"stateMachineArn": MACHINE}, {"stateMachineArn": f"{MACHINE}:live", "roleArn": ROLE}],
}
INVALID: dict[str, list[dict[str, Any]]] = {
    "canary": [{}, {"path": "round"}, {"path": "near", "colour": 1}],
    "http-request": [
        {},
        {"url": "ftp://target/"},
        {"url": "http://target/", "keepAnswer": 1},
        {"url": "http://target/", "keepAnswer": True, "keepHeaders": ["a b"]},
        {"url": "http://target/", "keepAnswer": True, "keepHeaders": [f"x-{at}" for at in range(11)]},
        {"url": "http://user:password@target/"},
        {"url": "http://target:65536/"},
        {"url": "http://target/" + "x" * 2048},
        {"url": "http://target/?discount=100%&name=J%C3%BCrgen"},
        {"url": "http://target/", "method": "TRACE"},
        {"url": "http://target/", "headers": {"Delayer-Attempt": "1"}},
        {"url": "http://target/", "headers": {"webhook-signature": "v1,forged"}},
        {"url": "http://target/", "headers": {"Webhook-Anything": ""}},
        {"url": "http://target/", "headers": {"X": "é"}},
        {"url": "http://target/", "headers": {"X": "a" * 4097}},
        {"url": "http://target/", "headers": {f"X-{at}": "a" for at in range(51)}},
        {"url": "http://target/", "timeoutSeconds": 0},
        {"url": "http://target/", "timeoutSeconds": 31},
        {"url": "http://target/", "timeoutSeconds": 1.5},
        {"url": "http://target/", "timeout_seconds": 10},
        {"url": "http://target/", "queueUrl": QUEUE},
    ],
    "sqs-send": [
        {},
        {"queueUrl": "orders"},
        {"queueUrl": f"{QUEUE}.fifo"},
        {"queueUrl": QUEUE, "messageGroupId": ""},
        {"queueUrl": QUEUE, "roleArn": ""},
        {"queueUrl": QUEUE, "roleArn": "reports"},
    ],
    "sns-publish": [
        {},
        {"topicArn": "orders"},
        {"topicArn": f"{TOPIC}.other"},
        {"topicArn": TOPIC, "subject": "two\nlines"},
        {"topicArn": TOPIC, "subject": "x" * 100},
        {"topicArn": TOPIC, "attributes": {"Delayer-Owner": "somebody else"}},
        {"topicArn": TOPIC, "attributes": {"delayer-owner": "somebody else"}},
        {"topicArn": TOPIC, "attributes": {"Idempotency-Key": "another"}},
        {"topicArn": TOPIC, "attributes": {"AWS.x": "1"}},
        {"topicArn": TOPIC, "attributes": {"x.": "1"}},
        {"topicArn": TOPIC, "attributes": {"x": ""}},
        {"topicArn": TOPIC, "attributes": {f"a{at}": "x" for at in range(6)}},
    ],
    "event-put": [
        {},
        {**EVENT, "eventBusArn": "default"},
        {**EVENT, "source": "aws.ec2"},
        {**EVENT, "source": ""},
        {**EVENT, "detailType": "x" * 129},
        {"eventBusArn": BUS, "source": "orders"},
    ],
    "lambda-invoke": [
        {},
        {"functionArn": "orders"},
        {"functionArn": f"{FUNCTION}:$LATEST"},
        {"functionArn": FUNCTION, "invocationType": "DryRun"},
    ],
    "step-start": [
        {},
        {"stateMachineArn": "orders"},
        {"stateMachineArn": f"{MACHINE}/map"},
        {"stateMachineArn": "arn:aws:states:eu-west-1:123456789012:express:orders:x:y"},
    ],
}


def meaning(schema: Any) -> Any:
    """Without order and what is said to people, and without the type of what is a text anyhow."""
    if isinstance(schema, list):
        return sorted(meaning(one) for one in schema)
    if not isinstance(schema, dict):
        return schema
    said = {key: meaning(value) for key, value in schema.items() if key not in TEXTS}
    return {key: value for key, value in said.items() if not (value == "string" and {"enum", "pattern"} & set(said))}


@pytest.mark.parametrize("kind", FIRST)
def test_what_was_accepted_still_is_and_what_was_refused_too(kind: str) -> None:
    """New are the role, the connection, what is kept of an answer, and HTTPS:// in any letters.

    Headers named Webhook-… are Delayer's own, and a stray % in a URL is refused.
    """
    now = meaning(SCHEMAS[kind])
    for name in ("roleArn", "connection", "keepAnswer", "keepHeaders"):
        now["properties"].pop(name, None)
    text = json.dumps(meaning(FIRST[kind]))
    text = text.replace("^https?://", "^[Hh][Tt][Tt][Pp][Ss]?://")
    text = text.replace("[!-~]*", "([!-$&-~]|%[0-9A-Fa-f]{2})*")
    assert now == json.loads(text.replace("|delayer-.*)", "|delayer-.*|webhook-.*)"))


@pytest.mark.parametrize("kind", ["http-request", "sqs-send"])
def test_a_text_has_to_be_one(kind: str) -> None:
    """Since the comparison above does not look at it."""
    validator = jsonschema.Draft202012Validator(SCHEMAS[kind])
    [*names] = [name for name, field in SCHEMAS[kind]["properties"].items() if {"pattern", "enum"} & set(field)]
    assert names
    for name in names:
        assert not validator.is_valid({"type": kind, **VALID[kind][0], name: 1}), name


@pytest.mark.parametrize("kind", FIRST)
def test_each_text_is_still_there(kind: str) -> None:
    for name, field in FIRST[kind]["properties"].items():
        for text in TEXTS & set(field):
            assert SCHEMAS[kind]["properties"][name].get(text), f"{name}: {text}"


def test_every_action_has_examples() -> None:
    assert sorted(VALID) == sorted(INVALID) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_right_is_accepted_by_the_schema_and_by_the_function(kind: str) -> None:
    target = target_of(kind)
    for fields in VALID[kind]:
        action = {"type": kind, **fields}
        jsonschema.Draft202012Validator(SCHEMAS[kind]).validate(action)
        target.check(an_executor_message(action=json.dumps(action)))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_is_refused(kind: str) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMAS[kind])
    assert [fields for fields in INVALID[kind] if validator.is_valid({"type": kind, **fields})] == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_older_class_stored_is_read_or_is_malformed(kind: str) -> None:
    """A field that is not known any more is passed over."""
    target = target_of(kind)
    old = {"type": kind, **VALID[kind][0], "maxAttempts": 3}
    target.check(an_executor_message(action=json.dumps(old)))
    with pytest.raises(Malformed, match=f"not an action {kind} as this version knows it"):
        target.check(an_executor_message(action=json.dumps({"type": kind})))


@pytest.mark.parametrize("kind", KINDS)
def test_each_action_says_what_its_queue_is_fair_by(kind: str) -> None:
    field = TYPES[kind].fair_by.rpartition(":")[2]
    assert field in SCHEMAS[kind]["required"] if field else kind == "canary"
    assert TYPES[kind].internal == (kind == "canary")


@pytest.mark.parametrize("kind", KINDS)
def test_each_pattern_is_said_in_words(kind: str) -> None:
    for name, field in SCHEMAS[kind]["properties"].items():
        if "pattern" in field:
            assert field.get("x-allowed"), name


def test_what_is_taken_along_fits_beside_the_largest_payload() -> None:
    """SNS counts the attributes, and Step Functions the whole input."""
    owner = "\U0001f600" * 1024  # the longest that a schedule can have
    message: Message[None] = Message(
        action=None, payload="1", schedule_id=an_id(), owner=owner, point_in_time=0, attempt=20
    )
    attributes = attributes_of(message, {f"{at}" * 64: "x" * 256 for at in range(5)})
    counted = sum(len(name) + 6 + len(one["StringValue"].encode()) for name, one in attributes.items())
    subject, group = 99, 128
    assert counted + subject + group <= TAKEN_ALONG
    assert len(enveloped(message).encode()) - 1 <= TAKEN_ALONG
