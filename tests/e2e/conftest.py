"""Two real stacks on the embedded AWS: in one the minute task runs, in the other it is switched off at first.

What has to wait for minutes is scheduled when the session begins, and looked at by the last module.
"""

from collections.abc import Iterator
from contextlib import closing

import pytest

from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.e2e.client import Client

PARAMETERS = {"DelayerPeriod": "60"}
FAILURES = "/failures"  # the path of the webhook for schedules that failed
EVERY_NAME = "*"  # so that nothing but the stack's own guards keeps sqs-send from its queues
TARGET_ROLE = "arn:aws:iam::000000000000:role/delayer-target-role"


@pytest.fixture(scope="session")
def receiver() -> Iterator[Receiver]:
    """The target of all http-request actions."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture(scope="session")
def ticking(receiver: Receiver) -> Iterator[Client]:
    """A stack without lifecycle events, that has quotas."""
    own = {"Lifecycle": "off", "MaxCreatesPerMinute": "5"}
    with EmulatedStack(parameters={**PARAMETERS, **own}) as stack, closing(Client(stack, receiver)) as client:
        yield client


@pytest.fixture(scope="session")
def client(receiver: Receiver) -> Iterator[Client]:
    """A stack whose minute task is switched off."""
    own = {"SqsTargetNamePattern": EVERY_NAME, "TargetRoleArns": TARGET_ROLE}
    own["FailedWebhookUrl"] = receiver.url + FAILURES
    with EmulatedStack(parameters={**PARAMETERS, **own}) as stack, closing(Client(stack, receiver)) as client:
        client.switch_minute_task("DISABLED")
        yield client


@pytest.fixture(scope="session", autouse=True)
def scheduled_early(ticking: Client, client: Client) -> None:
    """Beyond the delayer period, when the session begins."""
    for each, path in ((ticking, "/on-time"), (client, "/overdue")):
        each.beyond_the_period(path)
