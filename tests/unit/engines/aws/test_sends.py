"""SQS answers badly, or not at all: only what surely did not arrive is sent once more (ADR 0084)."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from attrs import define
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from delayer.engines.aws import clients, target_clients
from delayer.engines.aws.bounded_calls import DEADLINE
from delayer.engines.aws.clients import CONFIG, client, kept_client
from delayer.engines.aws.messaging import SqsQueue
from delayer.engines.aws.target_clients import kept_target_client, target_client
from delayer.engines.ports import Outgoing, ReceivedMessage, Unavailable
from tests.deadlines.endpoints import Port, nobody

QUICK = CONFIG.merge(Config(read_timeout=0.5))  # a busy machine may take a while to answer
SILENT = b""  # takes the request, and never answers
CLOSED = b"closed"  # takes the request, and closes the connection
CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"  # begins to answer


def answer(status: int, **content: object) -> bytes:
    """As SQS writes it."""
    body = json.dumps(content).encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def refusal(status: int, code: str) -> bytes:
    return answer(status, __type=f"com.amazonaws.sqs#{code}", message="no")


SENT = answer(200, Successful=[{"Id": "0", "MessageId": "m", "MD5OfMessageBody": "x"}])
NOT_TAKEN = answer(200, Failed=[{"Id": "0", "Code": "InternalError", "SenderFault": False}])
DEPTH = answer(200, Attributes={"ApproximateNumberOfMessages": "7"})


@define
class Scripted(Port):
    """Gives these answers, one for each request, and the last one again and again."""

    answers: list[bytes]
    requests: int = 0

    def serve(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as reading:
            while line := reading.readline():
                length = 0
                while line.strip():
                    name, _, value = line.decode().partition(":")
                    length = int(value) if name.lower() == "content-length" else length
                    line = reading.readline()
                reading.read(length)
                given = self.answers[min(self.requests, len(self.answers) - 1)]
                self.requests += 1
                if given == SILENT:
                    self.over.wait()
                if given in (SILENT, CLOSED):
                    return
                connection.sendall(given)
                if given == CUT:
                    return


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No pause between attempts; clients that are made for this test alone."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(clients, "CONFIG", QUICK)
    kept_client.cache_clear()
    yield
    kept_client.cache_clear()


@pytest.fixture
def queue_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], SqsQueue]:
    """A queue behind an address, with the client that the functions use."""

    def at(url: str) -> SqsQueue:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        return SqsQueue(sqs=client("sqs"), url=f"{url}/123456789012/q")

    return at


MESSAGE = [Outgoing(body="x")]
MAY_HAVE_ARRIVED = {
    "no answer in time": SILENT,
    "closed without an answer": CLOSED,
    "half an answer": CUT,
    "500": refusal(500, "InternalFailure"),
    "502": answer(502),
    "503": refusal(503, "ServiceUnavailable"),
    "504": answer(504),
    "no JSON": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{{{",
    "one entry failed": NOT_TAKEN,
}
SURELY_NOT_ARRIVED = {
    "throttled": refusal(400, "ThrottlingException"),
    "too many for the queue": refusal(403, "RequestThrottled"),
    "429": refusal(429, "TooManyRequestsException"),
    "throttled, said with 503": refusal(503, "Throttling"),
}


@pytest.mark.parametrize("given", MAY_HAVE_ARRIVED)
def test_what_may_have_arrived_is_sent_once_and_reported(given: str, queue_at: Callable[[str], SqsQueue]) -> None:
    """A second request would be a second message with the same fencing token."""
    with Scripted([MAY_HAVE_ARRIVED[given], SENT]) as sqs:
        assert queue_at(sqs.url).send(MESSAGE) == [0]
        assert sqs.requests == 1


@pytest.mark.parametrize("given", SURELY_NOT_ARRIVED)
def test_what_was_refused_for_now_is_sent_again(given: str, queue_at: Callable[[str], SqsQueue]) -> None:
    with Scripted([SURELY_NOT_ARRIVED[given], SENT]) as sqs:
        assert queue_at(sqs.url).send(MESSAGE) == []
        assert sqs.requests == 2


@pytest.mark.parametrize("given", SURELY_NOT_ARRIVED)
def test_not_for_ever(given: str, queue_at: Callable[[str], SqsQueue]) -> None:
    with Scripted([SURELY_NOT_ARRIVED[given]]) as sqs:
        assert queue_at(sqs.url).send(MESSAGE) == [0]
        assert sqs.requests == 3


def test_what_will_always_be_refused_is_not_sent_again(queue_at: Callable[[str], SqsQueue]) -> None:
    with Scripted([refusal(400, "QueueDoesNotExist")]) as sqs:
        assert queue_at(sqs.url).send(MESSAGE) == [0]
        assert sqs.requests == 1


def test_a_second_attempt_whose_answer_is_lost_is_the_last(queue_at: Callable[[str], SqsQueue]) -> None:
    with Scripted([SURELY_NOT_ARRIVED["throttled"], CLOSED, SENT]) as sqs:
        assert queue_at(sqs.url).send(MESSAGE) == [0]
        assert sqs.requests == 2


def test_no_connection_is_tried_again(queue_at: Callable[[str], SqsQueue], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is there at first; before the second attempt somebody is."""
    with nobody() as refused, Scripted([SENT]) as sqs:
        host, port = sqs.url.removeprefix("http://").split(":")
        queue = queue_at(sqs.url)
        addresses = iter([(host, refused), (host, int(port))])
        monkeypatch.setattr(
            socket, "getaddrinfo", lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", next(addresses))]
        )
        assert queue.send(MESSAGE) == []
        assert sqs.requests == 1


