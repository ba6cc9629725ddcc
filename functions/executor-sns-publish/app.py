"""The action sns-publish."""

from typing import TYPE_CHECKING, Annotated

from delayer.extension.executor import Action, Done, Message, Meta, Result, executor, setting
from delayer.targets.aws_call import (
    GROUP,
    GROUPS,
    LARGEST_PAYLOAD,
    RoleArn,
    Service,
    attributes_of,
    id_of,
    ordering,
    place_of,
)

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient

TOPIC = r"^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?$"
NAME = r"^(?!(?i:aws\.|amazon\.|delayer-|idempotency-key$))[A-Za-z0-9_-]([A-Za-z0-9_.-]{0,62}[A-Za-z0-9_-])?$"
NAMES = {"x-allowed": "1 to 64 letters, digits and _ - . in between, not beginning with AWS., Amazon. or Delayer-"}
VALUES = {"x-allowed": "1 to 256 printable ASCII characters"}
ATTRIBUTES = "Attributes of the message, as texts: filters of subscriptions can ask for them."
SUBJECT = "The subject of e-mails."
SUBJECTS = {"x-allowed": "1 to 99 printable ASCII characters, of which the first is no space"}
GROUP_ID = (
    "The message group, on a FIFO topic the schedule's own if none is given; on a standard topic for fair queues."
)

Name = Annotated[str, Meta(pattern=NAME, extra_json_schema=NAMES)]
Value = Annotated[str, Meta(pattern="^[ -~]{1,256}$", extra_json_schema=VALUES)]

SNS = Service(
    name="sns",
    shown="SNS",
    target="a topic",
    never=frozenset({"InvalidParameter", "InvalidParameterValue", "ParameterValueInvalid", "ValidationException"}),
    once=("Publish",),
)


class SnsPublish(Action):
    """A message to an SNS topic, standard or FIFO, whose text is the payload."""

    topic_arn: Annotated[
        str, Meta(pattern=TOPIC, max_length=320, extra_json_schema={"x-allowed": "the ARN of a topic"})
    ]
    subject: Annotated[str, Meta(pattern="^[!-~][ -~]{0,98}$", description=SUBJECT, extra_json_schema=SUBJECTS)] = ""
    attributes: Annotated[dict[Name, Value], Meta(max_length=5, description=ATTRIBUTES)] = {}
    message_group_id: Annotated[str, Meta(pattern=GROUP, description=GROUP_ID, extra_json_schema=GROUPS)] = ""
    role_arn: RoleArn = ""


@executor("sns-publish", fair_by="topicArn", reaches="topic:topicArn", largest_payload=LARGEST_PAYLOAD)
def handler(message: Message[SnsPublish]) -> Result:
    """One message. On a FIFO topic, one that is repeated within five minutes is the same there."""
    action = message.action
    is_fifo = action.topic_arn.endswith(".fifo")
    group = action.message_group_id or (message.schedule_id if is_fifo else "")

    def publish(sns: "SNSClient") -> Result:
        answer = sns.publish(
            TopicArn=action.topic_arn,
            Message=message.payload or "null",
            MessageAttributes=attributes_of(message, action.attributes),
            **({"Subject": action.subject} if action.subject else {}),
            **ordering(message, group, is_fifo=is_fifo),
        )
        return Done(id_of("message", answer, "MessageId"))

    is_own = action.topic_arn in setting("OWN_TOPICS").split(",")
    return SNS.attempt(message, place_of(action.topic_arn), publish, role_arn=action.role_arn, is_own=is_own)
