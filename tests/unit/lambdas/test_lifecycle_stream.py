"""Records of both tables' streams: what they tell, and that one that cannot be read harms only itself."""

from typing import Any, cast

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.engines.aws.expressions import to_attributes
from delayer.history.model import LifecycleEvent, LifecycleRecord, Original
from delayer.lambdas.events import StreamRecord
from delayer.lambdas.table_stream import RESTORED, lifecycle_records_of
from delayer.ledger.model import EventType, LedgerRow, State, named
from delayer.ledger.repository import to_item as row_item
from delayer.ledger.rules import ended, ended_unclaimed, retried, stopped
from delayer.records.repository import to_item as record_item
from delayer.schedule.instants import DAY, HOUR, MINUTE, NEARLY_DUE, SECOND, Millis
from delayer.schedule.schedule import Schedule
from tests.samples import NOW, OWNER, STREAM_RECORD, a_claim, a_relaxed_schedule, a_schedule, an_id

AT = NOW - MINUTE


def image_of(it: Schedule | LedgerRow) -> dict[str, Any]:
    """As a record shows it."""
    return to_attributes(row_item(it) if isinstance(it, LedgerRow) else record_item(it))


def record(
    kind: str,
    keys: dict[str, Any],
    old: dict[str, Any] | None = None,
    new: dict[str, Any] | None = None,
    at: Millis = AT,
    sequence: str = "1",
) -> dict[str, Any]:
    """As DynamoDB sends it: an image that there is not is not in it."""
    images = {name: image for name, image in {"OldImage": old, "NewImage": new}.items() if image is not None}
    data = {"ApproximateCreationDateTime": at // SECOND, "Keys": keys, "SequenceNumber": sequence, **images}
    return {"eventID": f"change {sequence}", "eventName": kind, "dynamodb": data}


def of_table(
    kind: str, item: dict[str, Any] | None = None, at: Millis = AT, sequence: str = "1", **changes: Any
) -> dict[str, Any]:
    """A record of the schedules table's stream."""
    item = image_of(a_schedule(**changes)) if item is None else item
    keys = {"bucket": item["bucket"], "due": item["due"]}
    old, new = (item, None) if kind == "REMOVE" else (None, item)
    return record(kind, keys, old, new, at, sequence)


def of_ledger(kind: str, old: LedgerRow | None, new: LedgerRow | None, sequence: str = "1") -> dict[str, Any]:
    """A record of the ledger's stream."""
    before, after = (image_of(row) if row else None for row in (old, new))
    return record(kind, {"scheduleId": {"S": an_id()}}, before, after, sequence=sequence)


def read(*records: dict[str, Any]) -> list[LifecycleRecord]:
    return lifecycle_records_of({"Records": [cast("StreamRecord", record) for record in records]})


def the_event(one: dict[str, Any]) -> LifecycleEvent:
    """What a record tells, if it tells of something."""
    [record] = read(one)
    assert not record.problem
    assert record.event
    return record.event


def test_no_records_tell_nothing() -> None:
    assert read() == []


# ------------------------------------------------------------ the schedules table


def test_what_is_put_is_scheduled() -> None:
    """With its definition, and at the instant it was accepted."""
    schedule = a_schedule(group="g", tags='{"a": "b"}', payload='{"x": 1.0, "\u00e4 ": [ ]}')
    event = the_event(of_table("INSERT", image_of(schedule)))
    assert event == LifecycleEvent(
        id="change 1",
        type=EventType.SCHEDULED,
        schedule_id=schedule.id,
        owner=OWNER,
        at=schedule.created_at,
        state=State.SCHEDULED,
        original=Original(schedule=schedule),
    )


def test_what_is_removed_when_it_is_nearly_due_is_enqueued() -> None:
    """At the time of the stream, to the second."""
    event = the_event(of_table("REMOVE", at=NOW - 29_500))
    assert event == LifecycleEvent(
        id=f"enqueued-{an_id()}-{NOW - 30_000}",
        type=EventType.ENQUEUED,
        schedule_id=an_id(),
        owner=OWNER,
        at=NOW - 30_000,
        state=State.ENQUEUED,
        retold=True,
    )


@pytest.mark.parametrize(("expired", "event"), [(True, EventType.ENQUEUED), (False, None)])
@pytest.mark.parametrize("late", [0, HOUR, 3 * DAY])
def test_a_relaxed_schedule_is_on_its_way_if_the_ttl_has_removed_it(
    expired: bool, event: EventType | None, late: Millis
) -> None:
    """Not if its owner has cancelled it: that is told by the ledger, and nothing is sent anywhere."""
    by = {"userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"}} if expired else {}
    item = image_of(a_relaxed_schedule())
    [found] = read({**of_table("REMOVE", item, at=NOW + late), **by})
    assert not found.problem
    assert (found.event and found.event.type) == event


