"""A series goes on by the events of its occurrences, and without them by the net."""

import json
import secrets
import time
from typing import Any

import pytest
from attrs import evolve

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.store.model import Put
from delayer.lambdas.table_stream import RESTORED
from delayer.ledger import repository as ledger
from delayer.ledger.model import State
from delayer.records.repository import StoredControl
from delayer.schedule.instants import MINUTE, SECOND, Millis, format_instant, minute_of
from delayer.schedule.schedule import Definition
from delayer.schedule.schedule_id import RANDOM_BYTES, Address, IdKind, mint
from delayer.series.ports import SeriesTransaction
from delayer.series.repository.series_table import StoredSeries
from delayer.series.repository.upkeep import NET, StoredSeriesProgress
from delayer.series.rules.series import Cursor, SeriesDefinition, SeriesState
from delayer.series.rules.upkeep import LOOK_AFTER, NetPosition
from tests.e2e.client import PATIENCE, StackClient, now
from tests.samples import a_claim

OWNER = "e2e-somebody"
TASK = "task-1minute-series"


def action(client: StackClient, path: str) -> dict[str, Any]:
    return {"type": "http-request", "url": client.receiver.url + path}


def store_of(client: StackClient) -> DynamoStore:
    return DynamoStore(client.stack.client("dynamodb"))


def table_of(client: StackClient) -> StoredSeries:
    outputs = client.stack.outputs
    return StoredSeries(
        store=store_of(client),
        schedules_table=outputs["SchedulesTable"],
        relaxed_table=outputs["RelaxedTable"],
        ledger_table=outputs["LedgerTable"],
        registry_table=outputs["RegistryTable"],
    )


def an_old_series(client: StackClient, path: str, at: Millis) -> Cursor:
    """One that was put minutes ago, by the rows that its creation writes."""
    control = StoredControl(store=store_of(client), table=client.stack.outputs["ControlTable"])
    key = control.id_keys().at(now())
    assert key
    current = mint(
        Address(due=at, shard=0),
        OWNER,
        point_in_time=at,
        key=key.secret,
        version=key.version,
        randomness=secrets.token_bytes(RANDOM_BYTES),
        kind=IdKind.OCCURRENCE,
    )
    repeat = {"every": "PT1M", "anchor": format_instant(at), "from": format_instant(at)}
    definition = Definition(action=json.dumps(action(client, path)), payload="null")
    cursor = Cursor(
        series=secrets.token_hex(16), owner=OWNER, state=SeriesState.ACTIVE, number=1, current=current, at=at
    )
    transaction = SeriesTransaction(
        cursor=cursor,
        over=None,
        definition=SeriesDefinition(owner=OWNER, repeat=json.dumps(repeat), definition=definition, created_at=at),
    )
    assert table_of(client).write(transaction)
    return cursor


def claim_in_silence(client: StackClient, schedule_id: str) -> None:
    """Its ledger row says that it was claimed, and no event does: that of a copied row is not published."""
    row = evolve(a_claim(now=now()), schedule_id=schedule_id, owner=OWNER, state=State.CLAIMED)
    item = {**ledger.to_item(row), RESTORED: 1}
    store_of(client).write(Put(client.stack.outputs["LedgerTable"], {"scheduleId": row.schedule_id}, item))


def numbered(client: StackClient, cursor: Cursor, number: int, seconds: float = PATIENCE) -> Cursor:
    """The series, once it has come to this occurrence."""
    deadline = time.monotonic() + seconds
    while True:
        found = table_of(client).cursor(cursor.owner, cursor.series)
        assert found
        if found.number >= number:
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


@pytest.mark.thorough
def test_an_event_that_was_lost_is_made_up_for(on_aws: StackClient) -> None:
    """The net is set back to the minute of the occurrence, which the task of the minute has gone past.

    It takes two seconds to see that nothing happens, and the task of the minute takes some.
    """
    at = now() - LOOK_AFTER - 10 * MINUTE
    cursor = an_old_series(on_aws, "/healed", at)
    claim_in_silence(on_aws, cursor.current)
    time.sleep(2)
    assert table_of(on_aws).cursor(OWNER, cursor.series) == cursor, "nothing has told of it"
    control = on_aws.stack.outputs["ControlTable"]
    for _ in range(3):  # the task of the minute may write its own mark in between
        on_aws.stack.client("dynamodb").delete_item(TableName=control, Key={"name": {"S": NET}})
        StoredSeriesProgress(store=store_of(on_aws), table=control).reach(NetPosition(minute=minute_of(at)))
        on_aws.stack.invoke(TASK, {})
    after = numbered(on_aws, cursor, 2)
    assert after.at > now() - SECOND, "the next time to come: nothing is made up"
    assert "found by the net" in on_aws.stack.logs(TASK)
