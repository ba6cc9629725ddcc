"""Beyond the delayer period: the minute task moves it in time, or on its return. The last module: it waits."""

import json
import os
import time
from typing import Any

from delayer.aws.dynamodb.schedule_table import to_item
from delayer.core.recovery.waiting import WaitingRecords, encode
from delayer.core.schedule.instants import SECOND
from delayer.core.schedule.schedule import SYSTEM_OWNER
from delayer.core.schedule.schedule_id import RANDOM_BYTES
from tests.e2e.client import Client, lateness, millis, now
from tests.samples import STREAM_RECORD, a_schedule

ROUNDS = 5
MEMORY = 1025  # megabytes, other than in the template


def test_the_minute_task_moves_what_enters_the_period(ticking: Client) -> None:
    """It waited in the table, was deleted by the task, and fired to the second."""
    due = millis(ticking.posted["/on-time"].point_in_time)
    wait = max((due - now()) / SECOND, 0) + 10
    (request,) = ticking.arrivals("/on-time", seconds=wait)
    assert lateness(request, due) < SECOND
    swept = [line for line in _lines(ticking, "task-1minute-enqueuer") if line.get("message") == "swept"]
    assert sum(int(line["deleted"]) for line in swept) >= 1, "a canary may be among them"


def test_what_came_due_while_the_minute_task_was_off(client: Client) -> None:
    """It is late, not lost: found by the first tick after the outage."""
    posted = client.posted["/overdue"]
    due = millis(posted.point_in_time)
    time.sleep(max(due + SECOND - now(), 0) / SECOND)
    assert client.receiver.of("/overdue") == []
    record = f"{due}#{posted.id}"
    assert record in _records(client)
    client.switch_minute_task("ENABLED")
    client.stack.invoke("task-1minute-enqueuer", {})
    (request,) = client.arrivals("/overdue", seconds=10)
    assert request.at_ms > due + SECOND
    row = client.ledger_state(posted.id, "executed")
    assert row["state"] == {"S": "executed"}
    assert record not in _records(client)


def test_a_second_tick_finds_nothing_and_harms_nothing(client: Client) -> None:
    client.stack.invoke("task-1minute-enqueuer", {})
    client.stack.invoke("task-1minute-enqueuer", {})
    assert len(client.receiver.of("/overdue")) == 1


def test_a_record_that_was_set_aside_is_brought_back_and_fires(client: Client) -> None:
    """The minute task gives it to the stream's own function. A new environment of it looks into the store at once."""
    action = json.dumps({"type": "http-request", "url": client.receiver.url + "/brought-back"})
    schedule = a_schedule(now(), randomness=os.urandom(RANDOM_BYTES), action=action)
    record = {**STREAM_RECORD, "dynamodb": {**STREAM_RECORD["dynamodb"], "OldImage": to_item(schedule)}}
    waiting = WaitingRecords(records=(record,), reason="a test", at=now())
    s3, bucket = client.stack.client("s3"), client.stack.outputs["DeadLetterBucket"]
    s3.put_object(Bucket=bucket, Key=waiting.key, Body=encode(waiting))
    for number in range(ROUNDS):  # a round in which the stream's function cannot be reached in time leaves it waiting
        # The emulator begins a new environment when the memory size changes, and not when the description does.
        client.stack.client("lambda").update_function_configuration(
            FunctionName="delayer-task-1minute-enqueuer", MemorySize=MEMORY + number
        )
        client.stack.invoke("task-1minute-enqueuer", {})
        still = s3.list_objects_v2(Bucket=bucket, Prefix="waiting/").get("Contents", [])
        if not still:
            break
    assert not still, "\n".join(json.dumps(line) for line in _lines(client, "task-1minute-enqueuer")[-40:])
    client.arrivals("/brought-back")
    client.ledger_state(schedule.id, "executed")


def test_a_canary_arrives(ticking: Client) -> None:
    """Those of even minutes are due half a minute later; the session has begun before, so that one is there by now."""
    deadline = time.monotonic() + 150
    while not (arrived := _canaries(ticking)):
        assert time.monotonic() < deadline, "no canary has arrived"
        time.sleep(0.5)
    assert arrived[0]["detail"] == {"S": "arrived"}
    lateness = [
        line["CanaryNearLateness"] for line in _lines(ticking, "executor-canary") if "CanaryNearLateness" in line
    ]
    assert lateness, "nothing would be known of it"
    cloudwatch: Any = ticking.stack.client("cloudwatch")
    metrics = cloudwatch.list_metrics(Namespace="Delayer", MetricName="CanaryNearLateness")
    assert [metric["Dimensions"] for metric in metrics["Metrics"]] == [[{"Name": "service", "Value": "delayer"}]]


def _lines(client: Client, function: str) -> list[dict]:  # type: ignore[type-arg] # log lines
    return [json.loads(line) for line in client.stack.logs(function).splitlines() if line.startswith("{")]


def _records(client: Client) -> set[str]:
    """The sort keys of the schedules table; other modules have left schedules that are due in an hour."""
    return {row["due"]["S"] for row in client.rows()}


def _canaries(client: Client) -> list[dict]:  # type: ignore[type-arg] # rows of the ledger
    rows = client.stack.client("dynamodb").scan(TableName=client.stack.outputs["LedgerTable"])["Items"]
    return [row for row in rows if row["owner"] == {"S": SYSTEM_OWNER} and row["state"] == {"S": "executed"}]
