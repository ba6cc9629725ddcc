"""Records of the stream, as DynamoDB sends them."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.aws.kept_schedules import schedules_in
from delayer.aws.schedule_table import from_item, to_item
from delayer.aws.stream import changes_of
from delayer.core.enqueueing import Garbled, Heartbeat, Kind
from delayer.core.set_aside import encode
from delayer.core.wire import encode as encode_message
from tests.samples import NOW, a_delayer_message, a_kept, a_schedule, an_executor_message, an_id

RECORD: dict[str, Any] = json.loads((Path(__file__).parents[2] / "golden/v1/stream-remove.json").read_text())
SCHEDULE = a_schedule(payload='{"order": 17.0}')


def record(**dynamodb: Any) -> dict[str, Any]:
    return {**RECORD, "dynamodb": {**RECORD["dynamodb"], **dynamodb}}


def test_the_golden_record() -> None:
    """Schedules ten years ahead were written by the code of ten years ago."""
    [change] = changes_of({"Records": [RECORD]})
    assert (change.kind, change.row) == (Kind.REMOVE, SCHEDULE)
    assert change.sequence == RECORD["dynamodb"]["SequenceNumber"]
    assert json.loads(change.raw) == RECORD, "the whole record: it is the only copy"


@pytest.mark.parametrize("kind", ["INSERT", "MODIFY"])
def test_the_new_image_of_what_is_in_the_table(kind: str) -> None:
    inserted = {**record(NewImage=to_item(SCHEDULE), OldImage={}), "eventName": kind}
    [change] = changes_of({"Records": [inserted]})
    assert (change.kind, change.row) == (Kind(kind), SCHEDULE)


def test_a_removal_by_ttl_is_a_removal() -> None:
    by_ttl = {**RECORD, "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"}}
    assert changes_of({"Records": [by_ttl]})[0].row == SCHEDULE


def test_a_heartbeat() -> None:
    image = {"bucket": {"S": "heartbeat"}, "due": {"S": f"{NOW:013d}"}, "expiresAt": {"N": "1"}}
    assert changes_of({"Records": [record(OldImage=image)]})[0].row == Heartbeat(NOW)


def test_the_order_is_kept() -> None:
    records = [record(SequenceNumber=str(at)) for at in range(5)]
    assert [change.sequence for change in changes_of({"Records": records})] == ["0", "1", "2", "3", "4"]


def test_a_record_that_says_nothing_is_set_aside() -> None:
    """Of an unknown kind, or without its image: poison harms only itself."""
    unknown = changes_of({"Records": [{**RECORD, "eventName": "RENAME"}]})[0]
    assert (unknown.kind, type(unknown.row)) == (Kind.REMOVE, Garbled)
    without = {"SequenceNumber": "1", "Keys": {}}
    assert isinstance(changes_of({"Records": [{**RECORD, "dynamodb": without}]})[0].row, Garbled)


DAMAGE: list[tuple[str, Any]] = [
    ("owner", None),
    ("owner", {"S": ""}),
    ("owner", {"N": "1"}),
    ("v", None),
    ("v", {"N": "2"}),
    ("v", {"S": "1"}),
    ("due", {"S": "no key"}),
    ("due", {"S": f"{NOW:013d}#no id"}),
    ("due", {"S": f"{NOW:013d}#{'v' * 44}"}),
    ("due", {"S": f"{NOW:013d}#04{'v' * 42}"}),
    ("due", {"S": ""}),
    ("bucket", {"S": "2026-11-21T09:01#3"}),
    ("bucket", {"S": "2026-11-21T09:00#4"}),
    ("bucket", {"S": "heartbeat"}),
    ("bucket", {"NULL": True}),
    ("pointInTime", {"N": "1e3"}),
    ("pointInTime", {"N": "-1"}),
    ("pointInTime", {"S": "soon"}),
    ("pointInTime", None),
    ("actionType", {"S": ""}),
    ("action", {"S": "{"}),
    ("action", None),
    ("payload", None),
    ("payload", {"B": "AA=="}),
    ("createdAt", None),
    ("createdAt", {"N": "x"}),
]


@pytest.mark.parametrize(("name", "value"), DAMAGE, ids=str)
def test_a_damaged_row_is_garbled_and_says_why(name: str, value: Any) -> None:
    item: dict[str, Any] = {**to_item(SCHEDULE), name: value}
    if value is None:
        del item[name]
    row = from_item(item)
    assert isinstance(row, Garbled)
    assert row.reason


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.sampled_from("SNBL"), children, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(sorted(to_item(SCHEDULE))), json_values)
def test_no_row_breaks_the_reader(name: str, value: Any) -> None:
    assert from_item({**to_item(SCHEDULE), name: value})


def test_a_row_is_read_as_it_was_written() -> None:
    assert from_item(to_item(SCHEDULE)) == SCHEDULE
    assert from_item({**to_item(SCHEDULE), "colour": {"S": "blue"}}) == SCHEDULE, "a field added is passed over"


# ------------------------------------------------------------ what is kept of them


def kept(body: str) -> bytes:
    return encode(a_kept(body=body))


def discarded(*records: Any, as_text: bool = True) -> bytes:
    payload = {"Records": list(records)}
    return json.dumps({"version": "1.0", "payload": json.dumps(payload) if as_text else payload}).encode()


def test_a_schedule_is_found_in_whatever_was_kept() -> None:
    for content in (
        kept(encode_message(a_delayer_message())),
        kept(encode_message(an_executor_message(attempt=9))),
        kept(json.dumps(RECORD)),
        discarded(RECORD),
        discarded(RECORD, as_text=False),
    ):
        contents = schedules_in(content)
        assert [message.id for message in contents.messages] == [an_id()]
        assert contents.unreadable == 0


def test_of_a_discarded_batch_what_was_removed() -> None:
    inserted = {**record(NewImage=to_item(SCHEDULE)), "eventName": "INSERT"}
    heartbeat = record(OldImage={"bucket": {"S": "heartbeat"}, "due": {"S": str(NOW)}})
    garbled = record(OldImage={"bucket": {"S": "?"}})
    contents = schedules_in(discarded(inserted, RECORD, heartbeat, garbled, RECORD))
    assert (len(contents.messages), contents.unreadable) == (2, 1)


@given(st.binary() | json_values.map(lambda value: json.dumps(value).encode()))
def test_nothing_breaks_the_reader_of_what_is_kept(content: bytes) -> None:
    assert schedules_in(content).messages == ()


@given(st.sampled_from(["eventName", "dynamodb", "eventSource"]), json_values)
def test_no_damaged_record_breaks_the_reader_of_what_is_kept(name: str, value: Any) -> None:
    damaged = {**copy.deepcopy(RECORD), name: value}
    for content in (kept(json.dumps(damaged)), discarded(damaged), discarded(value), kept(json.dumps(value))):
        contents = schedules_in(content)
        assert contents.unreadable or contents.messages or value != RECORD
