"""A queue of the template outlives its stack, with what waits in it, and goes on in a new one (ADR 0074)."""

import json
import time
from typing import Any

import pytest
from attrs import evolve

from delayer.engines.aws.messaging import SqsQueue
from delayer.engines.ports import Outgoing
from operate.move_queues import prepared, queues_of
from tests.cfn import expanded
from tests.contract.conftest import Aws
from tests.contract.engines import EMULATOR, wanted

QUEUES = ("DelayerQueue", "SuspectsQueue")


@pytest.fixture(scope="module", params=wanted(EMULATOR))
def aws(request: pytest.FixtureRequest, engines: Any) -> Aws:
    """moto deletes what is to be kept."""
    return lambda service: engines.client(request.param, service)


def queues_alone(names: tuple[str, ...] = QUEUES) -> str:
    """As they are in the template."""
    return json.dumps({"Resources": {name: expanded()["Resources"][name] for name in names}})


def a_stack(aws: Aws, name: str, queues: tuple[str, ...] = QUEUES) -> dict[str, str]:
    """Its queues."""
    cloudformation = aws("cloudformation")
    cloudformation.create_stack(StackName=name, TemplateBody=queues_alone(queues))
    cloudformation.get_waiter("stack_create_complete").wait(StackName=name)
    return queues_of(aws("sqs"), name)


def test_what_waits_outlives_its_stack(aws: Aws) -> None:
    old, new = a_stack(aws, "old"), a_stack(aws, "new")
    assert set(old) == set(new) == set(QUEUES)
    sqs, cloudformation = aws("sqs"), aws("cloudformation")
    SqsQueue(sqs=sqs, url=old["DelayerQueue"]).send([Outgoing(body="waits")])
    cloudformation.delete_stack(StackName="old")
    cloudformation.get_waiter("stack_delete_complete").wait(StackName="old")
    assert queues_of(sqs, "old") == old
    assert moved(aws, "old", "new") == 1
    received = sqs.receive_message(QueueUrl=new["DelayerQueue"])["Messages"]
    assert [one["Body"] for one in received] == ["waits"]


def moved(aws: Aws, old: str, new: str) -> int:
    """How many messages, by a clock that the command's pauses move."""
    began, slept = time.monotonic(), [0.0]

    def sleep(seconds: float) -> None:
        slept[0] += seconds

    move = prepared(aws("sqs"), aws("cloudformation"), old, new)
    return evolve(move, sleep=sleep, now=lambda: began + slept[0])()


def test_what_was_claimed_outlives_its_executor(aws: Aws) -> None:
    """It goes to executor-remote, for which its type is unknown."""
    remote = ("ExecutorremoteQueue", "SuspectsQueue")
    both = (*remote, "ExecutorsqssendQueue")
    before = a_stack(aws, "running", both)
    sqs, cloudformation = aws("sqs"), aws("cloudformation")
    SqsQueue(sqs=sqs, url=before["executor-sqs-send"]).send([Outgoing(body="claimed")])
    cloudformation.update_stack(StackName="running", TemplateBody=queues_alone(remote))
    cloudformation.get_waiter("stack_update_complete").wait(StackName="running", WaiterConfig={"Delay": 1})
    assert moved(aws, "running", "running") == 1
    received = sqs.receive_message(QueueUrl=before["executor-remote"], MaxNumberOfMessages=10)["Messages"]
    assert [one["Body"] for one in received] == ["claimed"]
