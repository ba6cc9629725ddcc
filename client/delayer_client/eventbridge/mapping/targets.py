"""A target becomes an action, by what its ARN says."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from delayer_client.eventbridge.mapping.arns import PATTERNS, arn_of, checked, place_of, queue_url
from delayer_client.eventbridge.mapping.outcome import Aimed, CannotMove, Note, Options
from delayer_client.eventbridge.reading.sources import EventBridgeParameters

NO_ACTION: Final = "Delayer has no action for it; a function or a state machine that calls it can be the target instead"
# Services whose targets cannot be moved, by the third part of the ARN. All others have no action either.
REFUSED: Final = {
    "ecs": "Amazon ECS tasks",
    "kinesis": "Kinesis streams",
    "firehose": "Firehose streams",
    "sagemaker": "SageMaker pipelines",
    "codepipeline": "CodePipeline",
    "inspector": "Amazon Inspector",
    "codebuild": "CodeBuild projects",
    "batch": "AWS Batch jobs",
    "ssm": "Systems Manager",
    "redshift": "Redshift clusters",
    "redshift-serverless": "Redshift Serverless",
    "execute-api": "API Gateway",
    "appsync": "AppSync",
    "logs": "CloudWatch log groups",
}
WHY: Final = {
    "execute-api": "EventBridge signs the request with its role, which Delayer does not do; an API that needs no "
    "signature can be called by http-request",
}
# Of each action that calls AWS: the field with the address, and the stack's parameter with the names that it may reach.
ADDRESS: Final = {
    "lambda-invoke": ("functionArn", "LambdaTargetNamePattern"),
    "sqs-send": ("queueUrl", "SqsTargetNamePattern"),
    "sns-publish": ("topicArn", "SnsTargetNamePattern"),
    "step-start": ("stateMachineArn", "StepTargetNamePattern"),
    "event-put": ("eventBusArn", "EventTargetNamePattern"),
}
_WRAPPED: Final = (
    'it gets {"delayer": …, "payload": …}: the input is in `payload`, so the code behind it has to read it there'
)


class Aim(Struct, frozen=True, kw_only=True):
    """A templated target, of a schedule or of a rule."""

    arn: str
    payload: str
    message_group_id: str = ""
    event: EventBridgeParameters | None = None
    is_rule: bool = False


def aimed(aim: Aim) -> Aimed:
    """Raises CannotMove."""
    arn = arn_of(aim.arn)
    build = _BUILDERS.get(arn.service)
    if build is None:
        raise CannotMove("Target.Arn", refusal(arn.service))
    return build(aim)


def refusal(service: str) -> str:
    """Why the targets of a service are not moved."""
    what = REFUSED.get(service, f"{service or 'what is no ARN'}")
    return f"the target is of {what}. {WHY.get(service, NO_ACTION)}"


def allowed(aim: Aimed, home: str, options: Options) -> Aimed:
    """With what the stack has to allow. `home` is the ARN of the schedule or of the rule. Raises CannotMove."""
    field, parameter = ADDRESS[aim.action["type"]]
    address = str(aim.action[field])
    region, account = place_of(address)
    action, notes = dict(aim.action), [*aim.notes, _allow_note(aim.action["type"], address, parameter)]
    here = arn_of(home)
    if here.region and region and region != here.region:
        regions = "SqsTargetRegions" if parameter.startswith("Sqs") else "TargetRegions"
        notes.append(Note("Target.Arn", f"it is in {region}: the stack must name this region in {regions}"))
    role = options.roles.get(account)
    if role is not None:
        action["roleArn"] = checked("roleArn", role, "Target.RoleArn")
        notes.append(Note("Target.RoleArn", f"{role} is assumed: the stack must name it in TargetRoleArns"))
    elif here.account and account and account != here.account:
        reason = f"the target is in the account {account}: give a role of that account that Delayer may assume"
        raise CannotMove("Target.Arn", reason)
    return Aimed(action=action, payload=aim.payload, notes=tuple(notes))


def _allow_note(kind: str, address: str, parameter: str) -> Note:
    name = address.replace("/", ":").split(":")[6 if kind in ("lambda-invoke", "step-start", "event-put") else -1]
    text = f"the role of EventBridge is not used: {parameter} of the stack must match {name}"
    return Note("Target.RoleArn", text)


def _function(aim: Aim) -> Aimed:
    action = {"type": "lambda-invoke", "functionArn": checked("functionArn", aim.arn, "Target.Arn")}
    return Aimed(action=action, payload=aim.payload, notes=(Note("Target.Input", _WRAPPED),))


def _state_machine(aim: Aim) -> Aimed:
    action = {"type": "step-start", "stateMachineArn": checked("stateMachineArn", aim.arn, "Target.Arn")}
    express = Note("Target.Arn", "it has to be a standard state machine: Delayer starts no express ones")
    return Aimed(action=action, payload=aim.payload, notes=(Note("Target.Input", _WRAPPED), express))


def _queue(aim: Aim) -> Aimed:
    action = {"type": "sqs-send", "queueUrl": queue_url(arn_of(aim.arn))}
    if aim.message_group_id:
        action["messageGroupId"] = checked(
            "messageGroupId", aim.message_group_id, "Target.SqsParameters.MessageGroupId"
        )
    check_fifo(action)
    return Aimed(action=action, payload=aim.payload)


def check_fifo(action: Mapping[str, Any]) -> None:
    """Raises CannotMove."""
    if str(action["queueUrl"]).endswith(".fifo") and "messageGroupId" not in action:
        raise CannotMove("Target.SqsParameters.MessageGroupId", "a FIFO queue needs one, and there is none")


def _topic(aim: Aim) -> Aimed:
    return Aimed(
        action={"type": "sns-publish", "topicArn": checked("topicArn", aim.arn, "Target.Arn")}, payload=aim.payload
    )


def _event_bus(aim: Aim) -> Aimed:
    if aim.is_rule:
        reason = "the rule passes its event on as it is, from the source aws.events, which only AWS may put"
        raise CannotMove("Target.Arn", reason)
    if aim.event is None:
        raise CannotMove("Target.EventBridgeParameters", "they are missing: what the source and the detail type are")
    return event_put(aim.arn, aim.event.source, aim.event.detail_type, aim.payload)


def event_put(bus: str, source: str, detail_type: str, payload: str) -> Aimed:
    """Raises CannotMove."""
    if not isinstance(json.loads(payload), dict):
        raise CannotMove("Target.Input", "the detail of an event has to be a JSON object")
    action = {
        "type": "event-put",
        "eventBusArn": checked("eventBusArn", bus, "Target.Arn"),
        "source": checked("source", source, "Target.EventBridgeParameters.Source"),
        "detailType": checked("detailType", detail_type, "Target.EventBridgeParameters.DetailType"),
    }
    return Aimed(action=action, payload=payload)


def _events(aim: Aim) -> Aimed:
    if arn_of(aim.arn).resource.startswith("event-bus/"):
        return _event_bus(aim)
    raise CannotMove("Target.Arn", refusal("events"))


_BUILDERS: Final[Mapping[str, Callable[[Aim], Aimed]]] = {
    "lambda": _function,
    "states": _state_machine,
    "sqs": _queue,
    "sns": _topic,
    "events": _events,
}
assert PATTERNS.keys() >= {field for field, _ in ADDRESS.values()}
