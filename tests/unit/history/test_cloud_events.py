"""Lifecycle events as CloudEvents: read as they were written, and what is not understood is not guessed at."""

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import assume, given
from hypothesis import strategies as st

from delayer.history.cloud_events import MAX_BYTES, PREFIX, decode, encode
from delayer.history.model import LifecycleEvent, Original, of_record, of_row
from delayer.ledger.model import EventType, State
from delayer.ledger.rules import retried
from delayer.schedule.instants import Malformed
from delayer.schedule.schedule import Schedule
from delayer.schedule.table_change import ChangeKind
from tests.samples import ACTION, GOLDEN, NOW, OWNER, a_claim, a_schedule, an_id
from tests.strategies import definitions, ids, instants, json_texts, json_values, some_texts, texts

SOURCE = "urn:delayer:123456789012:eu-west-1:delayer"
PAYLOAD = '{"x": 1.0, "\u00e4 ": [ ]}'
SNS_BYTES = 262_144  # of a message, with its attributes


def scheduled(**changes: Any) -> LifecycleEvent:
    schedule = a_schedule(NOW + 250, **changes)
    event = of_record(ChangeKind.INSERT, schedule, "4e6ff9dcd8a1a9b3c7e5c8e1d6b2f0a1", NOW)
    assert event
    return evolve(event, source=SOURCE)


def failed() -> LifecycleEvent:
    row = a_claim()
    event = of_row(row, evolve(retried(row, "d2", NOW + 250, "HTTP 503"), lateness=0, name="invoice 17"), "change")
    assert event
    return evolve(event, source=SOURCE)


SAMPLE = scheduled(
    payload=PAYLOAD, group="invoices", on_late='{"after": "PT1H", "do": "drop"}', tags='{"team":  "billing"}'
)


def content(event: LifecycleEvent) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(encode(event))
    return document


def test_the_golden_event() -> None:
    """Subscribers read them, and queues hold them for days."""
    text = (GOLDEN / "lifecycle-event.json").read_text().rstrip("\n")
    assert decode(text) == SAMPLE
    assert encode(SAMPLE) == text, "the format changed: give it a new type"


def test_it_is_a_cloud_event() -> None:
    """All that CloudEvents 1.0 requires, none of it empty, and the extension `sequence`."""
    shown = content(failed())
    data = shown.pop("data")
    assert shown == {
        "specversion": "1.0",
        "id": "change",
        "source": SOURCE,
        "type": "delayer.schedule.attempt-failed",
        "subject": an_id(),
        "time": "2026-11-21T09:00:00.250Z",
        "datacontenttype": "application/json",
        "sequence": "00002",
    }
    assert data == {
        "scheduleId": an_id(),
        "owner": OWNER,
        "state": "claimed",
        "attempt": 1,
        "latenessMs": 0,
        "detail": "HTTP 503",
        "name": "invoice 17",
        "claimedAt": "2026-11-21T09:00:00.000Z",
    }


def test_sequences_are_in_order_as_texts() -> None:
    """So the extension asks."""
    texts = [content(evolve(failed(), revision=revision))["sequence"] for revision in (0, 1, 9, 10, 99_999)]
    assert texts == sorted(texts)


def test_what_there_is_not_is_left_out() -> None:
    event = of_row(None, a_claim(name="", detail=""), "change")
    assert event
    assert set(content(event)["data"]) == {"scheduleId", "owner", "state", "attempt"}


# ------------------------------------------------------------ there and back

numbers = st.integers(0, 99_999)


