"""A function, asked through Lambda."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen
from botocore.exceptions import ReadTimeoutError

from delayer.engines.aws.clients import AWS_ERRORS, error_code
from delayer.engines.ports import NoAnswer, NotInvoked

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

LARGEST_ANSWER: Final = 65_536  # bytes; what a function says of its action has 17,000 at most
REASONS: Final = {
    "ResourceNotFoundException": "the function does not exist",
    "AccessDeniedException": "the function has no permission for the role of executor-remote",
    "TooManyRequestsException": "the function is throttled",
    "RequestTooLargeException": "the message is too large for a function",
}

NOT_INVOKED: Final = ("ResourceNotFoundException", "AccessDeniedException")


@frozen(kw_only=True)
class LambdaFunction:
    """Invokes a function, and waits for its answer."""

    lambda_: "LambdaClient"  # that waits long enough, and asks once
    function: str  # its name or ARN

    def ask(self, question: Mapping[str, Any]) -> object:
        try:
            answer = self.lambda_.invoke(FunctionName=self.function, Payload=_encoded(question))
            content = answer["Payload"].read(LARGEST_ANSWER + 1)
        except ReadTimeoutError as error:
            raise NoAnswer("the function did not answer in time", is_outage=True) from error
        except AWS_ERRORS as error:
            code = error_code(error)
            reason = REASONS.get(code, f"Lambda did not take the call: {code or type(error).__name__}")
            raise (NotInvoked if code in NOT_INVOKED else NoAnswer)(reason) from error
        if "FunctionError" in answer:
            reason = "the function raised an error, or ended before its answer: its own log says more"
            raise NoAnswer(reason, is_outage=True)
        if len(content) > LARGEST_ANSWER:
            raise NoAnswer(f"the answer of the function is larger than {LARGEST_ANSWER:,} bytes")
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise NoAnswer("the answer of the function is no JSON") from error


def _encoded(question: Mapping[str, Any]) -> bytes:
    """Lone surrogates, which a client may have sent, are escaped."""
    return json.dumps(question, separators=(",", ":")).encode()
