"""A record that cannot be read, a target that is down, a malformed suspect; the others fire."""

import json
from functools import partial

import pytest

from delayer.schedule.instants import SECOND
from delayer_client import Backoff, HttpRequest, Retry
from tests.e2e.client import Client, StackClient, lateness, millis, now, until


def test_a_record_that_cannot_be_read_beside_good_ones(on_aws: StackClient) -> None:
    """It is dead-lettered with its whole body, is shown without what may be a secret, and can be discarded.

    It takes two seconds: the good ones are on their way meanwhile.
    """
    dynamodb, table = on_aws.stack.client("dynamodb"), on_aws.stack.outputs["SchedulesTable"]
    key = {"bucket": {"S": "2026-11-21T09:00#0"}, "due": {"S": "garbage"}}
    due = now() + 2 * SECOND
    on_aws.schedule("/good-1", due)
    dynamodb.put_item(TableName=table, Item={**key, "v": {"N": "1"}, "note": {"S": "only copy"}, "secret": {"S": "x"}})
    dynamodb.delete_item(TableName=table, Key=key)
    on_aws.schedule("/good-2", due)
    for path in ("/good-1", "/good-2"):
        lateness(on_aws.arrivals(path)[0], due)
    (entry,) = on_aws.dead_letters("dead-lettered/malformed/")
    shown = on_aws.operate("show", key=entry["key"])
    image = json.loads(shown["body"])["dynamodb"]["OldImage"]
    assert (image["note"], image["secret"]) == ({"S": "only copy"}, "***")
    on_aws.operate("discard", key=entry["key"])
    assert on_aws.operate("list", prefix="dead-lettered/malformed/") == {"deadLetters": []}


def test_a_target_that_is_down_at_first(client: Client) -> None:
    """Two answers of 503, then 200: three attempts, one idempotency key. It takes seconds, as the retries do."""
    client.receiver.fail_first("/down", 2)
    posted = client.schedule("/down", now())
    requests = client.arrivals("/down", count=3)
    assert [request.status for request in requests] == [503, 503, 200]
    assert {request.headers["idempotency-key"] for request in requests} == {posted.id}
    assert [request.headers["delayer-attempt"] for request in requests] == ["1", "2", "3"]
    client.ended(posted.id, "executed")


@pytest.mark.thorough
def test_a_policy_of_its_own_and_when_the_next_attempt_is(on_aws: StackClient) -> None:
    """First the delay that the target asks for, then one of its own, which is made to last longer than its message.

    So a second message waits on for the third attempt, as in a delay of hours; that is no attempt. The delays take a
    quarter of a minute.
    """
    on_aws.receiver.fail_first("/patient", 2)
    on_aws.receiver.ask_for_delay("/patient", 3)
    retry = Retry(max_attempts=3, max_age_seconds=60, backoff=Backoff(first=5, factor=1, max=5))
    schedule_id = on_aws.delayer.schedule(on_aws.target("/patient"), delay=0, retry=retry).id
    [first] = on_aws.arrivals("/patient")
    shown = on_aws.waiting_for(schedule_id, attempt=2)
    asked = millis(shown.next_attempt_at) - first.at_ms
    assert asked >= 3 * SECOND
    _, second = on_aws.arrivals("/patient", count=2)
    assert second.at_ms - first.at_ms >= asked
    shown = on_aws.waiting_for(schedule_id, attempt=3)
    later = millis(shown.next_attempt_at) + 5 * SECOND
    on_aws.stack.client("dynamodb").update_item(
        TableName=on_aws.stack.outputs["LedgerTable"],
        Key={"scheduleId": {"S": schedule_id}},
        UpdateExpression="SET retryAt = :later",
        ExpressionAttributeValues={":later": {"N": str(later)}},
    )
    *_, third = on_aws.arrivals("/patient", count=3)
    assert third.at_ms >= later
    assert third.headers["delayer-attempt"] == "3"
    history = on_aws.history(schedule_id, "executed")
    assert [one.event for one in history[-4:]] == ["claimed", "attempt-failed", "attempt-failed", "executed"]
    assert [one.next_attempt_at is not None for one in history[-4:]] == [False, True, True, False]
    waits = [millis(one.next_attempt_at) - millis(one.at) for one in history[-3:-1]]
    assert waits[0] == 3 * SECOND, "what the target has asked for"
    assert 3 * SECOND <= waits[1] <= 6 * SECOND, "its own, more or less"
    shown = on_aws.delayer.get(schedule_id)
    assert (shown.retry, shown.next_attempt_at) == (retry, None)
    assert int(on_aws.ledger_row(schedule_id)["revision"]["N"]) == 5, "claim, two retries, a hop, and the outcome"


