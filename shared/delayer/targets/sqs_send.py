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

# As openapi.yaml has it. Without a region it is a queue of the emulator, which is in the stack's own.
QUEUE: Final = re.compile(
    r"(?:https://sqs(?:-fips)?\.(?P<region>[a-z0-9-]+)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)"
    r"|http://(?:localhost|127\.0\.0\.1)(?::[0-9]+)?)"
    r"/(?P<account>[0-9]{12})/(?P<name>[A-Za-z0-9_-]{1,80}(?:\.fifo)?)"
)
OWN: Final = re.compile(
    r"-[A-Za-z0-9]+Queue-[A-Za-z0-9]+(\.fifo)?"
)  # how a name of the template goes on, behind the stack's
NEVER: Final = frozenset({"InvalidMessageContents", "InvalidParameterValue", "UnsupportedOperation"})
CODE: Final = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,79}")
MESSAGE_ID: Final = re.compile(r"[A-Za-z0-9-]{1,64}")


class SqsSend(msgspec.Struct):
    """The fields of the action; bounds in openapi.yaml."""

    queueUrl: str  # noqa: N815 - the API's own spelling
    messageGroupId: str = ""  # noqa: N815


@frozen(kw_only=True)
class SqsTarget:
    """Port Target.

    It sends with the rights of the stack what its owners ask for. So it refuses what no owner may reach: queues of the
    stack itself, other accounts, regions that are not allowed (ADR 0066). A FIFO queue gets the schedule's id as
    deduplication id, so that a repeated attempt within five minutes is one message there (ADR 0026).
    """

    client_for: Callable[[str], "SQSClient"]  # an SQS client for a region
    errors: tuple[type[Exception], ...]
    code_of: Callable[[Exception], str]
    account: str  # of the stack
    region: str  # of the stack
    regions: frozenset[str]  # whose queues may be reached
    stack: str  # its name, with which the names of its queues begin
    own_queue: str  # URL of the one that the policy has to allow, because it takes the retries

    def __call__(self, message: ExecutorMessage) -> Result:
        action = msgspec.json.decode(message.schedule.definition.action, type=SqsSend)
        queue = QUEUE.fullmatch(action.queueUrl)
        if not queue:
            return Refused("not the URL of a queue")
        region = queue["region"] or self.region
        if reason := self._forbidden(region, queue["account"], queue["name"]):
            return Refused(reason)
        try:
            answer = self.client_for(region).send_message(
                QueueUrl=action.queueUrl,
                MessageBody=message.schedule.definition.payload or "null",
                MessageAttributes=_attributes(message),
                **_ordering(action, message),
            )
        except self.errors as error:
            return self._failure(error)
        return Done(f"message {answer['MessageId']}" if MESSAGE_ID.fullmatch(answer["MessageId"]) else "message")

    def _forbidden(self, region: str, account: str, name: str) -> str:
        if account != self.account:
            return "a queue of another account"
        if region not in self.regions:
            return f"a queue of a region that the stack does not allow: {region}"
        return "a queue of Delayer itself" if self._is_own(name) else ""

    def _is_own(self, name: str) -> bool:
        of_stack = name.startswith(self.stack) and OWN.fullmatch(name, len(self.stack))
        return bool(of_stack) or name == self.own_queue.rpartition("/")[2]

    def _failure(self, error: Exception) -> Result:
        """A missing queue or permission may be corrected while the retries last; a wrong message stays wrong.

        AWS's own texts name roles and keys: they are not shown.
        """
        code = self.code_of(error)
        if not CODE.fullmatch(code):
            return Retry(detail="no answer from SQS")
        if code.lower().startswith("kms"):
            return Retry(detail=f"SQS: {code}; its KMS key must be in SqsTargetKeyArns, and must allow the executor")
        return Refused(f"SQS: {code}") if code in NEVER else Retry(detail=f"SQS: {code}")


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
        "Delayer-Owner": message.schedule.owner,
    }
    return {name: {"DataType": "String", "StringValue": value} for name, value in values.items()}
