"""A stack that fails says why in one sentence."""

from typing import Any

import pytest

from local.deployment import wait_for
from local.errors import LocalStackError


class CloudFormation:
    """Answers as a stack whose creation has ended."""

    def __init__(self, status: str, *events: dict[str, Any]) -> None:
        self.status = status
        self.events = events

    def describe_stacks(self, StackName: str) -> dict[str, Any]:  # noqa: N803 - boto3's name
        return {"Stacks": [{"StackStatus": self.status, "StackStatusReason": "see its events"}]}

    def describe_stack_events(self, StackName: str) -> dict[str, Any]:  # noqa: N803 - boto3's name
        return {"StackEvents": self.events}


def event(at: int, name: str, status: str, reason: str) -> dict[str, Any]:
    return {"Timestamp": at, "LogicalResourceId": name, "ResourceStatus": status, "ResourceStatusReason": reason}


def test_a_created_stack_is_returned() -> None:
    assert wait_for(CloudFormation("CREATE_COMPLETE"))["StackStatus"] == "CREATE_COMPLETE"


def test_the_first_failed_resource_gives_the_reason() -> None:
    later = event(2, "Relay", "CREATE_FAILED", "Resource creation cancelled")
    first = event(1, "DelayerQueue", "CREATE_FAILED", "The name\nis taken")
    with pytest.raises(LocalStackError, match=r"^The stack could not be created: DelayerQueue: The name is taken$"):
        wait_for(CloudFormation("ROLLBACK_COMPLETE", later, first))


def test_a_failure_without_a_failed_resource_gives_the_stacks_reason() -> None:
    with pytest.raises(LocalStackError, match="see its events"):
        wait_for(CloudFormation("ROLLBACK_FAILED"))
