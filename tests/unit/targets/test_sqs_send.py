"""The action sqs-send."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.firing.executing import Done, Refused, Result, Retry
from delayer.targets.sqs_send import SqsTarget
from tests.samples import NOW, an_executor_message, an_id


@pytest.fixture
def sqs() -> Iterator[Any]:
    with mock_aws():
        yield boto3.client("sqs", region_name="eu-west-1")


def send(client_for: Any, url: str, payload: str = '{"order": 17}', **fields: Any) -> Result:
    action = json.dumps({"type": "sqs-send", "queueUrl": url, **fields})
    target = SqsTarget(client_for=client_for, errors=AWS_ERRORS, code_of=error_code)
    return target(an_executor_message(NOW + 250, action=action, payload=payload, attempt=2))


def received(sqs: Any, url: str) -> list[dict[str, Any]]:
    answer = sqs.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"], AttributeNames=["All"]
    )
    messages: list[dict[str, Any]] = answer.get("Messages", [])
    return messages


def test_a_standard_queue(sqs: Any) -> None:
    url = sqs.create_queue(QueueName="delayer-target-orders")["QueueUrl"]
    result = send(lambda region: sqs, url, '{"order": 17.0,  "\u00e4": "\U0001f600"}')
    [message] = received(sqs, url)
    assert result == Done(f"message {message['MessageId']}")
    assert message["Body"] == '{"order": 17.0,  "\u00e4": "\U0001f600"}'
    attributes = {name: value["StringValue"] for name, value in message["MessageAttributes"].items()}
    assert attributes == {
        "Idempotency-Key": an_id(NOW + 250),
        "Delayer-Schedule-Id": an_id(NOW + 250),
        "Delayer-Point-In-Time": "2026-11-21T09:00:00.250Z",
        "Delayer-Attempt": "2",
    }


def test_no_payload_is_null(sqs: Any) -> None:
    """SQS takes no empty body; null is JSON."""
    url = sqs.create_queue(QueueName="q")["QueueUrl"]
    send(lambda region: sqs, url, "")
    assert [message["Body"] for message in received(sqs, url)] == ["null"]


def test_a_fifo_queue_sees_a_repeated_attempt_once(sqs: Any) -> None:
    url = sqs.create_queue(QueueName="q.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    for _ in range(3):
        assert isinstance(send(lambda region: sqs, url, messageGroupId="order-17"), Done)
    [message] = received(sqs, url)
    assert message["Attributes"]["MessageGroupId"] == "order-17"
    assert message["Attributes"]["MessageDeduplicationId"] == an_id(NOW + 250)


class Recorded:
    """An SQS client that only remembers, or fails."""

    def __init__(self, code: str = "") -> None:
        self.code = code
        self.sent: list[dict[str, Any]] = []

    def send_message(self, **arguments: Any) -> dict[str, str]:
        self.sent.append(arguments)
        if self.code:
            raise ClientError({"Error": {"Code": self.code, "Message": "no"}}, "SendMessage")
        return {"MessageId": "m"}


def test_a_group_on_a_standard_queue_has_no_deduplication_id() -> None:
    """A fair queue takes the one and refuses the other."""
    client = Recorded()
    send(lambda region: client, "https://sqs.eu-west-1.amazonaws.com/123456789012/q", messageGroupId="tenant")
    assert client.sent[0]["MessageGroupId"] == "tenant"
    assert "MessageDeduplicationId" not in client.sent[0]


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("https://sqs.us-east-2.amazonaws.com/123456789012/q", "us-east-2"),
        ("https://sqs.eu-west-1.amazonaws.com/123456789012/q.fifo", "eu-west-1"),
        ("http://127.0.0.1:4566/000000000000/q", None),
        ("https://vpce-1.sqs.eu-west-1.vpce.amazonaws.com/123456789012/q", None),
    ],
)
def test_the_client_is_that_of_the_queues_region(url: str, region: str | None) -> None:
    asked: list[str | None] = []

    def client_for(wanted: str | None) -> Recorded:
        asked.append(wanted)
        return Recorded()

    send(client_for, url)
    assert asked == [region]


@pytest.mark.parametrize("code", ["InvalidMessageContents", "InvalidParameterValue", "UnsupportedOperation"])
def test_what_sqs_cannot_hold_it_never_will(code: str) -> None:
    assert isinstance(send(lambda region: Recorded(code), "https://h/123456789012/q"), Refused)


@pytest.mark.parametrize("code", ["QueueDoesNotExist", "AccessDenied", "RequestThrottled", "InternalError", "Whatever"])
def test_what_may_be_mended_is_tried_again(code: str) -> None:
    result = send(lambda region: Recorded(code), "https://h/123456789012/q")
    assert isinstance(result, Retry)
    assert code in result.detail


def test_a_queue_that_is_missing_may_be_made(sqs: Any) -> None:
    url = "https://sqs.eu-west-1.amazonaws.com/123456789012/delayer-target-none"
    assert isinstance(send(partial(lambda client, region: client, sqs), url), Retry)