def test_a_target_that_refuses_fails_and_can_be_redriven(client: Client) -> None:
    """Its dead letter has the payload and the reason; redriven, it fires once more."""
    client.receiver.fail_first("/refuses", 1, status=404)
    posted = client.schedule("/refuses", now(), payload="kept")
    client.ended(posted.id, "failed")
    (entry,) = client.dead_letters(f"failed/{posted.id}/")
    assert entry["reason"] == "HTTP 404"
    client.operate("redrive", key=entry["key"])
    requests = client.arrivals("/refuses", count=2)
    assert [request.status for request in requests] == [404, 200]
    assert requests[1].body == b'"kept"'
    client.ended(posted.id, "executed")


@pytest.mark.thorough
def test_many_are_redriven_with_one_command(client: Client) -> None:
    """As an operator does it: first what would happen, then all of them.

    It takes some seconds: each command is a process.
    """
    client.receiver.fail_first("/many", 5, status=410)
    posted = [client.schedule("/many", now()) for _ in range(5)]
    for one in posted:
        client.ended(one.id, "failed")

    def run(*arguments: str) -> str:
        return client.commanded("dead-letters", "redrive", "--reason", "HTTP 410", *arguments)

    assert "5 schedules would be redriven" in run("--dry-run")
    assert "5 schedules redriven, 0 left as they are." in run("--yes")
    assert [request.status for request in client.arrivals("/many", count=10)] == [410] * 5 + [200] * 5
    for one in posted:
        client.ended(one.id, "executed")


def test_a_target_that_nobody_listens_to(client: Client) -> None:
    """It fails after the attempts that it has, which are a second apart."""
    nobody = HttpRequest(url="http://127.0.0.1:9/nobody")
    posted = client.delayer.schedule(nobody, delay=0, retry=Retry(max_attempts=2))
    detail = client.ended(posted.id, "failed").detail
    assert str(detail).startswith("gave up after 2 attempts: no answer from 127.0.0.1:9")


def test_a_malformed_suspect_is_stored_as_a_dead_letter(on_aws: StackClient) -> None:
    """What no function can read goes to the relay."""
    sqs = on_aws.stack.client("sqs")
    (url,) = [u for u in sqs.list_queues()["QueueUrls"] if "SuspectsQueue" in u]
    sqs.send_message(QueueUrl=url, MessageBody="nobody can read this")
    (entry,) = on_aws.dead_letters("dead-lettered/malformed/")
    assert entry["source"] == "delayer-relay"
    on_aws.operate("discard", key=entry["key"])


@pytest.mark.promise(6)
def test_a_message_that_cannot_be_read_beside_good_ones(on_aws: StackClient) -> None:
    """The good one is on time. It takes two seconds: both are on their way meanwhile."""
    sqs = on_aws.stack.client("sqs")
    due = now() + 2 * SECOND
    sqs.send_message(QueueUrl=on_aws.stack.outputs["DelayerQueueUrl"], MessageBody='{"v": 1}', DelaySeconds=1)
    on_aws.schedule("/beside", due)
    lateness(on_aws.arrivals("/beside")[0], due)
    (entry,) = on_aws.dead_letters("dead-lettered/malformed/")
    on_aws.operate("discard", key=entry["key"])


def test_a_wrong_command_is_answered_with_the_right_ones(on_aws: StackClient) -> None:
    answer = on_aws.stack.invoke("operator-dead-letters", {"command": "destroy"})
    assert not answer["ok"]
    assert "redrive" in answer["error"]
    answer = on_aws.stack.invoke("operator-dead-letters", {"command": "redrive", "key": "dead-lettered/none"})
    assert "nothing is stored" in answer["error"]


def test_every_line_of_the_firing_path_has_the_schedule_id(on_aws: StackClient) -> None:
    """It may take a second: the logs are waited for."""
    posted = on_aws.schedule("/logged", now())
    on_aws.ledger_state(posted.id, "executed")

    def said_by(function: str) -> list[str]:
        """What its log says of the schedule: it is written after the function has answered."""
        lines = [line for line in on_aws.stack.logs(function).splitlines() if posted.id in line]
        return [str(json.loads(line)["message"]) for line in lines if line.startswith("{") and line.endswith("}")]

    for function, event in (
        ("api-schedule-post", "accepted"),
        ("stream-enqueuer", "enqueued"),
        ("delayer-relay", "claimed"),
        ("executor-http-request", "executed"),
    ):
        assert until(partial(said_by, function)) == [event], function
    metrics = on_aws.stack.logs("executor-http-request")
    assert '"Name":"Lateness"' in metrics.replace(" ", "")