@st.composite
def events(draw: st.DrawFn) -> LifecycleEvent:
    schedule_id, owner = draw(ids()), draw(some_texts)
    schedule = st.builds(
        Schedule,
        id=st.just(schedule_id),
        owner=st.just(owner),
        point_in_time=instants,
        created_at=instants,
        definition=definitions,
    )
    event = st.builds(
        LifecycleEvent,
        id=texts,
        type=st.sampled_from(EventType),
        schedule_id=st.just(schedule_id),
        owner=st.just(owner),
        at=instants,
        state=st.sampled_from(State),
        revision=numbers,
        attempt=numbers,
        lateness=st.none() | st.integers(0, 2**48),
        attempt_lateness=st.none() | st.integers(0, 2**48),
        detail=texts,
        name=texts,
        replaced_by=texts,
        by=texts,
        original=st.none() | st.builds(Original, schedule=schedule),
        source=texts,
    )
    return draw(event)


@given(events())
def test_round_trip(event: LifecycleEvent) -> None:
    """But for what is masked: Hypothesis also draws texts of our own code, and some are names of secrets."""
    again = decode(encode(event))
    assert evolve(again, original=None) == evolve(event, original=None)
    assume(not again.original or not again.original.is_masked)
    assert again == event


@given(json_texts)
def test_a_payload_keeps_its_bytes(payload: str) -> None:
    """It is the client's: no number loses a digit, no blank is gone."""
    text = encode(scheduled(payload=payload))
    original = decode(text).original
    assert original
    assert original.schedule.definition.payload == payload
    assert f'"payload":{payload}' in text


@pytest.mark.parametrize(
    "payload",
    [PAYLOAD, "1.0", "-0", "1E400", "[ ]", "{ }", '"\\u00e4\\/"', '{"a":1,"a":2}', "null", "9" * 400, '"\u2028\x7f"'],
)
def test_payloads_that_a_parser_would_change_stay_as_they_are(payload: str) -> None:
    original = decode(encode(scheduled(payload=payload))).original
    assert original
    assert original.schedule.definition.payload == payload


def test_a_schedule_without_a_payload_has_none() -> None:
    event = scheduled(payload="")
    assert "payload" not in content(event)["data"]
    assert decode(encode(event)) == event


@given(st.dictionaries(some_texts.map(lambda name: f"x{name}"), json_values, max_size=3))
def test_a_field_added_is_passed_over(added: dict[str, Any]) -> None:
    """Readers of version 1 read what adds to it."""
    document = content(failed())
    assert decode(json.dumps({**added, **document, "data": {**added, **document["data"]}})) == failed()


# ------------------------------------------------------------ what is too large


def large(number_of_bytes: int) -> LifecycleEvent:
    """An event of this size."""
    short = len(encode(scheduled(payload='""')).encode())
    return scheduled(payload=f'"{"x" * (number_of_bytes - short)}"')


def test_as_much_as_fits_is_published() -> None:
    text = encode(large(MAX_BYTES))
    assert len(text.encode()) == MAX_BYTES
    assert decode(text) == large(MAX_BYTES)


@pytest.mark.parametrize(
    "payload", [f'"{"x" * MAX_BYTES}"', f'"{chr(0x4E00) * (MAX_BYTES // 3)}"'], ids=["x", "3 bytes"]
)
def test_a_payload_too_large_is_left_out(payload: str) -> None:
    """And the event says so; the action and all else are in it."""
    event = scheduled(payload=payload, group="g", tags="{}")
    data = content(event)["data"]
    assert data["payloadOmitted"] is True
    assert "payload" not in data
    assert data["action"] == ACTION
    assert (data["pointInTime"], data["group"], data["tags"]) == ("2026-11-21T09:00:00.250Z", "g", {})
    assert event.original
    schedule = event.original.schedule
    without = Original(schedule=evolve(schedule, definition=evolve(schedule.definition, payload="")), is_complete=False)
    read = decode(encode(event))
    assert read == evolve(event, original=without)
    assert decode(encode(read)) == read, "what is stored says so, too"


def test_one_byte_too_many_is_too_large() -> None:
    assert content(large(MAX_BYTES + 1))["data"]["payloadOmitted"] is True


