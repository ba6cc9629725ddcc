"""What is said of the account before a deployment, and which stacks cannot be deployed to."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from operate.deploy.account import (
    Stack,
    clear_pollers,
    concurrency_of,
    refuse_what_cannot_be_updated,
    said_of_bounds,
    said_of_concurrency,
    say_concurrency,
    stack_of,
)
from operate.deploy.errors import TemplateError


class Answering:
    """A client that answers, or raises."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __getattr__(self, name: str) -> Any:
        def call(**_: Any) -> Any:
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        return call


def error(code: str, message: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "Call")


def test_no_stack_and_one_that_is_only_looked_at_are_none() -> None:
    assert stack_of(Answering(error("ValidationError", "Stack with id x does not exist")), "x") == Stack()
    assert not stack_of(Answering({"Stacks": [{"StackStatus": "REVIEW_IN_PROGRESS"}]}), "x").is_there
    with pytest.raises(ClientError):
        stack_of(Answering(error("AccessDenied", "no")), "x")


def test_a_stack_has_its_values_but_not_those_that_are_hidden() -> None:
    described = {
        "StackStatus": "UPDATE_COMPLETE",
        "Parameters": [
            {"ParameterKey": "LogLevel", "ParameterValue": "INFO"},
            {"ParameterKey": "FailedWebhookUrl", "ParameterValue": "****"},
        ],
        "Outputs": [{"OutputKey": "Actions", "OutputValue": "remote,canary"}],
    }
    stack = stack_of(Answering({"Stacks": [described]}), "x")
    assert (stack.value("LogLevel"), stack.value("FailedWebhookUrl"), stack.value("Actions")) == (
        "INFO",
        "",
        "remote,canary",
    )


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("ROLLBACK_COMPLETE", "delete-stack --stack-name delayer --region eu-west-1"),
        ("ROLLBACK_FAILED", "describe-stack-events"),
        ("UPDATE_IN_PROGRESS", "Wait until that has ended"),
    ],
)
def test_a_stack_that_cannot_be_updated_says_what_to_do(status: str, sentence: str) -> None:
    with pytest.raises(TemplateError, match=sentence):
        refuse_what_cannot_be_updated(Stack(status=status), "delayer", "eu-west-1")


def test_one_that_can_is_let_through() -> None:
    for status in ("", "CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"):
        refuse_what_cannot_be_updated(Stack(status=status), "delayer", "eu-west-1")


def test_with_enough_nothing_has_to_be_done() -> None:
    [said] = said_of_concurrency(1000, 1000, "small", "eu-west-1")
    assert "made for 1,000" in said


def test_with_ten_it_says_what_will_happen_and_what_to_set() -> None:
    happens, ask, until = said_of_concurrency(10, 1000, "small", "eu-west-1")
    assert "nothing is lost" in happens
    assert "--quota-code L-B99A9384 --desired-value 1000 --region eu-west-1" in ask
    assert "RelayConcurrency=2 ExecutorConcurrency=2" in until


@pytest.mark.parametrize(
    ("allowed", "relay", "said"),
    [(1000, 2, "RelayConcurrency is lower than the default"), (1000, 100, ""), (10, 2, ""), (None, 2, "")],
)
def test_what_was_set_for_ten_is_to_be_set_back_when_the_account_has_grown(
    allowed: int | None, relay: int, said: str
) -> None:
    """Parameters keep their values, and two relays would be late for ever."""
    lines = list(said_of_bounds(allowed, 1000, {"RelayConcurrency": (relay, 100), "ExecutorConcurrency": (100, 100)}))
    assert len(lines) == bool(said)
    assert all(said in line and line.endswith('PARAMETERS="RelayConcurrency=100"') for line in lines)


class Mappings:
    """Those of a stack, and one of another; two have provisioned pollers."""

    def __init__(self) -> None:
        self.pollers: dict[str, dict[str, int]] = {"a": {"MinimumPollers": 30}, "b": {}, "other": {"MinimumPollers": 2}}

    def get_paginator(self, operation: str) -> "Mappings":
        assert operation == "list_stack_resources"
        return self

    def paginate(self, StackName: str) -> list[dict[str, Any]]:  # noqa: N803
        assert StackName == "delayer"
        kinds = {"a": "AWS::Lambda::EventSourceMapping", "b": "AWS::Lambda::EventSourceMapping", "q": "AWS::SQS::Queue"}
        listed = [{"PhysicalResourceId": name, "ResourceType": kind} for name, kind in kinds.items()]
        return [{"StackResourceSummaries": listed[:1]}, {"StackResourceSummaries": listed[1:]}]

    def get_event_source_mapping(self, UUID: str) -> dict[str, Any]:  # noqa: N803
        return {"ProvisionedPollerConfig": self.pollers[UUID]} if self.pollers[UUID] else {}

    def update_event_source_mapping(self, UUID: str, ProvisionedPollerConfig: dict[str, int]) -> None:  # noqa: N803
        self.pollers[UUID] = ProvisionedPollerConfig


def test_from_large_to_small_the_pollers_of_this_stack_go_first() -> None:
    mappings = Mappings()
    assert clear_pollers(mappings, mappings, "delayer") == 1
    assert mappings.pollers == {"a": {}, "b": {}, "other": {"MinimumPollers": 2}}


def test_large_has_no_such_parameters() -> None:
    said = list(said_of_concurrency(1000, 3000, "large", "eu-west-1"))
    assert len(said) == 2
    assert "--desired-value 3000" in said[1]


def test_without_the_right_to_read_it_the_deployment_goes_on() -> None:
    assert concurrency_of(Answering({"AccountLimit": {"ConcurrentExecutions": 10}})) == 10
    assert concurrency_of(Answering(error("AccessDeniedException", "no"))) is None
    with pytest.raises(ClientError):
        concurrency_of(Answering(error("ServiceException", "no")))
    said: list[object] = []
    say_concurrency(None, 1000, "small", "eu-west-1", said.append)
    assert "lambda:GetAccountSettings" in str(said)
