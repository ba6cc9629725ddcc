"""Readers of lifecycle events: the one that is shipped calls a webhook for schedules that failed."""

import json
import time
from collections.abc import Iterator

import pytest

from local.receiver import ReceivedRequest
from tests.e2e.client import PATIENCE, StackClient, now
from tests.e2e.stacks.attaching import Arrivals, Shared
from tests.e2e.stacks.kinds import FAILURES

VISIBILITY = 1  # seconds in place of the template's 120: an event that was not taken comes again after them


@pytest.fixture
def impatient(on_aws: StackClient) -> Iterator[StackClient]:
    sqs = on_aws.stack.client("sqs")
    [url] = sqs.list_queues(QueueNamePrefix="delayer-subscriber-failed-webhook")["QueueUrls"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": str(VISIBILITY)})
    yield on_aws
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "120"})


def failing(client: StackClient, path: str, status: int = 404) -> str:
    """A schedule that its target refuses for good."""
    client.receiver.answer(path, status)
    schedule_id = client.schedule(path, now()).id
    client.ledger_state(schedule_id, "failed")
    return schedule_id


def calls_about(arrivals: Arrivals, schedule_id: str, count: int, seconds: float = PATIENCE) -> list[ReceivedRequest]:
    """The calls of the webhook about one schedule, once there are so many."""
    deadline = time.monotonic() + seconds
    while True:
        found = [one for one in arrivals.of(FAILURES) if json.loads(one.body)["subject"] == schedule_id]
        if len(found) >= count:
            return found
        assert time.monotonic() < deadline, f"{len(found)} of {count} calls"
        time.sleep(0.05)


def test_the_webhook_gets_a_failure_once_and_nothing_else(on_aws: StackClient, main: Shared) -> None:
    """It takes a second or two: each event passes three functions."""
    done = on_aws.schedule("/not-failed", now()).id
    on_aws.ledger_state(done, "executed")
    schedule_id = failing(on_aws, "/refused-for-good")
    [call] = calls_about(main.arrivals, schedule_id, 1)
    event = json.loads(call.body)
    assert (event["type"], event["data"]["state"]) == ("delayer.schedule.failed", "failed")
    assert event["data"]["detail"] == "HTTP 404"
    assert call.headers["idempotency-key"] == event["id"]
    assert call.headers["content-type"] == "application/cloudevents+json"
    on_aws.history(schedule_id, "failed")
    last = failing(on_aws, "/refused-later")
    calls_about(main.arrivals, last, 1)
    assert len(calls_about(main.arrivals, schedule_id, 1)) == 1
    kinds = {json.loads(one.body)["type"] for one in main.arrivals.of(FAILURES)}
    assert kinds <= {"delayer.schedule.failed", "delayer.schedule.dead-lettered"}


@pytest.mark.thorough
def test_an_event_that_was_not_taken_comes_again(impatient: StackClient, main: Shared) -> None:
    """It takes some seconds: an event that was not taken is hidden for one, each time."""
    main.arrivals.refuse(True)
    schedule_id = failing(impatient, "/refused-twice")
    calls_about(main.arrivals, schedule_id, 2)
    main.arrivals.refuse(False)
    deadline = time.monotonic() + PATIENCE
    while (calls := calls_about(main.arrivals, schedule_id, 2))[-1].status != 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert len({json.loads(call.body)["id"] for call in calls}) == 1, "the same event"
    time.sleep(2 * VISIBILITY)
    assert [call.status for call in calls_about(main.arrivals, schedule_id, 2)] == [*[503] * (len(calls) - 1), 200]