def test_an_action_too_large_is_left_out_too() -> None:
    """SNS would refuse the event for ever, and hold up all that come after it."""
    headers = {f"x-{number}": "x" * 4096 for number in range(50)}
    tags = {f"{number:0128}": "\u00e4" * 256 for number in range(50)}
    action = json.dumps({"type": "http-request", "url": "http://target", "headers": headers})
    event = scheduled(action=action, tags=json.dumps(tags), payload="1" * 10_000, group="g")
    text = encode(event)
    assert len(text) < SNS_BYTES // 100
    assert content(event)["data"] == {
        "scheduleId": event.schedule_id,
        "owner": OWNER,
        "state": "scheduled",
        "pointInTime": "2026-11-21T09:00:00.250Z",
        "createdAt": "2026-11-21T08:59:00.000Z",
        "group": "g",
        "payloadOmitted": True,
    }
    assert decode(text) == evolve(event, original=None)


# ------------------------------------------------------------ what cannot be read


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "1", '"text"', "{}", "{", "\ud800", "[" * 100_000, '{"a":' * 100_000, "\x00", '{"v":1}'],
    ids=lambda text: ascii(text[:10]),
)
def test_anything_else_is_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        decode(text)


ABSENT = object()
ENVELOPE: list[tuple[str, Any]] = [
    ("specversion", "2.0"),
    ("specversion", ABSENT),
    ("type", "delayer.schedule.scheduled.v2"),
    ("type", "delayer.schedule."),
    ("type", "com.example.scheduled"),
    ("type", ABSENT),
    ("id", 1),
    ("id", ABSENT),
    ("source", ABSENT),
    ("subject", "no id"),
    ("subject", ""),
    ("subject", None),
    ("subject", ABSENT),
    ("time", "soon"),
    ("time", "2026-11-21T09:00:00"),
    ("time", 1_795_251_600_000),
    ("time", ABSENT),
    ("sequence", "x"),
    ("sequence", ""),
    ("sequence", 3),
    ("sequence", ABSENT),
    ("data", None),
    ("data", []),
    ("data", ABSENT),
]


def changed(document: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    return {key: one for key, one in {**document, name: value}.items() if one is not ABSENT}


@pytest.mark.parametrize(("name", "value"), ENVELOPE, ids=lambda one: "absent" if one is ABSENT else str(one))
def test_an_envelope_that_is_not_ours_is_malformed(name: str, value: Any) -> None:
    text = json.dumps(changed(content(SAMPLE), name, value))
    with pytest.raises(Malformed, match="not a lifecycle event"):
        decode(text)


DATA: list[tuple[str, Any]] = [
    ("owner", ABSENT),
    ("owner", 1),
    ("owner", ""),
    ("state", ABSENT),
    ("state", "lost"),
    ("state", []),
    ("pointInTime", ABSENT),
    ("pointInTime", 1_795_251_600_000),
    ("pointInTime", "soon"),
    ("createdAt", ABSENT),
    ("createdAt", []),
    ("action", {}),
    ("action", []),
    ("action", "text"),
    ("action", None),
    ("action", {"type": 1}),
    ("action", {"type": ""}),
    ("group", 1),
    ("group", "g" * 129),
]


@pytest.mark.parametrize(("name", "value"), DATA, ids=lambda one: "absent" if one is ABSENT else str(one)[:40])
def test_a_definition_that_is_damaged_is_malformed(name: str, value: Any) -> None:
    document = content(SAMPLE)
    with pytest.raises(Malformed, match="not a lifecycle event"):
        decode(json.dumps({**document, "data": changed(document["data"], name, value)}))


@given(st.sampled_from(sorted(content(SAMPLE)["data"])), json_values)
def test_no_text_breaks_the_reader(name: str, value: Any) -> None:
    document = content(SAMPLE)
    try:
        decode(json.dumps({**document, "data": {**document["data"], name: value}}))
    except Malformed as error:
        assert str(error)  # noqa: PT017 - not every change makes it malformed


def test_every_type_begins_alike() -> None:
    """Subscribers filter by it."""
    for kind in EventType:
        assert content(evolve(failed(), type=kind))["type"] == f"{PREFIX}{kind}"
