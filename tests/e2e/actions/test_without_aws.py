"""The engine has the actions whose targets are in AWS. Where AWS does not answer, they fail alone."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from delayer.schedule.instants import format_instant
from delayer_client import EventPut, LambdaInvoke, Retry, SnsPublish, SqsSend, StepStart
from delayer_client.api.action import AnyAction
from local.receiver import Receiver
from tests.e2e.client import EngineClient, now, until
from tests.e2e.engine import UNREACHED, RunningEngine

PLACE = "eu-west-1:000000000000"
TARGETS: dict[str, AnyAction] = {
    "SQS": SqsSend(queue_url="https://sqs.eu-west-1.amazonaws.com/000000000000/orders"),
    "SNS": SnsPublish(topic_arn=f"arn:aws:sns:{PLACE}:news"),
    "EventBridge": EventPut(event_bus_arn=f"arn:aws:events:{PLACE}:event-bus/orders", source="s", detail_type="d"),
    "Lambda": LambdaInvoke(function_arn=f"arn:aws:lambda:{PLACE}:function:order-due"),
    "Step Functions": StepStart(state_machine_arn=f"arn:aws:states:{PLACE}:stateMachine:order"),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[EngineClient]:
    """Of an engine of its own."""
    with (
        RunningEngine(tmp_path_factory.mktemp("aws") / "data", settings=UNREACHED) as engine,
        closing(EngineClient(engine, receiver, "e2e-without-aws")) as client,
    ):
        yield client


@pytest.mark.parametrize("service", TARGETS)
def test_what_reaches_no_aws_is_attempted_again_and_harms_nobody(client: EngineClient, service: str) -> None:
    """It takes a second or two: boto3 is imported, and tries more than once."""
    made = client.delayer.schedule(
        TARGETS[service], at=format_instant(now()), payload={}, retry=Retry(max_attempts=2, max_age_seconds=60)
    )
    found = until(lambda: client.delayer.get(made.id), lambda one: one.detail)
    assert found.detail == f"no answer from {service}"
    client.schedule(f"/beside/{service[:3]}", now())
    client.arrivals(f"/beside/{service[:3]}")
