"""The functions that handle suspects, asked through Lambda."""

import json
from typing import TYPE_CHECKING, Final

from attrs import frozen
from botocore.exceptions import ReadTimeoutError

from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.ports.consumers import Absent, Died
from delayer.ports.queue import ReceivedMessage
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

ABSENT: Final = "ResourceNotFoundException"
LONGEST_NAME: Final = 64  # characters of the name of a function; Lambda has none with more


@frozen(kw_only=True)
class LambdaConsumers:
    """Port Consumers. A call that Lambda turns away (it is throttled) has begun nothing, and counts as nothing."""

    lambda_: "LambdaClient"  # that waits for the longest of them, and asks once: asked twice, it would work twice
    stack: str

    def handle(self, function: str, message: ReceivedMessage) -> bool:
        name = f"{self.stack}-{function}"
        if len(name) > LONGEST_NAME:
            raise Absent(name)
        try:
            answer = self.lambda_.invoke(FunctionName=name, Payload=_event(message))
            content = answer["Payload"].read()
        except ReadTimeoutError as error:
            raise Died(f"no answer in time: {error}") from error
        except AWS_ERRORS as error:
            if error_code(error) == ABSENT:
                raise Absent(name) from error
            raise Unavailable(f"invoke {name}: {error}") from error
        if "FunctionError" in answer:
            raise Died(f"{answer['FunctionError']}: {content[:200]!r}")
        return not json.loads(content)["batchItemFailures"]


def _event(message: ReceivedMessage) -> bytes:
    """As the queue of suspects would give it. Lone surrogates, which a client may have sent, are escaped."""
    record = {
        "messageId": message.message_id,
        "body": message.body,
        "eventSourceARN": message.source,
        "attributes": {"SentTimestamp": str(message.sent_at)},
    }
    return json.dumps({"Records": [record]}, separators=(",", ":")).encode()
