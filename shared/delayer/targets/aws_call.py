"""All actions that call AWS for an owner share this: what they may reach, and what AWS's errors mean (ADR 0089)."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from attrs import frozen

from delayer.actions.rules.model import Message, Refused, Result, Retry
from delayer.engines.aws.clients import AWS_ERRORS, error_code
from delayer.engines.aws.target_clients import ROLES, NoExternalId, target_client
from delayer.engines.process import setting
from delayer.extension.action import Meta

CODE: Final = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,79}")
ID: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
LONGEST_SESSION: Final = 64  # characters of the name of a session, for STS

# What a target takes along of a schedule is at most this many bytes. With SNS and Step Functions, it counts.
TAKEN_ALONG: Final = 8_192
LARGEST_PAYLOAD: Final = 262_144 - TAKEN_ALONG

RoleArn = Annotated[
    str,
    Meta(
        pattern=r"^arn:aws[a-z-]*:iam::[0-9]{12}:role/[!-~]{1,200}$",
        max_length=256,
        description="A role that is assumed for the call, such as one of another account. The stack must allow it, and "
        "its trust policy must ask for the owner as the external id.",
        extra_json_schema={"x-allowed": "the ARN of a role that the stack allows"},
    ),
]
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


@frozen(kw_only=True)
class Place:
    """Where a target is."""

    region: str
    account: str
    name: str  # with its kind, as in its ARN


def place_of(arn: str) -> Place:
    """Of an ARN that has all of its six parts."""
    _, _, _, region, account, name = arn.split(":", 5)
    return Place(region=region, account=account, name=name)


@frozen(kw_only=True)
class Service:
    """A service of AWS, called for owners with the rights of the stack, or of a role that it allows.

    So it refuses what no owner may reach: what is Delayer's own, other accounts, regions that are not allowed.
    """

    name: str  # as boto3 has it
    shown: str  # as people know it
    target: str  # what an owner reaches there
    never: frozenset[str] = frozenset()  # codes of errors that no later attempt mends
    once: tuple[str, ...] = ()  # operations that botocore must not repeat if they may have arrived
    regions: str = "TARGET_REGIONS"  # the setting with the regions that may be reached
    keys: str = "its KMS key must allow the executor"

    def attempt(
        self,
        message: Message[Any],
        place: Place,
        call: Callable[[Any], Result],
        *,
        role_arn: str = "",
        is_own: bool = False,
        seconds: float = 0,
    ) -> Result:
        """Makes the call with a client and returns its result; or says why it was not made, or not taken."""
        if reason := self._forbidden(place, role_arn, is_own):
            return Refused(reason, reached=False)
        try:
            session = f"delayer-{setting('STACK')}"[:LONGEST_SESSION]
            role = ROLES.assume(role_arn, message.owner, session) if role_arn else None
        except NoExternalId as error:
            return Refused(str(error), reached=False)
        except AWS_ERRORS as error:
            why = _shown(error_code(error)) or "no answer from STS"
            return Retry(detail=f"the role cannot be assumed: {why}", reached=False)
        try:
            return call(target_client(self.name, place.region, once=self.once, seconds=seconds, role=role))
        except AWS_ERRORS as error:
            return self.failure(error_code(error))

    def failure(self, code: str) -> Result:
        """A missing target or permission may be corrected while the retries last; a wrong message stays wrong.

        AWS's own texts name roles and keys: they are not shown.
        """
        if not (shown := _shown(code)):
            return Retry(detail=f"no answer from {self.shown}", is_outage=True)
        if code.lower().startswith("kms"):
            return Retry(detail=f"{self.shown}: {shown}; {self.keys}")
        return Refused(f"{self.shown}: {shown}") if code in self.never else Retry(detail=f"{self.shown}: {shown}")

    def _forbidden(self, place: Place, role_arn: str, is_own: bool) -> str:
        own = setting("ACCOUNT")
        if role_arn and role_arn not in setting("TARGET_ROLE_ARNS").split(","):
            return "a role that the stack does not allow"
        if place.account != (place_of(role_arn).account if role_arn else own):
            return f"{self.target} of another account" + (" than its role's" if role_arn else "")
        if place.region not in (setting(self.regions) or setting("AWS_REGION")).split(","):
            return f"{self.target} of a region that the stack does not allow: {place.region}"
        return f"{self.target} of Delayer itself" if is_own and place.account == own else ""


def _shown(code: str) -> str:
    return code if CODE.fullmatch(code) else ""


def id_of(kind: str, answer: Mapping[str, Any], name: str) -> str:
    """An id in AWS's answer, behind what it names, if it is one."""
    return f"{kind} {answer[name]}" if ID.fullmatch(answer.get(name) or "") else kind


def facts_of(message: Message[Any]) -> dict[str, str]:
    """The facts that a target is told of the schedule. A client can set none of them."""
    return {
        "Idempotency-Key": message.schedule_id,
        "Delayer-Schedule-Id": message.schedule_id,
        "Delayer-Point-In-Time": message.due,
        "Delayer-Attempt": str(message.attempt),
        "Delayer-Owner": message.owner,
    }


def enveloped(message: Message[Any]) -> str:
    """The payload, byte for byte, in an object that says whose it is. It is the same at each attempt."""
    about = {"scheduleId": message.schedule_id, "owner": message.owner, "pointInTime": message.due}
    return f'{{"delayer":{json.dumps(about, ensure_ascii=False)},"payload":{message.payload or "null"}}}'


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
    """A standard queue or topic takes a group for fairness, but refuses a deduplication id."""
    named = {"MessageGroupId": group} if group else {}
    return {**named, "MessageDeduplicationId": message.schedule_id} if is_fifo else named
