"""Records of the stream, as DynamoDB sends them."""

import copy
import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.dead_letters.model import encode
from delayer.engines.aws.expressions import to_attributes
from delayer.lambdas.dead_letter_reader import schedules_in
from delayer.lambdas.events import StreamRecord
from delayer.lambdas.table_stream import changes_of
from delayer.records.repository import from_item, to_item
from delayer.schedule.instants import Malformed, UnknownVersion
from delayer.schedule.messages import encode as encode_message
from delayer.schedule.table_change import ChangeKind, Heartbeat, RecordChange, Row
from tests.samples import NOW, STREAM_RECORD, a_dead_letter, a_delayer_message, a_schedule, an_executor_message, an_id

SCHEDULE = a_schedule(payload='{"order": 17.0}')
IMAGE = to_attributes(to_item(SCHEDULE))


def record(**dynamodb: Any) -> dict[str, Any]:
    return {**STREAM_RECORD, "dynamodb": {**STREAM_RECORD["dynamodb"], **dynamodb}}


def read(*records: dict[str, Any]) -> list[RecordChange]:
    return changes_of({"Records": [cast("StreamRecord", record) for record in records]})


def row_in(image: Any) -> Row:
    """What a removal says was there."""
    [change] = read(record(OldImage=image))
    return change.row


def test_the_golden_record() -> None:
    """Schedules ten years ahead were written by the code of ten years ago."""
    [change] = read(STREAM_RECORD)
    assert (change.kind, change.row) == (ChangeKind.REMOVE, SCHEDULE)
    assert change.sequence == STREAM_RECORD["dynamodb"]["SequenceNumber"]
    assert change.record == STREAM_RECORD, "the whole record: it is the only copy"


@pytest.mark.parametrize("kind", ["INSERT", "MODIFY"])
def test_the_new_image_of_what_is_in_the_table(kind: str) -> None:
    inserted = {**record(NewImage=IMAGE, OldImage={}), "eventName": kind}
    [change] = read(inserted)
    assert (change.kind, change.row) == (ChangeKind(kind), SCHEDULE)


def test_a_removal_by_ttl_is_a_removal() -> None:
    by_ttl = {**STREAM_RECORD, "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"}}
    [change] = read(by_ttl)
    assert (change.row, change.expired, change.event) == (SCHEDULE, True, STREAM_RECORD["eventID"])


@pytest.mark.parametrize(
    "identity",
    [
        None,
        {},
        {"type": "Service"},
        {"principalId": "dynamodb.amazonaws.com"},
        {"type": "User", "principalId": "dynamodb.amazonaws.com"},
        {"type": "Service", "principalId": "replication.dynamodb.amazonaws.com"},
    ],
)
def test_whoever_else_has_removed_it_is_not_the_ttl(identity: Any) -> None:
    assert read({**STREAM_RECORD, "userIdentity": identity})[0].expired is False
    assert read(STREAM_RECORD)[0].expired is False


def test_a_heartbeat() -> None:
    image = {"bucket": {"S": "heartbeat"}, "due": {"S": f"{NOW:013d}"}, "expiresAt": {"N": "1"}}
    assert row_in(image) == Heartbeat(sent_at=NOW)


def test_the_order_is_kept() -> None:
    records = [record(SequenceNumber=str(at)) for at in range(5)]
    assert [change.sequence for change in read(*records)] == ["0", "1", "2", "3", "4"]


def test_a_record_without_a_kind_or_an_image_is_dead_lettered() -> None:
    """Of an unknown kind, or without its image: poison harms only itself."""
    unknown = read({**STREAM_RECORD, "eventName": "RENAME"})[0]
    assert (unknown.kind, type(unknown.row)) == (ChangeKind.REMOVE, Malformed)
    without = {"SequenceNumber": "1", "Keys": {}}
    assert isinstance(read({**STREAM_RECORD, "dynamodb": without})[0].row, Malformed)


