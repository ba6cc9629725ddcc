"""Parameters are checked against the template, and a stack that fails says why in one sentence."""

from typing import TYPE_CHECKING, Any, cast

import pytest

from local.deployment.deploy import parameters_for, wait_for
from local.errors import EmulatorError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient


class CloudFormation:
    """Responds as for a stack whose creation has ended."""

    def __init__(self, status: str, *events: dict[str, Any]) -> None:
        self.status = status
        self.events = events

    def describe_stacks(self, StackName: str) -> dict[str, Any]:  # noqa: N803 - boto3's name
        return {"Stacks": [{"StackStatus": self.status, "StackStatusReason": "see its events"}]}

    def describe_stack_events(self, StackName: str) -> dict[str, Any]:  # noqa: N803 - boto3's name
        return {"StackEvents": self.events}


def ended(status: str, *events: dict[str, Any]) -> "CloudFormationClient":
    return cast("CloudFormationClient", CloudFormation(status, *events))


def event(at: int, name: str, status: str, reason: str) -> dict[str, Any]:
    return {"Timestamp": at, "LogicalResourceId": name, "ResourceStatus": status, "ResourceStatusReason": reason}


def test_an_unknown_parameter_is_refused_with_the_known_ones() -> None:
    with pytest.raises(EmulatorError, match=r"no parameter Shrads; it has: LogLevel, Shards\."):
        parameters_for({"Shards": {}, "LogLevel": {}}, {"Shrads": "2"})


def test_one_machines_parameters_are_given_where_the_template_has_them() -> None:
    given = parameters_for({"AllowPrivateTargets": {}, "PrivateTargetsAccount": {}, "Shards": {}}, {"Shards": "2"})
    assert given == [
        {"ParameterKey": "AllowPrivateTargets", "ParameterValue": "true"},
        {"ParameterKey": "PrivateTargetsAccount", "ParameterValue": "000000000000"},
        {"ParameterKey": "Shards", "ParameterValue": "2"},
    ]


def test_a_created_stack_is_returned() -> None:
    assert wait_for(ended("CREATE_COMPLETE"))["StackStatus"] == "CREATE_COMPLETE"


def test_the_first_failed_resource_gives_the_reason() -> None:
    later = event(2, "Relay", "CREATE_FAILED", "Resource creation cancelled")
    first = event(1, "DelayerQueue", "CREATE_FAILED", "The name\nis taken")
    with pytest.raises(EmulatorError, match=r"^The stack could not be created: DelayerQueue: The name is taken$"):
        wait_for(ended("ROLLBACK_COMPLETE", later, first))


def test_a_failure_without_a_failed_resource_gives_the_stacks_reason() -> None:
    with pytest.raises(EmulatorError, match="see its events"):
        wait_for(ended("ROLLBACK_FAILED"))