def test_the_golden_record() -> None:
    """Schedules ten years ahead were written by the code of ten years ago."""
    [record] = read(STREAM_RECORD)
    assert record.sequence == STREAM_RECORD["dynamodb"]["SequenceNumber"]
    assert record.event
    assert (record.event.id, record.event.type) == (f"enqueued-{an_id()}-{record.event.at}", EventType.ENQUEUED)
    assert record.event.schedule_id == an_id()


@pytest.mark.parametrize("at", [NOW - NEARLY_DUE - SECOND, NOW - DAY, NOW + 30 * DAY], ids=["soon", "far", "long ago"])
def test_a_removal_far_from_due_tells_nothing(at: Millis) -> None:
    """A cancel's, of which the ledger tells; or DynamoDB's own, of what was lost."""
    assert read(of_table("REMOVE", at=at, created_at=NOW - 2 * DAY)) == [LifecycleRecord(sequence="1")]


def test_a_record_that_is_put_once_more_tells_nothing() -> None:
    assert read(of_table("MODIFY")) == [LifecycleRecord(sequence="1")]


@pytest.mark.parametrize("kind", ["INSERT", "MODIFY", "REMOVE"])
def test_a_heartbeat_tells_nothing(kind: str) -> None:
    """And is no problem."""
    item = {"bucket": {"S": "heartbeat"}, "due": {"S": f"{NOW:013d}"}, "expiresAt": {"N": "1"}}
    assert read(of_table(kind, item)) == [LifecycleRecord(sequence="1")]