class AlmostOver:
    """Lambda's context."""

    def get_remaining_time_in_millis(self) -> int:
        return 1_000


def test_after_the_deadline_nothing_is_sent_again(queue_at: Callable[[str], SqsQueue]) -> None:
    """A pause may take a second. Where less is left, there is no other attempt."""
    with Scripted([SURELY_NOT_ARRIVED["throttled"], SENT]) as sqs:
        queue = queue_at(sqs.url)
        DEADLINE.begin(None, AlmostOver())
        try:
            assert queue.send(MESSAGE) == [0]
        finally:
            DEADLINE.begin(None, None)
        assert sqs.requests == 1


def test_the_message_of_the_action_is_sent_once(queue_at: Callable[[str], SqsQueue]) -> None:
    """`sqs-send` has attempts of its own, which are counted and logged."""
    with Scripted([CLOSED, answer(200, MessageId="m", MD5OfMessageBody="x")]) as sqs:
        with pytest.raises((BotoCoreError, ClientError)):
            queue_at(sqs.url).sqs.send_message(QueueUrl=f"{sqs.url}/123456789012/q", MessageBody="x")
        assert sqs.requests == 1


def test_a_message_is_given_back_once(queue_at: Callable[[str], SqsQueue]) -> None:
    """The second time would come late, and show it while another function has it."""
    received = ReceivedMessage(message_id="m", body="x", receipt="r")
    with Scripted([CLOSED, answer(200, Successful=[{"Id": "0"}])]) as sqs:
        queue_at(sqs.url).give_back([received])
        assert sqs.requests == 1


def test_a_question_is_asked_again(queue_at: Callable[[str], SqsQueue]) -> None:
    """It changes nothing, so it may be repeated whatever happened to the first."""
    with Scripted([CLOSED, refusal(500, "InternalFailure"), DEPTH]) as sqs:
        assert queue_at(sqs.url).visible() == 7
        assert sqs.requests == 3
    with Scripted([SILENT]) as sqs:
        kept_client.cache_clear()
        with pytest.raises(Unavailable):
            queue_at(sqs.url).visible()
        assert sqs.requests == 3


@pytest.mark.parametrize("service", ["dynamodb", "sns"])
def test_other_services_are_repeated_as_before(service: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Conditional writes and events with ids bear it."""
    with Scripted([b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"]) as aws:
        monkeypatch.setenv("AWS_ENDPOINT_URL", aws.url)
        made: Any = client(service)
        with pytest.raises(ClientError):
            made.list_tables() if service == "dynamodb" else made.list_topics()
        assert aws.requests == 3


def test_a_connection_that_was_kept_too_long_is_not_used_for_a_send(
    queue_at: Callable[[str], SqsQueue], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two invocations SQS may have closed it: a send into it would be lost, and not known to be."""
    now = time.time()
    monkeypatch.setattr(clients, "wall_clock", lambda: now)
    with Scripted([SENT]) as sqs:
        queue = queue_at(sqs.url)
        assert queue.send(MESSAGE) == []
        now += clients.IDLE
        assert queue.send(MESSAGE) == []
        assert sqs.connections == 1, "in a busy function it is kept"
        now += clients.IDLE + 0.001
        assert queue.send(MESSAGE) == []
        assert (sqs.connections, sqs.requests) == (2, 3)


def xml_refusal(status: int, code: str) -> bytes:
    """As SNS writes it."""
    body = f"<ErrorResponse><Error><Code>{code}</Code><Message>no</Message></Error></ErrorResponse>".encode()
    return f"HTTP/1.1 {status} X\r\nContent-Type: text/xml\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


SENDS_OF: dict[str, tuple[str, str, dict[str, Any], Callable[[int, str], bytes]]] = {
    "sns": ("Publish", "publish", {"TopicArn": "arn:aws:sns:eu-west-1:1:t", "Message": "x"}, xml_refusal),
    "events": ("PutEvents", "put_events", {"Entries": [{"Source": "s", "DetailType": "d", "Detail": "{}"}]}, refusal),
    "lambda": ("Invoke", "invoke", {"FunctionName": "f", "InvocationType": "Event"}, refusal),
}


@pytest.mark.parametrize("service", SENDS_OF)
@pytest.mark.parametrize(
    ("given", "requests"),
    [
        (SILENT, 1),
        (CLOSED, 1),
        ((500, "InternalFailure"), 1),
        ((503, "ServiceUnavailable"), 1),
        ((400, "ThrottlingException"), 3),
        ((503, "Throttling"), 3),
    ],
    ids=str,
)
def test_what_a_target_may_have_got_is_not_sent_again(
    service: str, given: Any, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another attempt of the schedule is: that one is counted, and says its number."""
    monkeypatch.setattr(target_clients, "CONFIG", QUICK)
    kept_target_client.cache_clear()
    operation, method, arguments, refuse = SENDS_OF[service]
    with Scripted(answers=[given if isinstance(given, bytes) else refuse(*given)]) as endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint.url)
        made = target_client(service, "eu-west-1", once=(operation,))
        with pytest.raises((BotoCoreError, ClientError)):
            getattr(made, method)(**arguments)
    kept_target_client.cache_clear()
    assert endpoint.requests == requests
