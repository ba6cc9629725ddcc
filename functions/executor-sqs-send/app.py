"""The action sqs-send."""

from typing import TYPE_CHECKING, Annotated

from delayer.extension.executor import Action, Done, Message, Meta, Refused, Result, executor
from delayer.targets.aws_call import (
    GROUP,
    GROUPS,
    QUEUE_URL,
    RoleArn,
    Service,
    attributes_of,
    id_of,
    is_own_queue,
    ordering,
    queue_of,
)

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

URL = """\
The URL of the queue. It must be in the account of the stack, or of the role, and in a region that the stack allows, \
its name must match the pattern of the queues that the stack may send to, and it must not be a queue of the stack \
itself."""
URLS = "https://sqs.<region>.amazonaws.com/<account>/<name>; on one machine http://localhost:<port>/<account>/<name>"
GROUP_ID = "Required for a FIFO queue. On a standard queue it is the message group of a fair queue."

SQS = Service(
    name="sqs",
    shown="SQS",
    target="a queue",
    never=frozenset({"InvalidMessageContents", "InvalidParameterValue", "UnsupportedOperation"}),
    once=("SendMessage",),
    regions="SQS_TARGET_REGIONS",
    keys="its KMS key must be in SqsTargetKeyArns, and must allow the executor",
)


class SqsSend(Action):
    """A message to an SQS queue, standard or FIFO, whose body is the payload."""

    queue_url: Annotated[
        str, Meta(pattern=QUEUE_URL, max_length=512, description=URL, extra_json_schema={"x-allowed": URLS})
    ]
    message_group_id: Annotated[str, Meta(pattern=GROUP, description=GROUP_ID, extra_json_schema=GROUPS)] = ""
    role_arn: RoleArn = ""

    more_schema = {
        "if": {"required": ["queueUrl"], "properties": {"queueUrl": {"type": "string", "pattern": r"\.fifo$"}}},
        "then": {"required": ["messageGroupId"]},
    }


@executor("sqs-send", fair_by="queueUrl", reaches="queue:queueUrl")
def handler(message: Message[SqsSend]) -> Result:
    """One message. On a FIFO queue, one that is repeated within five minutes is the same there."""
    action = message.action
    is_fifo = action.queue_url.endswith(".fifo")

    def send(sqs: "SQSClient") -> Result:
        answer = sqs.send_message(
            QueueUrl=action.queue_url,
            MessageBody=message.payload or "null",
            MessageAttributes=attributes_of(message),
            **ordering(message, action.message_group_id, is_fifo=is_fifo),
        )
        return Done(id_of("message", answer, "MessageId"))

    queue = queue_of(action.queue_url)
    if not queue:
        return Refused("not the URL of a queue")
    return SQS.attempt(message, queue, send, role_arn=action.role_arn, is_own=is_own_queue(queue.name))
