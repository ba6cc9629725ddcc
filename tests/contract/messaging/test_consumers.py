"""The functions that handle suspects, asked one message at a time."""

import json
from typing import Any

import pytest
from aws_lambda_powertools.utilities.data_classes import SQSEvent
from botocore.exceptions import ClientError, ReadTimeoutError

from delayer.engines.ports import ReceivedMessage, Unavailable
from delayer.lambdas.consumers import LambdaConsumers
from delayer.lambdas.events import received_messages_of
from delayer.recovery.ports import Absent, Died
from tests.clients import ERRORS, Failing
from tests.contract.messaging.test_stream_consumer import HUNG, Answering

ADAPTER = LambdaConsumers
MESSAGE = ReceivedMessage(message_id="m", body='{"é": "\udc00"}', source="delayer-SuspectsQueue-1", sent_at=17)
ABSENT = ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": "no such function"}}, "Invoke")
OTHERS = [
    one for one in ERRORS.values() if not isinstance(one, ReadTimeoutError) and "ResourceNotFound" not in str(one)
]


def consumers(client: Any) -> LambdaConsumers:
    return LambdaConsumers(lambda_=client, stack="delayer")


def test_the_function_gets_it_as_a_message_of_the_queue_of_suspects() -> None:
    client = Answering({"batchItemFailures": []})
    assert consumers(client).handle("delayer-relay", MESSAGE)
    [asked] = client.asked
    assert asked["FunctionName"] == "delayer-delayer-relay"
    assert received_messages_of(json.loads(asked["Payload"])) == [MESSAGE]


def test_what_it_reports_comes_again() -> None:
    assert not consumers(Answering({"batchItemFailures": [{"itemIdentifier": "m"}]})).handle("delayer-relay", MESSAGE)


def test_a_function_that_dies_or_hangs_is_another_thing_than_one_that_cannot_be_asked() -> None:
    with pytest.raises(Died, match="Timedout"):
        consumers(Answering({"errorType": "Sandbox.Timedout"}, FunctionError="Unhandled")).handle("f", MESSAGE)
    with pytest.raises(Died, match="no answer in time"):
        consumers(Failing(HUNG)).handle("f", MESSAGE)


def test_a_function_that_is_not_there() -> None:
    with pytest.raises(Absent):
        consumers(Failing(ABSENT)).handle("executor-taken-out", MESSAGE)


@pytest.mark.parametrize("error", OTHERS, ids=str)
def test_an_error_of_aws_is_unavailable(error: Exception) -> None:
    with pytest.raises(Unavailable):
        consumers(Failing(error)).handle("f", MESSAGE)


def test_lambda_says_from_which_queue_a_message_was_moved() -> None:
    """In the attribute that Powertools has for it, too."""
    arn = "arn:aws:sqs:eu-west-1:123456789012:delayer-DelayerQueue-0a1b2c3d"
    attributes = {"SentTimestamp": "17", "DeadLetterQueueSourceArn": arn}
    event: Any = {"Records": [{"messageId": "m", "body": "b", "eventSourceARN": "a:b", "attributes": attributes}]}
    assert [one.origin for one in received_messages_of(event)] == ["delayer-DelayerQueue-0a1b2c3d"]
    assert [one.attributes.dead_letter_queue_source_arn for one in SQSEvent(event).records] == [arn]