@pytest.mark.parametrize("seconds", [NOW // SECOND, float(NOW // SECOND), NOW / SECOND + 0.9], ids=repr)
def test_the_time_of_a_record_is_in_seconds(seconds: float) -> None:
    """A number with a fraction or without one, as the client of DynamoDB likes it."""
    one = replaced(of_table("REMOVE"), seconds, "dynamodb", "ApproximateCreationDateTime")
    assert the_event(one).at == NOW


def test_what_came_from_a_backup_is_not_announced_again() -> None:
    """Its events went out when it happened. What becomes of it from now on is news (ADR 0080)."""
    mark = {RESTORED: {"N": "1"}}
    stored = {**image_of(a_schedule()), **mark}
    row = {**image_of(a_claim()), **mark}
    after = image_of(ended(a_claim(), State.EXECUTED, NOW, "HTTP 200"))
    keys = {"scheduleId": {"S": an_id()}}
    assert [one.event for one in read(of_table("INSERT", stored), record("INSERT", keys, new=row))] == [None, None]
    assert the_event(of_table("REMOVE", stored, at=NOW)).type is EventType.ENQUEUED
    assert the_event(record("MODIFY", keys, row, after)).type is EventType.EXECUTED


# ------------------------------------------------------------ the ledger


def test_a_claim_is_answered() -> None:
    row = a_claim(attempt=1)
    assert the_event(of_ledger("INSERT", None, row)) == LifecycleEvent(
        id="change 1",
        type=EventType.CLAIMED,
        schedule_id=row.schedule_id,
        owner=OWNER,
        at=row.at,
        state=State.CLAIMED,
        revision=1,
        attempt=1,
        retold=True,
    )


CHANGES: list[tuple[str, LedgerRow | None, LedgerRow, EventType, int]] = [
    ("INSERT", None, ended_unclaimed(an_id(), OWNER, State.CANCELLED, NOW, ""), EventType.CANCELLED, 1),
    ("MODIFY", named(an_id(), OWNER, "n", NOW - HOUR), a_claim(revision=2, name="n"), EventType.CLAIMED, 2),
    ("MODIFY", a_claim(), a_claim(revision=2, lease_until=NOW + HOUR), EventType.CLAIMED_AGAIN, 2),
    ("MODIFY", a_claim(), retried(a_claim(), "d2", NOW, "HTTP 503"), EventType.ATTEMPT_FAILED, 2),
    ("MODIFY", a_claim(), stopped(a_claim(), NOW), EventType.STOP_REQUESTED, 2),
    ("MODIFY", a_claim(), ended(a_claim(), State.EXECUTED, NOW, "HTTP 204"), EventType.EXECUTED, 2),
]


@pytest.mark.parametrize(("kind", "old", "new", "expected", "revision"), CHANGES, ids=lambda one: str(one)[:14])
def test_a_change_of_a_row_is_answered(
    kind: str, old: LedgerRow | None, new: LedgerRow, expected: EventType, revision: int
) -> None:
    """Both images are read: which transition it was shows by the two."""
    event = the_event(of_ledger(kind, old, new))
    assert (event.type, event.revision, event.at) == (expected, revision, NOW)
    assert (event.name, event.replaced_by, event.original) == (new.name, new.replaced_by, None)


def test_bookkeeping_tells_nothing() -> None:
    """The row that a named schedule begins with: its record tells of that."""
    assert read(of_ledger("INSERT", None, named(an_id(), OWNER, "n", NOW))) == [LifecycleRecord(sequence="1")]


def test_a_row_that_expires_tells_nothing() -> None:
    """Whatever it held, and whether this code can read it."""
    row = ended(a_claim(), State.EXECUTED, NOW)
    malformed = record("REMOVE", {"scheduleId": {"S": an_id()}}, {"scheduleId": {"S": an_id()}, "v": {"N": "9"}})
    assert read(of_ledger("REMOVE", row, None), malformed) == [LifecycleRecord(sequence="1")] * 2


# ------------------------------------------------------------ what cannot be read


def without(one: dict[str, Any], *path: str) -> dict[str, Any]:
    first, *rest = path
    if not rest:
        return {name: value for name, value in one.items() if name != first}
    return {**one, first: without(one[first], *rest)}


def replaced(one: dict[str, Any], value: Any, *path: str) -> dict[str, Any]:
    first, *rest = path
    return {**one, first: replaced(one[first], value, *rest) if rest else value}


INSERTED = of_table("INSERT")
REMOVED = of_table("REMOVE")
CLAIMED = of_ledger("INSERT", None, a_claim())
RETRIED = of_ledger("MODIFY", a_claim(), retried(a_claim(), "d2", NOW))

MALFORMED: dict[str, dict[str, Any]] = {
    "an event of unknown name": replaced(INSERTED, "RENAME", "eventName"),
    "a record of a later version": replaced(INSERTED, {"N": "2"}, "dynamodb", "NewImage", "v"),
    "an old image of a later version": replaced(REMOVED, {"N": "2"}, "dynamodb", "OldImage", "v"),
    "a record without an owner": without(INSERTED, "dynamodb", "NewImage", "owner"),
    "a record with an action that is no JSON": replaced(INSERTED, {"S": "{"}, "dynamodb", "NewImage", "action"),
    "a record without its new image": without(INSERTED, "dynamodb", "NewImage"),
    "a record without its old image": without(REMOVED, "dynamodb", "OldImage"),
    "a record without its time": without(REMOVED, "dynamodb", "ApproximateCreationDateTime"),
    "a record with no time": replaced(REMOVED, None, "dynamodb", "ApproximateCreationDateTime"),
    "a record without its keys": without(INSERTED, "dynamodb", "Keys"),
    "a record without its id": without(INSERTED, "eventID"),
    "a row of a later version": replaced(CLAIMED, {"N": "2"}, "dynamodb", "NewImage", "v"),
    "a row in an unknown state": replaced(CLAIMED, {"S": "lost"}, "dynamodb", "NewImage", "state"),
    "a row without its image": without(CLAIMED, "dynamodb", "NewImage"),
    "an old row of a later version": replaced(RETRIED, {"N": "2"}, "dynamodb", "OldImage", "v"),
    "an image that is none": replaced(CLAIMED, "text", "dynamodb", "NewImage"),
    "an attribute that is none": replaced(CLAIMED, "text", "dynamodb", "NewImage", "owner"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_cannot_be_read_does_not_disturb_its_neighbours(name: str) -> None:
    """It says why, with its own sequence number; all others are read, in order."""
    malformed = replaced(MALFORMED[name], "2", "dynamodb", "SequenceNumber")
    before, after = of_table("INSERT", sequence="1"), of_ledger("INSERT", None, a_claim(), sequence="3")
    first, second, third = read(before, malformed, after)
    assert [first, third] == [*read(before), *read(after)]
    assert first.event
    assert third.event
    assert (second.sequence, second.event) == ("2", None)
    assert second.problem


def test_a_problem_says_what_is_wrong() -> None:
    [table] = read(MALFORMED["a record of a later version"])
    [row] = read(MALFORMED["a row in an unknown state"])
    assert "version 2" in table.problem
    assert "lost" in row.problem


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.sampled_from("SNBL"), children, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(sorted(image_of(a_schedule()))), json_values)
def test_no_record_of_the_table_breaks_the_reader(name: str, value: Any) -> None:
    item = {**image_of(a_schedule()), name: value}
    assert len(read(of_table("INSERT", item), of_table("REMOVE", item))) == 2


@given(st.sampled_from(sorted(image_of(a_claim()))), json_values)
def test_no_record_of_the_ledger_breaks_the_reader(name: str, value: Any) -> None:
    item = {**image_of(a_claim()), name: value}
    keys = {"scheduleId": {"S": an_id()}}
    whole = image_of(a_claim())
    assert len(read(record("INSERT", keys, None, item), record("MODIFY", keys, item, whole))) == 2


# ------------------------------------------------------------ a batch


def a_life(schedule: Schedule) -> list[dict[str, Any]]:
    claim = evolve(a_claim(), attempt=1)
    failed = retried(claim, "d2", NOW, "HTTP 500")
    return [
        of_table("INSERT", image_of(schedule), sequence="1"),
        of_table("REMOVE", image_of(schedule), sequence="2"),
        of_ledger("INSERT", None, claim, sequence="3"),
        of_ledger("MODIFY", claim, failed, sequence="4"),
        of_ledger("MODIFY", failed, ended(failed, State.EXECUTED, NOW, "HTTP 204"), sequence="5"),
    ]


def test_the_order_is_kept() -> None:
    records = read(*a_life(a_schedule()))
    assert [one.sequence for one in records] == ["1", "2", "3", "4", "5"]
    assert [one.event.type for one in records if one.event] == [
        EventType.SCHEDULED,
        EventType.ENQUEUED,
        EventType.CLAIMED,
        EventType.ATTEMPT_FAILED,
        EventType.EXECUTED,
    ]


def test_the_same_record_tells_the_same() -> None:
    """It is delivered again after a failure: by its id, whoever gets it twice knows it."""
    assert read(*a_life(a_schedule())) == read(*a_life(a_schedule()))
