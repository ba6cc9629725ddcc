"""ARNs, and the addresses that Delayer's actions want instead."""

import re
from typing import Final

from msgspec import Struct

from delayer_client.eventbridge.mapping.outcome import CannotMove

# What the actions of Delayer take; a test compares them with openapi.yaml.
PATTERNS: Final = {
    "queueUrl": r"^(https://sqs(-fips)?\.[a-z]{2}(-[a-z0-9]+)+\.(amazonaws\.com(\.cn)?|api\.aws)|http://(localhost|127\.0\.0\.1)(:[0-9]{1,5})?)/[0-9]{12}/[A-Za-z0-9_-]{1,80}(\.fifo)?$",
    "topicArn": r"^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?$",
    "functionArn": r"^arn:aws[a-z-]*:lambda:[a-z0-9-]+:[0-9]{12}:function:[A-Za-z0-9_-]{1,64}(:[A-Za-z0-9_-]{1,128})?$",
    "stateMachineArn": r"^arn:aws[a-z-]*:states:[a-z0-9-]+:[0-9]{12}:stateMachine:[A-Za-z0-9_-]{1,80}(:[A-Za-z0-9_-]{1,80})?$",  # noqa: E501
    "eventBusArn": r"^arn:aws[a-z-]*:events:[a-z0-9-]+:[0-9]{12}:event-bus/[A-Za-z0-9._-]{1,256}$",
    "source": r"^(?!aws\.)[A-Za-z0-9._/-]{1,256}$",
    "detailType": r"^[ -~]{1,128}$",
    "messageGroupId": r"^[!-~]{1,128}$",
    "subject": r"^[!-~][ -~]{0,98}$",
    "connection": r"^(?!\.{1,2}$)[A-Za-z0-9._:@-]{1,128}$",
    "roleArn": r"^arn:aws[a-z-]*:iam::[0-9]{12}:role/[!-~]{1,200}$",
}
_SUFFIXES: Final = {"aws": "amazonaws.com", "aws-us-gov": "amazonaws.com", "aws-cn": "amazonaws.com.cn"}
_URL_ACCOUNT = re.compile(r"/([0-9]{12})/[^/]+$")
_URL_REGION = re.compile(r"^https://sqs(?:-fips)?\.([a-z0-9-]+)\.")


class Arn(Struct, frozen=True):
    """`arn:partition:service:region:account:resource`."""

    partition: str
    service: str
    region: str
    account: str
    resource: str


def arn_of(text: str) -> Arn:
    """With empty parts where the text is no ARN."""
    parts = text.split(":", 5)
    return Arn(*parts[1:]) if len(parts) == 6 and parts[0] == "arn" else Arn("", "", "", "", text)


def checked(field: str, value: str, said_by: str) -> str:
    """A value that an action of Delayer takes for this field. Raises CannotMove."""
    if not re.search(PATTERNS[field], value) or value.endswith("\n"):
        raise CannotMove(said_by, f"Delayer takes no such {field}: {value or 'it is missing'}")
    return value


def queue_url(arn: Arn) -> str:
    """Of a queue that EventBridge knows by its ARN. Raises CannotMove."""
    suffix = _SUFFIXES.get(arn.partition, "")
    return checked("queueUrl", f"https://sqs.{arn.region}.{suffix}/{arn.account}/{arn.resource}", "Target.Arn")


def place_of(address: str) -> tuple[str, str]:
    """The region and the account of an ARN, or of the URL of a queue; empty where they are not known."""
    if address.startswith("arn:"):
        arn = arn_of(address)
        return arn.region, arn.account
    region, account = _URL_REGION.search(address), _URL_ACCOUNT.search(address)
    return region[1] if region else "", account[1] if account else ""
