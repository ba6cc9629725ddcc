"""The function that handles the stream, asked once more."""

import io
import json
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from delayer.engines.ports import Unavailable
from delayer.lambdas.consumers import LambdaStreamConsumer
from delayer.recovery.ports import Died
from tests.clients import ERRORS, AnyClient, Failing
from tests.samples import a_relaxed_schedule, a_schedule

ADAPTER = LambdaStreamConsumer
HUNG = ReadTimeoutError(endpoint_url="https://lambda")


class Answering(AnyClient):
    """The client of Lambda, whose function answers this."""

    def __init__(self, answer: object, **more: str) -> None:
        self.answer, self.more = answer, more
        self.asked: list[Any] = []

    def invoke(self, **arguments: Any) -> Any:
        self.asked.append(arguments)
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(self.answer).encode()), **self.more}


def test_it_gets_the_records_as_the_stream_gives_them_and_says_what_is_left() -> None:
    client = Answering({"batchItemFailures": [{"itemIdentifier": "2"}]})
    consumer = LambdaStreamConsumer(
        lambda_=client, function="delayer-stream-enqueuer", relaxed="delayer-relaxed-claimer"
    )
    records = [{"eventName": "REMOVE", "dynamodb": {"SequenceNumber": number}} for number in ("1", "2")]
    assert consumer.handle(records) == [1]
    [asked] = client.asked
    assert asked["FunctionName"] == "delayer-stream-enqueuer"
    assert json.loads(asked["Payload"]) == {"Records": records, "broughtBack": True}


class ByFunction:
    """The client of Lambda, in which each function leaves what it is told to."""

    def __init__(self, **left: str) -> None:
        self.left = left
        self.asked: dict[str, list[str]] = {}

    def invoke(self, FunctionName: str, Payload: bytes) -> Any:  # noqa: N803 - as boto3 has it
        records = json.loads(Payload)["Records"]
        self.asked[FunctionName] = [record["dynamodb"]["SequenceNumber"] for record in records]
        answer = {"batchItemFailures": [{"itemIdentifier": self.left[FunctionName]}]}
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}


def test_each_lane_gets_its_own_records_and_the_answers_are_put_together() -> None:
    client: Any = ByFunction(precise="3", relaxed="2")
    records = [
        {"dynamodb": {"SequenceNumber": "1", "Keys": {"due": {"S": f"0#{a_schedule().id}"}}}},
        {"dynamodb": {"SequenceNumber": "2", "Keys": {"due": {"S": f"0#{a_relaxed_schedule().id}"}}}},
        {"dynamodb": {"SequenceNumber": "3", "Keys": {"due": {"S": "heartbeat"}}}},
    ]
    left = LambdaStreamConsumer(lambda_=client, function="precise", relaxed="relaxed").handle(records)
    assert left == [1, 2]
    assert client.asked == {"precise": ["1", "3"], "relaxed": ["2"]}


def test_a_function_that_dies_is_another_thing_than_one_that_cannot_be_asked() -> None:
    """Its records are then handled one by one."""
    client = Answering({"errorType": "Sandbox.Timedout"}, FunctionError="Unhandled")
    with pytest.raises(Died, match="Timedout"):
        LambdaStreamConsumer(lambda_=client, function="f", relaxed="r").handle([{}])


def test_one_that_gives_no_answer_in_time_has_died_for_its_caller() -> None:
    """Not "cannot be asked": of several records, the one that hangs is to be found."""
    with pytest.raises(Died, match="no answer in time"):
        LambdaStreamConsumer(lambda_=Failing(HUNG), function="f", relaxed="r").handle([{}])


@pytest.mark.parametrize("error", [one for one in ERRORS.values() if not isinstance(one, ReadTimeoutError)], ids=str)
def test_an_error_of_aws_is_unavailable(error: Exception) -> None:
    with pytest.raises(Unavailable):
        LambdaStreamConsumer(lambda_=Failing(error), function="f", relaxed="r").handle([{}])
