"""The functions that handle suspects, asked through Lambda."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from attrs import frozen
from botocore.exceptions import ReadTimeoutError

from delayer.engines.aws.clients import AWS_ERRORS, error_code
from delayer.engines.ports import ReceivedMessage, Unavailable
from delayer.lambdas.events import StreamRecord
from delayer.recovery.ports import Absent, Died
from delayer.schedule.schedule_id import is_relaxed

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


ABSENT: Final = "ResourceNotFoundException"
LONGEST_NAME: Final = 64  # characters of the name of a function; Lambda has none with more


@frozen(kw_only=True)
class LambdaConsumers:
    """Invokes the consumers of queues.

    A call that Lambda turns away (it is throttled) has begun nothing, and counts as nothing.
    """

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


@frozen(kw_only=True)
class LambdaStreamConsumer:
    """Invokes the function that reads the stream."""

    lambda_: "LambdaClient"
    function: str
    relaxed: str  # the one for records of the relaxed table; empty if the stack has none

    def handle(self, records: Sequence[object]) -> list[int]:
        """If one function dies, the answer of the other is lost: what is handled twice is refused by the ledger."""
        relaxed = [position for position, one in enumerate(records) if self.relaxed and _is_relaxed(one)]
        others = [position for position in range(len(records)) if position not in relaxed]
        asked = [(self.function, others), (self.relaxed, relaxed)]
        return sorted(
            positions[one]
            for function, positions in asked
            if positions
            for one in self._handle(function, [records[position] for position in positions])
        )

    def _handle(self, function: str, records: Sequence[object]) -> list[int]:
        event = json.dumps({"Records": list(records), "broughtBack": True}, ensure_ascii=False)
        try:
            answer = self.lambda_.invoke(FunctionName=function, Payload=event.encode("utf-8", "surrogatepass"))
            content = answer["Payload"].read()
        except ReadTimeoutError as error:
            raise Died(f"no answer in time: {error}") from error
        except AWS_ERRORS as error:
            raise Unavailable(f"invoke {function}: {error}") from error
        if "FunctionError" in answer:
            raise Died(f"{answer['FunctionError']}: {content[:200]!r}")
        failed = {one["itemIdentifier"] for one in json.loads(content)["batchItemFailures"]}
        sequences = [cast("StreamRecord", record)["dynamodb"]["SequenceNumber"] for record in records]
        return [position for position, sequence in enumerate(sequences) if sequence in failed]


def _is_relaxed(record: object) -> bool:
    """By the id in its key. What has none goes where it always went."""
    try:
        return is_relaxed(cast("StreamRecord", record)["dynamodb"]["Keys"]["due"]["S"].partition("#")[2])
    except (KeyError, TypeError, AttributeError):
        return False
