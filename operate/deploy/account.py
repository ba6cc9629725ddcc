"""Looks at the account before a deployment: the stack, if there is one, and how much may run at a time."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from attrs import field, frozen
from botocore.exceptions import ClientError

from operate.deploy.errors import TemplateError

CONCURRENCY_QUOTA: Final = "L-B99A9384"  # Concurrent executions, of the service lambda
LEAST: Final = 2  # of a mapping's MaximumConcurrency
OTHERS: Final = 4  # functions beside relays and executors that run at a time when there is little to do
HIDDEN: Final = "****"  # CloudFormation's answer in place of a value that it does not show
AFTER_A_FAILED_CREATION: Final = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "DELETE_FAILED")


@frozen(kw_only=True)
class Stack:
    """As CloudFormation describes it."""

    status: str = ""  # empty if there is none, or only a change set for one
    parameters: Mapping[str, str] = field(factory=dict)  # without those that are hidden
    outputs: Mapping[str, str] = field(factory=dict)
    tags: Mapping[str, str] = field(factory=dict)

    @property
    def is_there(self) -> bool:
        """Whether a deployment changes it; otherwise it makes it."""
        return bool(self.status)

    def value(self, name: str) -> str:
        """Of a parameter; of one that counts when a stack is packaged, the output."""
        return self.outputs.get(name) or self.parameters.get(name, "")


def stack_of(cloudformation: Any, name: str) -> Stack:
    """Describes the stack. Errors: those of botocore."""
    try:
        [found] = cloudformation.describe_stacks(StackName=name)["Stacks"]
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return Stack()
        raise
    if found["StackStatus"] == "REVIEW_IN_PROGRESS":
        return Stack()
    values = {one["ParameterKey"]: one.get("ParameterValue", "") for one in found.get("Parameters", [])}
    return Stack(
        status=found["StackStatus"],
        parameters={name: value for name, value in values.items() if value != HIDDEN},
        outputs={one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", [])},
        tags={one["Key"]: one["Value"] for one in found.get("Tags", [])},
    )


def refuse_what_cannot_be_updated(stack: Stack, name: str, region: str) -> None:
    """Raises TemplateError with what to do."""
    if stack.status in AFTER_A_FAILED_CREATION:
        raise TemplateError(
            f"The stack {name} is in the state {stack.status}: its creation has failed, and CloudFormation changes "
            "nothing in it any more. Its events say why: aws cloudformation describe-stack-events --stack-name "
            f"{name} --region {region}. Then delete what is left, and deploy again: aws cloudformation delete-stack "
            f"--stack-name {name} --region {region}"
        )
    if stack.status.endswith("_IN_PROGRESS"):
        raise TemplateError(f"The stack {name} is in the state {stack.status}. Wait until that has ended.")


def said_of_concurrency(allowed: int, needed: int, scale: str, region: str) -> Iterator[str]:
    """Says what will happen with as many functions at a time as the account allows, and what to set."""
    if allowed >= needed:
        yield f"The account lets {allowed:,} functions run at a time, and Scale={scale} is made for {needed:,}."
        return
    share = max(LEAST, (allowed - OTHERS) // 4)
    yield (
        f"The account lets {allowed:,} functions run at a time; a new one has ten. Scale={scale} is made for "
        f"{needed:,}. With fewer, nothing is lost and nothing fires early, but when many schedules are due at once, "
        "they wait for each other and fire late, and calls of the API may be answered 503."
    )
    yield (
        f"Ask for more, it costs nothing: aws service-quotas request-service-quota-increase --service-code lambda "
        f"--quota-code {CONCURRENCY_QUOTA} --desired-value {needed} --region {region}"
    )
    if scale == "small":
        yield (
            "Until you have it, leave room for the API and for the minute's tasks: "
            f'make deploy PARAMETERS="RelayConcurrency={share} ExecutorConcurrency={share}"'
        )


def clear_pollers(cloudformation: Any, functions: Any, name: str) -> int:
    """Takes the provisioned pollers from the mappings of a stack; how many mappings had some. Errors: botocore's.

    A mapping has either these or a bound of concurrency. CloudFormation would set the bound and leave the pollers,
    which are paid for by the hour.
    """
    listed = cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
    found = [one for page in listed for one in page["StackResourceSummaries"]]
    mappings = [one["PhysicalResourceId"] for one in found if one["ResourceType"] == "AWS::Lambda::EventSourceMapping"]
    provisioned = [
        uuid for uuid in mappings if functions.get_event_source_mapping(UUID=uuid).get("ProvisionedPollerConfig")
    ]
    for uuid in provisioned:
        functions.update_event_source_mapping(UUID=uuid, ProvisionedPollerConfig={})
    return len(provisioned)


def said_of_bounds(allowed: int | None, needed: int, bounds: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """Of an account that has grown: bounds that were set for ten are kept. `bounds`: what is, and the default."""
    small = {name: default for name, (value, default) in bounds.items() if value < default}
    if small and allowed is not None and allowed >= needed:
        yield (
            f"{' and '.join(small)} {'is' if len(small) == 1 else 'are'} lower than the default. If that was for an "
            "account of few functions at a time, set them back: make deploy PARAMETERS="
            f'"{" ".join(f"{name}={default}" for name, default in small.items())}"'
        )


def concurrency_of(functions: Any) -> int | None:
    """How many functions may run at a time; None without the right to read it (lambda:GetAccountSettings)."""
    try:
        return int(functions.get_account_settings()["AccountLimit"]["ConcurrentExecutions"])
    except ClientError as error:
        if error.response["Error"]["Code"] in ("AccessDeniedException", "AccessDenied"):
            return None
        raise


def say_concurrency(allowed: int | None, needed: int, scale: str, region: str, say: Callable[[str], object]) -> None:
    """All of it."""
    if allowed is None:
        say(f"How many functions may run at a time cannot be read (lambda:GetAccountSettings). {needed:,} are right.")
        return
    for line in said_of_concurrency(allowed, needed, scale, region):
        say(line)
