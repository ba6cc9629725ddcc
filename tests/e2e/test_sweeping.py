"""Beyond the delayer period: the minute task moves it in time, or on its return; and what outages do.

What has to wait for minutes was scheduled when the stacks of the run were started, so this module comes late.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from delayer.dead_letters.model import WaitingRecords, encode_waiting
from delayer.engines.aws.expressions import to_attributes
from delayer.records.repository import to_item
from delayer.schedule.instants import SECOND, parse_instant
from delayer.schedule.schedule import SYSTEM_OWNER
from delayer.schedule.schedule_id import RANDOM_BYTES
from local.receiver import Receiver
from local.stack.running_stack import RunningStack
from tests.e2e.client import PATIENCE, StackClient, lateness, now, sleep_until
from tests.e2e.stacks.attaching import Shared
from tests.e2e.stacks.kinds import ON_TIME, OVERDUE
from tests.e2e.stacks.minute_task import switch_minute_task
from tests.samples import STREAM_RECORD, a_schedule

ROUNDS = 5
MEMORY = 1025  # megabytes, other than in the template


@pytest.fixture(scope="module")
def broken(outages: Shared, receiver: Receiver) -> Iterator[StackClient]:
    """A client of the stack to which all this is done."""
    with closing(StackClient(outages.stack, receiver, "e2e-outages")) as client:
        yield client


def test_the_minute_task_moves_what_enters_the_period(main: Shared) -> None:
    """It waited in the table, was deleted by the task, and fired on time.

    If nothing else has run before, it takes two minutes: one of the period, and one until the task comes.
    """
    due = parse_instant(main.early[ON_TIME]["pointInTime"])
    (request,) = main.arrivals.wait_for(1, ON_TIME, max((due - now()) / SECOND, 0) + PATIENCE)
    lateness(request, due)
    swept = [line for line in _lines(main.stack, "task-1minute-enqueuer") if line.get("message") == "swept"]
    assert sum(int(line["deleted"]) for line in swept) >= 1, "a canary may be among them"


def test_with_the_journal_down_all_is_answered_but_the_history(broken: StackClient) -> None:
    """It fires and is cancelled just the same; the history is there once the journal is.

    It takes some seconds: each function of this stack starts when it is asked first.
    """
    client, delayer = broken, broken.delayer
    client.switch_journal(enabled=False)
    try:
        fired = client.schedule("/journal-down", now() + SECOND).id
        cancelled = client.schedule("/journal-down-cancelled", now() + 30 * SECOND).id
        assert delayer.cancel(cancelled)
        client.arrivals("/journal-down")
        client.ledger_state(fired, "executed")
        for schedule_id, state in ((fired, "executed"), (cancelled, "cancelled")):
            found = delayer.get(schedule_id)
            assert (found.state, found.history) == (state, None)
    finally:
        client.switch_journal(enabled=True)
    history = client.history(fired, "executed", beside=("enqueued", "claimed"))
    assert [line.event for line in history] == ["scheduled", "enqueued", "claimed", "executed"]
    assert client.history(cancelled, "cancelled")


@pytest.mark.promise(2)
@pytest.mark.promise(4)
def test_what_came_due_while_the_minute_task_was_off(outages: Shared, broken: StackClient) -> None:
    """It is late, not lost: found by the first tick after the outage.

    If nothing else has run before, it takes two minutes: so long nobody looks for it.
    """
    posted = outages.early[OVERDUE]
    due = parse_instant(posted["pointInTime"])
    sleep_until(due + SECOND)
    assert outages.arrivals.of(OVERDUE) == []
    record = f"{due}#{posted['scheduleId']}"
    assert record in _records(broken)
    switch_minute_task(outages.stack, "ENABLED")
    outages.stack.invoke("task-1minute-enqueuer", {})
    (request,) = outages.arrivals.wait_for(1, OVERDUE, PATIENCE)
    assert request.at_ms > due + SECOND
    row = broken.ledger_state(posted["scheduleId"], "executed")
    assert row["state"] == {"S": "executed"}
    assert record not in _records(broken)
    for _ in range(2):  # more ticks find nothing, and harm nothing
        outages.stack.invoke("task-1minute-enqueuer", {})
    assert len(outages.arrivals.of(OVERDUE)) == 1


def test_a_record_that_was_set_aside_is_brought_back_and_fires(broken: StackClient) -> None:
    """The minute task gives it to the stream's own function. A new environment of it looks into the store at once.

    It takes some seconds: in each round an environment starts.
    """
    action = json.dumps({"type": "http-request", "url": broken.receiver.url + "/brought-back"})
    schedule = a_schedule(now(), randomness=os.urandom(RANDOM_BYTES), action=action)
    record = {**STREAM_RECORD, "dynamodb": {**STREAM_RECORD["dynamodb"], "OldImage": to_attributes(to_item(schedule))}}
    waiting = WaitingRecords(records=(record,), reason="a test", at=now())
    s3, bucket = broken.stack.client("s3"), broken.stack.outputs["DeadLetterBucket"]
    s3.put_object(Bucket=bucket, Key=waiting.key, Body=encode_waiting(waiting))
    for number in range(ROUNDS):  # a round in which the stream's function cannot be reached in time leaves it waiting
        # The emulator begins a new environment when the memory size changes, and not when the description does.
        broken.stack.client("lambda").update_function_configuration(
            FunctionName="delayer-task-1minute-enqueuer", MemorySize=MEMORY + number
        )
        broken.stack.invoke("task-1minute-enqueuer", {})
        still = s3.list_objects_v2(Bucket=bucket, Prefix="waiting/").get("Contents", [])
        if not still:
            break
    assert not still, "\n".join(json.dumps(line) for line in _lines(broken.stack, "task-1minute-enqueuer")[-40:])
    broken.arrivals("/brought-back")
    broken.ledger_state(schedule.id, "executed")


def test_a_canary_arrives(main: Shared) -> None:
    """Those of even minutes are due half a minute later.

    If nothing else has run before, it takes up to two and a half minutes.
    """
    deadline = time.monotonic() + 150
    while not (arrived := _canaries(main.stack)):
        assert time.monotonic() < deadline, "no canary has arrived"
        time.sleep(0.5)
    assert arrived[0]["detail"] == {"S": "arrived"}
    late = [
        line["CanaryNearLateness"] for line in _lines(main.stack, "executor-canary") if "CanaryNearLateness" in line
    ]
    assert late, "nothing would be known of it"
    cloudwatch: Any = main.stack.client("cloudwatch")
    metrics = cloudwatch.list_metrics(Namespace="Delayer", MetricName="CanaryNearLateness")
    assert [metric["Dimensions"] for metric in metrics["Metrics"]] == [[{"Name": "service", "Value": "delayer"}]]


def _lines(stack: RunningStack, function: str) -> list[dict]:  # type: ignore[type-arg] # log lines
    return [json.loads(line) for line in stack.logs(function).splitlines() if line.startswith("{")]


def _records(client: StackClient) -> set[str]:
    """The sort keys of the schedules table; other modules have left schedules that are due in an hour."""
    return {row["due"]["S"] for row in client.rows()}


def _canaries(stack: RunningStack) -> list[dict]:  # type: ignore[type-arg] # rows of the ledger
    rows = stack.client("dynamodb").scan(TableName=stack.outputs["LedgerTable"])["Items"]
    return [row for row in rows if row["owner"] == {"S": SYSTEM_OWNER} and row["state"] == {"S": "executed"}]