DAMAGE: list[tuple[str, Any]] = [
    ("owner", None),
    ("owner", {"S": ""}),
    ("owner", {"N": "1"}),
    ("v", None),
    ("v", {"S": "1"}),
    ("due", {"S": "no key"}),
    ("due", {"S": f"{NOW:013d}#no id"}),
    ("due", {"S": f"{NOW:013d}#{'v' * 47}"}),
    ("due", {"S": f"{NOW:013d}#04{'v' * 45}"}),
    ("due", {"S": ""}),
    ("bucket", {"S": "2026-11-21T09:01#3"}),
    ("bucket", {"S": "2026-11-21T09:00#4"}),
    ("bucket", {"S": "heartbeat"}),
    ("bucket", {"NULL": True}),
    ("pointInTime", {"N": "1e3"}),
    ("pointInTime", {"N": "-1"}),
    ("pointInTime", {"S": "soon"}),
    ("pointInTime", None),
    ("action", {"S": "{"}),
    ("action", {"S": "{}"}),
    ("action", {"S": '{"type": ""}'}),
    ("action", {"S": '{"type": 1}'}),
    ("action", {"S": "[]"}),
    ("action", None),
    ("payload", {"B": "AA=="}),
    ("payload", None),
    ("group", {"N": "1"}),
    ("onLate", {"NULL": True}),
    ("tags", "text"),
    ("createdAt", None),
    ("createdAt", {"N": "x"}),
    ("createdAt", {"N": "1.5"}),
    ("createdAt", {"BOOL": True}),
    ("v", {"BOOL": True}),
    ("due", {"N": "1"}),
    ("action", {"M": {}}),
    ("traits", {"S": "{"}),
    ("traits", {"N": "1"}),
]


@pytest.mark.parametrize(("name", "value"), DAMAGE, ids=str)
def test_a_damaged_row_is_malformed_and_says_why(name: str, value: Any) -> None:
    item: dict[str, Any] = {**IMAGE, name: value}
    if value is None:
        del item[name]
    row = row_in(item)
    assert isinstance(row, Malformed)
    assert row.reason


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.sampled_from("SNBL"), children, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(sorted(IMAGE)), json_values)
def test_no_row_breaks_the_reader(name: str, value: Any) -> None:
    """Neither as a record shows it, nor as the store has it."""
    assert row_in({**IMAGE, name: value})
    assert from_item({**to_item(SCHEDULE), name: value})


def test_a_row_is_read_as_it_was_written() -> None:
    assert row_in(IMAGE) == from_item(to_item(SCHEDULE)) == SCHEDULE
    assert row_in({**IMAGE, "colour": {"S": "blue"}}) == SCHEDULE, "a field added is passed over"


@pytest.mark.parametrize("version", [{"N": "2"}, {"N": "0"}], ids=str)
def test_a_row_of_another_version_waits_for_the_code_that_reads_it(version: Any) -> None:
    assert isinstance(row_in({**IMAGE, "v": version}), UnknownVersion)


@pytest.mark.parametrize("image", ["text", ["S"], 7, {"v": {}}, {"v": {"N": "one"}}, {"v": {"X": "1"}}], ids=str)
def test_an_image_that_is_none_is_malformed(image: Any) -> None:
    """Lambda never sends one; what was brought back has been in other hands."""
    assert isinstance(row_in(image), Malformed)


# ------------------------------------------------------------ what the store has of them


def stored(body: str) -> bytes:
    return encode(a_dead_letter(body=body))


def discarded(*records: Any, as_text: bool = True) -> bytes:
    payload = {"Records": list(records)}
    return json.dumps({"version": "1.0", "payload": json.dumps(payload) if as_text else payload}).encode()


def test_a_schedule_is_found_in_whatever_was_stored() -> None:
    for content in (
        stored(encode_message(a_delayer_message())),
        stored(encode_message(an_executor_message(attempt=9))),
        stored(json.dumps(STREAM_RECORD)),
        discarded(STREAM_RECORD),
        discarded(STREAM_RECORD, as_text=False),
    ):
        contents = schedules_in(content)
        assert [schedule.id for schedule in contents.schedules] == [an_id()]
        assert contents.malformed == 0


def test_the_removals_of_a_discarded_batch_are_read() -> None:
    inserted = {**record(NewImage=IMAGE), "eventName": "INSERT"}
    heartbeat = record(OldImage={"bucket": {"S": "heartbeat"}, "due": {"S": str(NOW)}})
    malformed = record(OldImage={"bucket": {"S": "?"}})
    newer = record(OldImage={**IMAGE, "v": {"N": "99"}})  # nor may a redrive delete it with the others
    contents = schedules_in(discarded(inserted, STREAM_RECORD, heartbeat, malformed, newer, STREAM_RECORD))
    assert (len(contents.schedules), contents.malformed) == (2, 2)


@given(st.binary() | json_values.map(lambda value: json.dumps(value).encode()))
def test_nothing_breaks_the_reader_of_the_store(content: bytes) -> None:
    assert schedules_in(content).schedules == ()


@given(st.sampled_from(["eventName", "dynamodb", "eventSource"]), json_values)
def test_no_damaged_record_breaks_the_reader_of_the_store(name: str, value: Any) -> None:
    damaged = {**copy.deepcopy(STREAM_RECORD), name: value}
    for content in (stored(json.dumps(damaged)), discarded(damaged), discarded(value), stored(json.dumps(value))):
        contents = schedules_in(content)
        assert contents.malformed or contents.schedules or value != STREAM_RECORD
