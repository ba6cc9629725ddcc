"""Day two: a stack is filled from restored tables, and a running one is checked by what its operator has."""

import base64
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from attrs import evolve

from delayer.engines.aws.expressions import to_attributes
from delayer.ledger.model import State
from delayer.ledger.repository import to_item as row_item
from delayer.ledger.rules import ended
from delayer.records.repository import to_item
from delayer.schedule.instants import HOUR, MINUTE, Millis, format_instant, minute_of
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import Address, mint
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from operate.restore.tables import TABLES
from tests.e2e.client import StackClient, now
from tests.e2e.operate.commands import command, done
from tests.e2e.stacks.minute_task import switch_minute_task
from tests.samples import a_schedule, claimed


def id_keys(client: StackClient) -> Any:
    """The row of the keys with which this stack issues ids."""
    row = {"name": {"S": "id-key"}}
    answer: Any = client.stack.client("dynamodb").get_item(TableName=client.stack.outputs["ControlTable"], Key=row)
    return answer["Item"]


def a_record(client: StackClient, path: str, due: Millis, number: int) -> Schedule:
    """A schedule of the table that was lost."""
    action = f'{{"type": "http-request", "url": "{client.receiver.url}{path}"}}'
    randomness, address = number.to_bytes(8, "big"), Address(due=due, shard=3)
    schedule_id = mint(
        address,
        client.owner,
        point_in_time=due,
        key=base64.b64decode(id_keys(client)["key"]["S"]),
        randomness=randomness,
    )
    return evolve(a_schedule(due, action=action, payload='"restored"'), id=schedule_id, owner=client.owner)


def backed_up(client: StackClient, kind: str, items: list[Any]) -> str:
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


@pytest.fixture
def restored(receiver: Receiver) -> Iterator[StackClient]:
    """A stack of its own, because it is closed for a while. Its minute task is off: the restore has to do it all."""
    parameters = {"DelayerPeriod": "60"}
    with (
        EmulatedStack(parameters=parameters, starts_functions=False) as stack,
        closing(StackClient(stack, receiver, "r")) as c,
    ):
        switch_minute_task(stack, "DISABLED")
        yield c


@pytest.mark.thorough
def test_a_stack_goes_on_with_what_was_restored(restored: StackClient) -> None:
    """What has ended stays so, what may have fired waits for a person, all else fires. Nobody is answered meanwhile.

    It takes seconds to start a stack, and as many for each command, which waits for what the functions know to expire.
    """
    client = restored
    client.schedule("/before-the-loss", now())
    client.arrivals("/before-the-loss")
    begun, delayer = now(), client.delayer
    lost_at = begun - 20 * MINUTE
    executed, doubtful = a_record(client, "/done", begun - HOUR, 1), a_record(client, "/doubtful", begun - HOUR, 2)
    overdue, far = a_record(client, "/after-it", begun - 10 * MINUTE, 3), a_record(client, "/far", begun + 2 * HOUR, 4)
    shards = {"name": {"S": "shards"}, "highest": {"N": "9"}, "since": {"N": str(minute_of(begun - 2 * HOUR))}}
    row = ended(claimed(executed), State.EXECUTED, executed.point_in_time, "HTTP 200")
    sources = {
        "control": backed_up(client, "control", [id_keys(client), shards]),
        "ledger": backed_up(client, "ledger", [to_attributes(row_item(row))]),
        "schedules": backed_up(
            client, "schedules", [to_attributes(to_item(one)) for one in (executed, doubtful, overdue, far)]
        ),
    }
    done(command(client.stack, "operate.restore", "--pause", "--wait", "1"))
    assert client.call("GET", f"/schedules/{far.id}")[0] >= 429, "closed until the ledger is there"
    named = [text for kind, name in sources.items() for text in (f"--{kind}", name)]
    said = done(command(client.stack, "operate.restore", *named, "--lost-at", format_instant(lost_at), "--wait", "1"))
    assert "schedules: 2 copied, 1 ended or claimed already, 1 dead-lettered: it may have fired" in said, said
    client.arrivals("/after-it")
    client.ledger_state(overdue.id, "executed")
    states = {one.id: delayer.get(one.id).state for one in (executed, far, doubtful)}
    assert states == {executed.id: "executed", far.id: "scheduled", doubtful.id: "dead-lettered"}
    (letter,) = client.dead_letters(f"dead-lettered/{doubtful.id}/")
    client.operate("redrive", key=letter["key"])
    (request,) = client.arrivals("/doubtful")
    assert request.body == b'"restored"'
    assert client.receiver.of("/done") == []
    assert delayer.cancel(far.id)


@pytest.mark.thorough
def test_verify_finds_that_a_stack_keeps_its_promises(on_aws: StackClient) -> None:
    """With the credentials of its operator, and IAM enforced; nothing of it is left behind.

    It takes more than a minute: it waits for a series of one minute.
    """
    options = ("--skip", "near", "--skip", "far", "--skip", "canary", "--bulk", "20", "--allowed-ms", "10000")
    said = done(command(on_aws.stack, "delayer_client.cli", "verify", "--url", on_aws.stack.api_url, "--yes", *options))
    assert "Every promise that was checked holds." in said
    assert "US cents" in said
    queues = on_aws.stack.client("sqs").list_queues().get("QueueUrls", [])
    assert [url for url in queues if "verify" in url] == []
