"""What SQS and SNS have in common: attributes, groups, and how a queue is named."""

import re
from collections.abc import Mapping
from typing import Any, Final

from delayer.aws.runtime.environment import setting
from delayer.core.actions.message import Message
from delayer.targets.aws_call import Place, facts_of

# As the API accepts it. Without a region it is a queue of the emulator, which is in the stack's own.
QUEUE_URL: Final = (
    r"^(https://sqs(-fips)?\.[a-z]{2}(-[a-z0-9]+)+\.(amazonaws\.com(\.cn)?|api\.aws)"
    r"|http://(localhost|127\.0\.0\.1)(:[0-9]{1,5})?)/[0-9]{12}/[A-Za-z0-9_-]{1,80}(\.fifo)?$"
)
QUEUE: Final = re.compile(
    r"(?:https://sqs(?:-fips)?\.(?P<region>[a-z0-9-]+)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)"
    r"|http://(?:localhost|127\.0\.0\.1)(?::[0-9]+)?)"
    r"/(?P<account>[0-9]{12})/(?P<name>[A-Za-z0-9_-]{1,80}(?:\.fifo)?)"
)
OWN_QUEUE: Final = re.compile(  # how a name goes on, behind the stack's
    r"-[A-Za-z0-9]+Queue-[A-Za-z0-9]+(\.fifo)?|-(executor|subscriber|policy)-[a-z0-9-]+-[a-z0-9]+"
)
GROUP: Final = r"^[!-~]{1,128}$"
GROUPS: Final = {"x-allowed": "1 to 128 printable ASCII characters, without spaces"}


def queue_of(url: str) -> Place | None:
    """The queue of a URL, None if it is none."""
    found = QUEUE.fullmatch(url)
    if not found:
        return None
    return Place(region=found["region"] or setting("AWS_REGION"), account=found["account"], name=found["name"])


def is_own_queue(name: str) -> bool:
    """The stack's queues are named by it; the executor's own, which takes its retries, is known by its URL."""
    stack = setting("STACK")
    of_stack = name.startswith(stack) and OWN_QUEUE.fullmatch(name, len(stack))
    return bool(of_stack) or name == setting("OWN_QUEUE").rpartition("/")[2]


def attributes_of(message: Message[Any], more: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Attributes of a message, those of the client among them."""
    values = {**(more or {}), **facts_of(message)}
    return {name: {"DataType": "String", "StringValue": value} for name, value in values.items()}


def ordering(message: Message[Any], group: str, *, is_fifo: bool) -> dict[str, Any]:
    """What is standard takes a group for fairness, but refuses a deduplication id."""
    named = {"MessageGroupId": group} if group else {}
    return {**named, "MessageDeduplicationId": message.schedule_id} if is_fifo else named
