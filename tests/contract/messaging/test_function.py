"""A function, asked through Lambda."""

import io
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from delayer.engines.aws.function import LARGEST_ANSWER, LambdaFunction
from delayer.engines.ports import NoAnswer
from tests.clients import ERRORS, AnyClient, Failing

ADAPTER = LambdaFunction
ARN = "arn:aws:lambda:eu-west-1:123456789012:function:slack"


class Answering(AnyClient):
    """The client of Lambda, whose function answers this."""

    def __init__(self, answer: bytes, **more: str) -> None:
        self.answer, self.more = answer, more
        self.asked: list[Any] = []

    def invoke(self, **arguments: Any) -> Any:
        self.asked.append(arguments)
        return {"StatusCode": 200, "Payload": io.BytesIO(self.answer), **self.more}


def test_it_is_asked_in_json_and_answers_in_json() -> None:
    client = Answering('{"é": [1]}'.encode())
    assert LambdaFunction(lambda_=client, function=ARN).ask({"delayer": "describe", "text": "é\udc00"}) == {"é": [1]}
    [asked] = client.asked
    assert asked["FunctionName"] == ARN
    assert json.loads(asked["Payload"]) == {"delayer": "describe", "text": "é\udc00"}


@pytest.mark.parametrize(
    ("client", "reason"),
    [
        (Answering(b'{"errorMessage": "<secret>"}', FunctionError="Unhandled"), "raised an error"),
        (Answering(b"<secret>"), "no JSON"),
        (Answering(b""), "no JSON"),
        (Answering(b"\xff"), "no JSON"),
        (Answering(b"[" * 50_000), "no JSON"),
        (Answering(b'"' + b"a" * LARGEST_ANSWER + b'"'), "larger than"),
    ],
)
def test_no_answer_has_a_reason_of_ours(client: Answering, reason: str) -> None:
    with pytest.raises(NoAnswer, match=reason) as raised:
        LambdaFunction(lambda_=client, function=ARN).ask({})
    assert "secret" not in str(raised.value)


def failed(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "<secret> arn:aws:iam::123456789012:role/x"}}, "Invoke")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (failed("ResourceNotFoundException"), "the function does not exist"),
        (failed("AccessDeniedException"), "no permission for the role of executor-remote"),
        (failed("TooManyRequestsException"), "throttled"),
        (failed("ServiceException"), "Lambda did not take the call: ServiceException"),
        (ERRORS["read timeout"], "did not answer in time"),
        (ERRORS["connect timeout"], "Lambda did not take the call: ConnectTimeoutError"),
        (ERRORS["no connection"], "Lambda did not take the call: EndpointConnectionError"),
    ],
    ids=["missing", "forbidden", "throttled", "failing", "slow", "no connection in time", "no connection"],
)
def test_so_has_a_call_that_fails(error: Exception, reason: str) -> None:
    with pytest.raises(NoAnswer, match=reason) as raised:
        LambdaFunction(lambda_=Failing(error), function=ARN).ask({})
    assert "secret" not in str(raised.value)
