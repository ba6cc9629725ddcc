"""The action `sqs-send`."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec
from attrs import frozen

from delayer.core.firing.executing import Done, Refused, Result, Retry
from delayer.core.schedule.instants import format_instant
from delayer.core.schedule.messages import ExecutorMessage

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageAttributeValueTypeDef

REGION: Final = re.compile(r"https://sqs(?:-fips)?\.([a-z0-9-]+)\.")
NEVER: Final = frozenset({"InvalidMessageContents", "InvalidParameterValue", "UnsupportedOperation"})


class SqsSend(msgspec.Struct):
    """The fields of the action; bounds in openapi.yaml."""

    queueUrl: str  # noqa: N815 - the API's own spelling
    messageGroupId: str = ""  # noqa: N815


@frozen(kw_only=True)
class SqsTarget:
    """Port Target.

    A FIFO queue gets the schedule's id as deduplication id, so that a repeated attempt within five
    minutes is one message there (ADR 0026).
    """

    client_for: Callable[[str | None], "SQSClient"]  # an SQS client for a region, None: the stack's own
    errors: tuple[type[Exception], ...]
    code_of: Callable[[Exception], str]

    def __call__(self, message: ExecutorMessage) -> Result:
        action = msgspec.json.decode(message.schedule.definition.action, type=SqsSend)
        region = REGION.match(action.queueUrl)
        try:
            sqs = self.client_for(region.group(1) if region else None)
            answer = sqs.send_message(
                QueueUrl=action.queueUrl,
                MessageBody=message.schedule.definition.payload or "null",
                MessageAttributes=_attributes(message),
                **_ordering(action, message),
            )
        except self.errors as error:
            return self._failure(error)
        return Done(f"message {answer['MessageId']}")

    def _failure(self, error: Exception) -> Result:
        """A missing queue or permission may be corrected while the retries last; a wrong message stays wrong."""
        return Refused(str(error)) if self.code_of(error) in NEVER else Retry(detail=str(error))


def _ordering(action: SqsSend, message: ExecutorMessage) -> dict[str, Any]:
    """A standard queue takes a group for fairness, but refuses a deduplication id."""
    group = {"MessageGroupId": action.messageGroupId} if action.messageGroupId else {}
    return {**group, "MessageDeduplicationId": message.schedule.id} if action.queueUrl.endswith(".fifo") else group


def _attributes(message: ExecutorMessage) -> "dict[str, MessageAttributeValueTypeDef]":
    values = {
        "Idempotency-Key": message.schedule.id,
        "Delayer-Schedule-Id": message.schedule.id,
        "Delayer-Point-In-Time": format_instant(message.schedule.point_in_time),
        "Delayer-Attempt": str(message.attempt),
    }
    return {name: {"DataType": "String", "StringValue": value} for name, value in values.items()}
