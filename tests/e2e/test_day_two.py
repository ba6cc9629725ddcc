"""Day two: a stack is filled from restored tables, and a running one is checked by what its operator has."""

import base64
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve

from delayer.aws.dynamodb.ledger import to_item as row_item
from delayer.aws.dynamodb.schedule_table import to_item
from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.outcome import ended
from delayer.core.schedule.instants import HOUR, MINUTE, SECOND, Millis, format_instant, minute_of
from delayer.core.schedule.schedule import Schedule
from local.project import PROJECT
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from operate.restore.tables import TABLES
from tests.e2e.client import PERIOD, Client, now
from tests.samples import KEY, a_schedule, an_id, claimed

OWNER = "anonymous"  # as the API of one machine sees its callers
LONGEST = 120  # seconds of a command


def command(stack: EmulatedStack, *arguments: str) -> "subprocess.Popen[str]":
    """A command of the operator, with the credentials of this stack."""
    keys = stack.clients.session.get_credentials()
    assert keys is not None
    settings = {
        "PYTHONPATH": "shared",
        "AWS_ENDPOINT_URL": stack.aws_endpoint_url,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": keys.access_key,
        "AWS_SECRET_ACCESS_KEY": keys.secret_key,
    }
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=PROJECT,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def done(process: "subprocess.Popen[str]") -> str:
    """What it said; it has to succeed."""
    try:
        said, _ = process.communicate(timeout=LONGEST)
    finally:
        process.kill()
    assert process.returncode == 0, said
    return said


@pytest.fixture(scope="module")
def verifying(client: Client) -> Iterator["subprocess.Popen[str]"]:
    """`make verify` of a stack with IAM, while the rest of this module runs. Its far part needs the minute task."""
    stack = client.stack
    options = ("--skip", "far", "--skip", "canary", "--bulk", "20", "--allowed-ms", "10000")
    process = command(stack, "operate.verify", "--url", stack.api_url, *options)
    yield process
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def new(verifying: "subprocess.Popen[str]", receiver: Receiver) -> Iterator[Client]:
    """A stack whose API was never called."""
    with EmulatedStack(parameters={"DelayerPeriod": str(PERIOD // SECOND)}) as stack:
        yield Client(stack, receiver)


def a_record(client: Client, path: str, due: Millis, number: int) -> Schedule:
    """A schedule of the stack that was lost."""
    action = f'{{"type": "http-request", "url": "{client.receiver.url}{path}"}}'
    randomness = bytes([number]) * 8
    schedule_id = an_id(due, shard=9, owner=OWNER, randomness=randomness)
    return evolve(a_schedule(due, action=action, payload='"restored"'), id=schedule_id, owner=OWNER)


def backed_up(client: Client, kind: str, items: list[Any]) -> str:
    """A table with these items, restored by DynamoDB's own command; its name."""
    dynamodb: Any = client.stack.client("dynamodb")
    keys = TABLES[kind].keys
    dynamodb.create_table(
        TableName=f"lost-{kind}",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)],
    )
    for item in items:
        dynamodb.put_item(TableName=f"lost-{kind}", Item=item)
    dynamodb.restore_table_to_point_in_time(
        SourceTableName=f"lost-{kind}", TargetTableName=f"restored-{kind}", UseLatestRestorableTime=True
    )
    return f"restored-{kind}"


def test_a_new_stack_goes_on_where_a_lost_one_was(new: Client) -> None:
    """The ids are genuine here, too. What has ended stays so, what may have fired waits, all else fires."""
    begun, sent = now(), {"Delayer-Owner": OWNER}
    lost_at = begun - 20 * MINUTE
    executed, doubtful = a_record(new, "/done", begun - HOUR, 1), a_record(new, "/doubtful", begun - 30 * MINUTE, 2)
    overdue, far = a_record(new, "/overdue-there", begun - 10 * MINUTE, 3), a_record(new, "/far", begun + 2 * HOUR, 4)
    control = [
        {"name": {"S": "id-key"}, "key": {"S": base64.b64encode(KEY).decode()}},
        {"name": {"S": "shards"}, "highest": {"N": "9"}, "since": {"N": str(minute_of(begun - 2 * HOUR))}},
    ]
    row = ended(claimed(executed), State.EXECUTED, executed.point_in_time, "HTTP 200")
    sources = {
        "control": backed_up(new, "control", control),
        "ledger": backed_up(new, "ledger", [row_item(row)]),
        "schedules": backed_up(new, "schedules", [to_item(one) for one in (executed, doubtful, overdue, far)]),
    }
    done(command(new.stack, "operate.restore", "--pause", "--wait", "1"))
    assert new.call("GET", f"/schedules/{far.id}")[0] in (429, 500, 503), "closed until the ledger is there"
    named = [text for kind, name in sources.items() for text in (f"--{kind}", name)]
    said = done(command(new.stack, "operate.restore", *named, "--lost-at", format_instant(lost_at), "--wait", "1"))
    assert "schedules: 2 copied, 1 ended or claimed already, 1 dead-lettered: it may have fired" in said
    new.arrivals("/overdue-there")
    new.ledger_state(overdue.id, "executed")
    shown = {one.id: new.call("GET", f"/schedules/{one.id}", headers=sent)[2] for one in (executed, far, doubtful)}
    states = {schedule_id: content["state"] for schedule_id, content in shown.items()}
    assert states == {executed.id: "executed", far.id: "scheduled", doubtful.id: "dead-lettered"}
    (letter,) = new.dead_letters("dead-lettered/")
    new.operate("redrive", key=letter["key"])
    (request,) = new.arrivals("/doubtful")
    assert request.body == b'"restored"'
    assert new.receiver.of("/done") == []
    assert new.call("DELETE", f"/schedules/{far.id}", headers=sent)[0] == 200
    new.schedule("/after", now())
    new.arrivals("/after")


def test_verify_finds_that_a_stack_keeps_its_promises(verifying: "subprocess.Popen[str]", client: Client) -> None:
    """With its own credentials, and IAM enforced; nothing of it is left behind."""
    said = done(verifying)
    assert "Every promise that was checked holds." in said
    assert "US cents" in said
    queues = client.stack.client("sqs").list_queues().get("QueueUrls", [])
    assert [url for url in queues if "verify" in url] == []
