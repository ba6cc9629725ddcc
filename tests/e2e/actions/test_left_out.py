"""A stack whose Actions leave some out, and which is then given another list (ADR 0155)."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from delayer.schedule.instants import SECOND
from local.deployment.deploy import CODE_BUCKET, TEMPLATE_KEY, packaged_from, upload
from local.project import PROJECT
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.e2e.client import StackClient, now

pytestmark = pytest.mark.thorough

TWO = "http-request,sqs-send,remote,canary"
MACHINE = "arn:aws:states:us-east-1:000000000000:stateMachine:delayer-target-machine"
STARTS = {"delaySeconds": 3600, "action": {"type": "step-start", "stateMachineArn": MACHINE}, "payload": {}}


@pytest.fixture(scope="module")
def few(receiver: Receiver) -> Iterator[StackClient]:
    parameters = {"DelayerPeriod": "60", "Actions": TWO, "Policies": "spread", "Subscribers": ""}
    with (
        EmulatedStack(parameters=parameters, starts_functions=False) as stack,
        closing(StackClient(stack, receiver)) as few,
    ):
        yield few


def updated(few: StackClient, actions: str) -> str:
    """The status of the stack after an update with another list."""
    cloudformation = few.stack.client("cloudformation")
    [known] = cloudformation.describe_stacks(StackName="delayer")["Stacks"]
    kept: Any = [{"ParameterKey": one["ParameterKey"], "UsePreviousValue": True} for one in known["Parameters"]]
    upload(few.stack.client("s3"), packaged_from(PROJECT / "template.yaml", {"Actions": actions}))
    cloudformation.update_stack(
        StackName="delayer",
        TemplateURL=f"https://s3.amazonaws.com/{CODE_BUCKET}/{TEMPLATE_KEY}",
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
        Parameters=kept,
    )
    deadline = time.monotonic() + 120
    while known["StackStatus"].endswith("IN_PROGRESS") or known["StackStatus"] == "CREATE_COMPLETE":
        assert time.monotonic() < deadline, known["StackStatus"]
        time.sleep(0.1)
        [known] = cloudformation.describe_stacks(StackName="delayer")["Stacks"]
    return str(known["StackStatus"])


def types(few: StackClient) -> list[str]:
    """What the API says that there is."""
    return sorted(one.type for one in few.delayer.actions())


def test_what_is_named_fires(few: StackClient) -> None:
    """It takes seconds: it is due in one, and functions start."""
    few.schedule("/few", now() + SECOND, {"a": 1})
    assert few.arrivals("/few")
    assert types(few) == ["http-request", "sqs-send"]


def test_what_is_left_out_is_refused_like_an_unknown_type(few: StackClient) -> None:
    status, _, problem = few.post(STARTS)
    assert status == 422
    [error] = problem["errors"]
    assert error == {
        "field": "action.type",
        "problem": 'not allowed: "step-start"',
        "allowed": "http-request, sqs-send",
    }


def test_a_policy_that_is_left_out_is_refused_and_another_decides(few: StackClient) -> None:
    """It takes some seconds: functions start."""
    timed = {"action": {"type": "http-request", "url": f"{few.receiver.url}/decided"}, "payload": 1}
    status, _, problem = few.post({**timed, "when": {"policy": "next-business-hour"}})
    assert (status, problem["errors"][0]["field"]) == (422, "when.policy")
    assert problem["errors"][0]["allowed"] == "spread"
    assert few.post({**timed, "when": {"policy": "spread", "seconds": 1}})[0] == 201
    assert few.arrivals("/decided")
    functions = {one["FunctionName"] for one in few.stack.client("lambda").list_functions()["Functions"]}
    assert {one for one in functions if "policy-" in one or "subscriber-" in one} == {"delayer-policy-spread"}


def test_another_list_brings_one_and_takes_one_out(few: StackClient) -> None:
    """The queue of what is taken out is kept, and what may be in it.

    It takes up to a minute: so long an API may go on with the registrations that it has read.
    """
    sqs = few.stack.client("sqs")
    [queue] = sqs.list_queues(QueueNamePrefix="delayer-executor-sqs-send")["QueueUrls"]
    assert updated(few, "http-request,step-start,remote,canary") == "UPDATE_COMPLETE"
    assert sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]
    functions = {one["FunctionName"] for one in few.stack.client("lambda").list_functions()["Functions"]}
    assert "delayer-executor-step-start" in functions
    assert "delayer-executor-sqs-send" not in functions
    registered = few.stack.client("dynamodb").get_item(
        TableName=few.stack.outputs["ControlTable"], Key={"name": {"S": "actions"}}
    )["Item"]
    assert "step-start" in str(registered)
    assert "sqs-send" not in str(registered)
    accepted_within_a_minute(few)


def accepted_within_a_minute(few: StackClient) -> None:
    """An API that has read the registrations before goes on with them for a while."""
    deadline = time.monotonic() + 60
    while (answer := few.post(STARTS))[0] != 201:
        assert time.monotonic() < deadline, answer
        time.sleep(1.1)
