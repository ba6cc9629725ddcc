"""The function that handles the stream, asked once more."""

import io
import json
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from delayer.aws.messaging.stream_consumer import LambdaStreamConsumer
from delayer.ports.stream_consumer import Died
from delayer.ports.unavailable import Unavailable
from tests.clients import ERRORS, AnyClient, Failing

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
    consumer = LambdaStreamConsumer(lambda_=client, function="delayer-stream-enqueuer")
    records = [{"eventName": "REMOVE", "dynamodb": {"SequenceNumber": number}} for number in ("1", "2")]
    assert consumer.handle(records) == [1]
    [asked] = client.asked
    assert asked["FunctionName"] == "delayer-stream-enqueuer"
    assert json.loads(asked["Payload"]) == {"Records": records, "broughtBack": True}


def test_a_function_that_dies_is_another_thing_than_one_that_cannot_be_asked() -> None:
    """Its records are then handled one by one."""
    client = Answering({"errorType": "Sandbox.Timedout"}, FunctionError="Unhandled")
    with pytest.raises(Died, match="Timedout"):
        LambdaStreamConsumer(lambda_=client, function="f").handle([{}])


def test_one_that_gives_no_answer_in_time_has_died_for_its_caller() -> None:
    """Not "cannot be asked": of several records, the one that hangs is to be found."""
    with pytest.raises(Died, match="no answer in time"):
        LambdaStreamConsumer(lambda_=Failing(HUNG), function="f").handle([{}])


@pytest.mark.parametrize("error", [one for one in ERRORS.values() if not isinstance(one, ReadTimeoutError)], ids=str)
def test_an_error_of_aws_is_unavailable(error: Exception) -> None:
    with pytest.raises(Unavailable):
        LambdaStreamConsumer(lambda_=Failing(error), function="f").handle([{}])
