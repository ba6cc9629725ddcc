"""The action sqs-send."""

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.schedule.instants import Malformed
from tests.cfn import resources
from tests.samples import NOW, OWNER, an_executor_message, an_id
from tests.unit.empty_account import empty_account
from tests.unit.targets.apps import reach


@pytest.fixture
def sqs() -> Iterator[Any]:
    with empty_account():
        yield boto3.client("sqs", region_name="eu-west-1")


HOST = "https://sqs.eu-west-1.amazonaws.com"


def send(client_for: Any, url: str, payload: str = '{"order": 17}', **fields: Any) -> Result:
    action = json.dumps({"type": "sqs-send", "queueUrl": url, **fields})
    message = an_executor_message(NOW + 250, action=action, payload=payload, attempt=2)
    return reach("sqs-send", message, lambda service, region, **_: client_for(region))


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
        "Delayer-Owner": OWNER,
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

    def __init__(self, code: str = "", text: str = "no") -> None:
        self.code, self.text = code, text
        self.sent: list[dict[str, Any]] = []

    def send_message(self, **arguments: Any) -> dict[str, str]:
        self.sent.append(arguments)
        if self.code:
            raise ClientError({"Error": {"Code": self.code, "Message": self.text}}, "SendMessage")
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
        ("https://sqs-fips.us-east-2.amazonaws.com/123456789012/q", "us-east-2"),
        ("https://sqs.us-east-2.api.aws/123456789012/q", "us-east-2"),
        ("http://127.0.0.1:4566/123456789012/q", "eu-west-1"),
        ("http://localhost/123456789012/q", "eu-west-1"),
    ],
)
def test_the_client_is_that_of_the_queues_region(url: str, region: str) -> None:
    asked: list[str] = []

    def client_for(wanted: str) -> Recorded:
        asked.append(wanted)
        return Recorded()

    send(client_for, url)
    assert asked == [region]


@pytest.mark.parametrize("code", ["InvalidMessageContents", "InvalidParameterValue", "UnsupportedOperation"])
def test_what_sqs_cannot_hold_it_never_will(code: str) -> None:
    assert isinstance(send(lambda region: Recorded(code), f"{HOST}/123456789012/q"), Refused)


@pytest.mark.parametrize("code", ["QueueDoesNotExist", "AccessDenied", "RequestThrottled", "InternalError", "Whatever"])
def test_what_may_be_mended_is_tried_again(code: str) -> None:
    result = send(lambda region: Recorded(code), f"{HOST}/123456789012/q")
    assert result == Retry(detail=f"SQS: {code}")


def test_a_queue_that_is_missing_may_be_made(sqs: Any) -> None:
    url = "https://sqs.eu-west-1.amazonaws.com/123456789012/delayer-target-none"
    assert isinstance(send(partial(lambda client, region: client, sqs), url), Retry)


OWN = [f"delayer-{queue}-Ab12Cd34Ef56" for queue in resources("AWS::SQS::Queue")]
OWN.append("cut-SqsSendQue-Gh12Ij34Kl56")  # of a stack with a long name, which CloudFormation has shortened
FORBIDDEN = {
    "a queue of Delayer itself": [
        *(f"{HOST}/123456789012/{name}" for name in OWN),
        *(f"https://sqs-fips.eu-west-1.amazonaws.com/123456789012/{name}" for name in OWN),
        *(f"https://sqs.us-east-2.api.aws/123456789012/{name}" for name in OWN),
        *(f"http://localhost:4566/123456789012/{name}" for name in OWN),
    ],
    "a queue of another account": [
        f"{HOST}/123456789013/delayer-target-orders",
        "http://127.0.0.1:4566/000000000000/delayer-target-orders",
    ],
    "a queue of a region that the stack does not allow": [
        "https://sqs.us-east-1.amazonaws.com/123456789012/delayer-target-orders",
        "https://sqs.eu-west-2.amazonaws.com/123456789012/delayer-target-orders",
        "https://sqs.us-gov-west-1.amazonaws.com/123456789012/delayer-target-orders",
        "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/delayer-target-orders",
    ],
}
NO_QUEUES = [
    "",
    "delayer-target-orders",
    "https://h/123456789012/q",
    "https://vpce-1.sqs.eu-west-1.vpce.amazonaws.com/123456789012/q",
    "https://sqs.eu-west-1.amazonaws.com.evil.example/123456789012/q",
    "https://sqs.eu-west-1.amazonaws.com@evil.example/123456789012/q",
    "https://sqs.eu-west-1.amazonaws.com:8443/123456789012/q",
    f"{HOST}/123456789012/q/",
    f"{HOST}/123456789012/q\n",
    f"{HOST}/123456789012/q?x",
    f"{HOST}/123456789012/../123456789012/q",
    f"{HOST}/123456789012/delayer-DelayerQueue-Ab12Cd34Ef56%20",
    f"{HOST}//123456789012/q",
    "http://10.0.0.1:4566/123456789012/q",
]


@pytest.mark.parametrize("reason", FORBIDDEN)
def test_what_no_owner_may_reach_is_refused(reason: str) -> None:
    """Before anything is sent, however the URL is written."""
    sent = Recorded()
    results = {url: send(lambda region: sent, url) for url in FORBIDDEN[reason]}
    assert sent.sent == []
    assert {url: result for url, result in results.items() if not isinstance(result, Refused)} == {}
    assert all(result.detail.startswith(reason) for result in results.values())


@pytest.mark.parametrize("url", NO_QUEUES)
def test_what_is_no_queue_is_never_sent_to(url: str) -> None:
    """The API refuses it. If it was stored all the same, it is a dead letter, or it fails: a class lets some pass."""
    sent = Recorded()
    with suppress(Malformed):
        assert send(lambda region: sent, url) == Refused("not the URL of a queue")
    assert sent.sent == []


@pytest.mark.parametrize(
    "name",
    ["delayer-target-orders", "OrdersQueue-Ab12", "delayer-target-OrdersQueue-Ab12Cd34Ef56", "delayerQueue", "q"],
)
def test_a_queue_of_somebody_else_is_not_mistaken_for_one_of_the_stack(name: str) -> None:
    assert isinstance(send(lambda region: Recorded(), f"{HOST}/123456789012/{name}"), Done)


@pytest.mark.parametrize("code", ["KmsAccessDenied", "KMS.AccessDeniedException", "KmsNotFound", "KmsDisabled"])
def test_a_key_that_may_not_be_used_is_named_as_the_reason(code: str) -> None:
    """The key's policy, or the parameter, may be corrected while the retries last."""
    result = send(lambda region: Recorded(code), f"{HOST}/123456789012/q")
    assert isinstance(result, Retry)
    assert code in result.detail
    assert "SqsTargetKeyArns" in result.detail


@pytest.mark.parametrize("code", ["AccessDenied", "InvalidParameterValue", "KmsAccessDenied", "", "secret " * 10_000])
def test_no_text_of_aws_is_shown(code: str) -> None:
    """It names roles, keys and accounts."""
    text = "User: arn:aws:sts::123456789012:assumed-role/secret is not authorized " * 1_000
    result = send(lambda region: Recorded(code, text), f"{HOST}/123456789012/q")
    assert "secret" not in result.detail
    assert "arn:" not in result.detail
    assert result.detail


def test_an_answer_that_is_no_message_id_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recorded, "send_message", lambda self, **_: {"MessageId": "secret " * 10_000})
    assert send(lambda region: Recorded(), f"{HOST}/123456789012/q") == Done("message")
