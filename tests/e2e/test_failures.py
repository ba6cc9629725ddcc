"""A record that cannot be read, a target that is down, a dead-letter queue; the neighbours fire."""

import json
import time

from delayer.core.instants import SECOND
from tests.e2e.client import Client, lateness, now


def test_a_record_that_cannot_be_read_beside_good_ones(client: Client) -> None:
    """It is set aside with its whole body, and can be thrown away."""
    dynamodb, table = client.stack.client("dynamodb"), client.stack.outputs["SchedulesTable"]
    key = {"bucket": {"S": "2026-11-21T09:00#0"}, "due": {"S": "garbage"}}
    due = now() + 2 * SECOND
    client.schedule("/good-1", due)
    dynamodb.put_item(TableName=table, Item={**key, "v": {"N": "1"}, "secret": {"S": "only copy"}})
    dynamodb.delete_item(TableName=table, Key=key)
    client.schedule("/good-2", due)
    for path in ("/good-1", "/good-2"):
        assert lateness(client.delivered(path)[0], due) < SECOND
    (entry,) = client.kept("set-aside/unreadable/")
    shown = client.operate("show", key=entry["key"])
    assert json.loads(shown["body"])["dynamodb"]["OldImage"]["secret"] == {"S": "only copy"}
    client.operate("throw-away", key=entry["key"])
    assert client.operate("list", prefix="set-aside/unreadable/") == {"kept": []}


def test_a_target_that_is_down_at_first(client: Client) -> None:
    """Two answers of 503, then 200: three attempts, one idempotency key."""
    client.receiver.fail_first("/down", 2)
    posted = client.schedule("/down", now() + SECOND)
    deliveries = client.delivered("/down", seconds=20, count=3)
    assert [delivery.status for delivery in deliveries] == [503, 503, 200]
    assert {delivery.headers["idempotency-key"] for delivery in deliveries} == {posted["scheduleId"]}
    assert [delivery.headers["delayer-attempt"] for delivery in deliveries] == ["1", "2", "3"]
    client.ledger_state(posted["scheduleId"], "executed")


def test_a_target_that_refuses_fails_and_can_be_put_back(client: Client) -> None:
    client.receiver.fail_first("/refuses", 1, status=404)
    posted = client.schedule("/refuses", now() + SECOND, payload="kept")
    client.ledger_state(posted["scheduleId"], "failed")
    (entry,) = client.kept(f"failed/{posted['scheduleId']}/")
    assert entry["reason"] == "HTTP 404"
    client.operate("put-back", key=entry["key"])
    deliveries = client.delivered("/refuses", count=2)
    assert [delivery.status for delivery in deliveries] == [404, 200]
    assert deliveries[1].body == b'"kept"'
    client.ledger_state(posted["scheduleId"], "executed")


def test_a_target_that_nobody_listens_to(client: Client) -> None:
    action = {"type": "http-request", "url": "http://127.0.0.1:9/nobody", "maxAttempts": 2}
    _, _, posted = client.post({"delaySeconds": 0, "action": action})
    row = client.ledger_state(posted["scheduleId"], "failed", seconds=15)
    assert row["detail"]["S"].startswith("gave up after 2 attempts: no answer from 127.0.0.1:9")


def test_a_dead_letter_is_set_aside(client: Client) -> None:
    """Whatever comes to a dead-letter queue is kept for a person, with its body."""
    sqs = client.stack.client("sqs")
    (url,) = [u for u in sqs.list_queues()["QueueUrls"] if "HttpRequestDeadLetterQueue" in u]
    sqs.send_message(QueueUrl=url, MessageBody="nobody can read this")
    entries = client.kept("set-aside/unreadable/")
    assert "HttpRequestDeadLetterQueue" in entries[0]["reason"]
    client.operate("throw-away", key=entries[0]["key"])


def test_a_message_that_cannot_be_read_beside_good_ones(client: Client) -> None:
    sqs = client.stack.client("sqs")
    due = now() + 2 * SECOND
    sqs.send_message(QueueUrl=client.stack.outputs["DelayerQueueUrl"], MessageBody='{"v": 99}', DelaySeconds=1)
    client.schedule("/beside", due)
    assert lateness(client.delivered("/beside")[0], due) < SECOND
    (entry,) = client.kept("set-aside/unreadable/")
    client.operate("throw-away", key=entry["key"])


def test_a_wrong_command_is_told_what_is_right(client: Client) -> None:
    answer = client.stack.invoke("operator-set-aside", {"command": "destroy"})
    assert not answer["ok"]
    assert "put-back" in answer["error"]
    answer = client.stack.invoke("operator-set-aside", {"command": "put-back", "key": "set-aside/none"})
    assert "nothing is kept" in answer["error"]


def test_every_line_of_the_firing_path_has_the_schedule_id(client: Client) -> None:
    posted = client.schedule("/logged", now() + SECOND)
    client.ledger_state(posted["scheduleId"], "executed")
    time.sleep(0.5)  # the last function's log is written after it has answered
    for function, event in (
        ("api-schedule-post", "accepted"),
        ("stream-enqueuer", "enqueued"),
        ("delayer-relay", "claimed"),
        ("executor-http-request", "executed"),
    ):
        lines = [json.loads(line) for line in client.stack.logs(function).splitlines() if line.startswith("{")]
        mine = [line for line in lines if line.get("scheduleId") == posted["scheduleId"]]
        assert [line["message"] for line in mine] == [event], function
    metrics = client.stack.logs("executor-http-request")
    assert '"Name":"Lateness"' in metrics.replace(" ", "")
