"""What travels on the queues is read as it was written, and what is not understood is not guessed at."""

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.actions.rules.model import Retry
from delayer.execute.rules import Made, carried
from delayer.relay.relay import first_attempt
from delayer.schedule.instants import Malformed, UnknownVersion
from delayer.schedule.messages import (
    DelayerMessage,
    ExecutorMessage,
    GroupMessage,
    OutcomeMessage,
    Slot,
    SweepMessage,
    TimingMessage,
    decode,
    encode,
    encode_again,
)
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule import given as given_texts
from delayer.schedule.schedule_id import IdKind
from tests.samples import GOLDEN, NOW, OWNER, a_delayer_message, a_schedule, an_executor_message, an_id
from tests.strategies import schedules, texts

KINDS: tuple[Any, ...] = (DelayerMessage, ExecutorMessage, OutcomeMessage, SweepMessage, GroupMessage, TimingMessage)

delayer_messages = st.builds(DelayerMessage, schedule=schedules, nonce=texts)

# Of a version that does not count the generations of messages.
OLD = evolve(an_executor_message(NOW + 250, "nonce-1", fence="fence-3", attempt=3), generation=0)
SAMPLES: dict[str, Any] = {
    "delayer-message.json": a_delayer_message(NOW + 250, "nonce-1", payload='{"order": 17.0, "note": "\u00e4\u2028"}'),
    "executor-message.json": OLD,
    "outcome-message.json": carried(
        Made(
            message=OLD,
            result=Retry(detail="HTTP 503", after_seconds=30),
            lateness=12,
        )
    ),
    "sweep-message.json": SweepMessage(minute=29_920_860, shard=7),
    "group-message.json": GroupMessage(owner=OWNER, job="5b0c"),
    "timing-message.json": TimingMessage(schedule_id=an_id(kind=IdKind.UNDECIDED)),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_golden_samples(name: str) -> None:
    """Messages wait in queues for up to fourteen days: they are read, and written, as they were."""
    body = (GOLDEN / name).read_text().rstrip("\n")
    assert decode(body, type(SAMPLES[name])) == SAMPLES[name]
    assert encode(SAMPLES[name]) == body, "the format changed: give it a new version"


@given(delayer_messages)
def test_round_trip(message: DelayerMessage) -> None:
    assert decode(encode(message), DelayerMessage) == message


@given(delayer_messages, texts)
def test_the_claim_carries_everything_on(message: DelayerMessage, fence: str) -> None:
    handed = first_attempt(message, fence)
    assert handed.schedule == message.schedule
    assert handed.nonce == message.nonce
    assert (handed.fence, handed.attempt) == (fence, 1)
    assert decode(encode(handed), ExecutorMessage) == handed


def test_turns_travel_with_the_message_and_to_the_executor() -> None:
    slots = (Slot(line="limit#a#1.1", at=7), Slot(line="limit#b#1.2", at=8))
    message = evolve(DelayerMessage(schedule=a_schedule(), nonce="n1"), slots=slots)
    assert decode(encode(message), DelayerMessage) == message
    handed = first_attempt(message, "d1")
    assert handed.slots == slots
    assert decode(encode(handed), ExecutorMessage) == handed
    later = evolve(handed, slots=(), not_before=9)
    assert decode(encode(later), ExecutorMessage) == later


def test_a_message_that_waits_on_has_the_turns_that_it_has_now() -> None:
    message = DelayerMessage(schedule=a_schedule(), nonce="n1", slots=(Slot(line="limit#a#1.1", at=7),))
    body = encode(message)
    assert decode(encode_again(body, evolve(message, slots=())), DelayerMessage).slots == ()
    anew = evolve(message, slots=(Slot(line="limit#a#1.1", at=9),))
    assert decode(encode_again(body, anew), DelayerMessage) == anew


def test_when_it_was_enqueued_stays_known_while_it_waits() -> None:
    message = DelayerMessage(schedule=a_schedule(), nonce="n1", enqueued_at=7)
    assert decode(encode(message), DelayerMessage) == message
    again = evolve(message, hops=1)
    assert decode(encode_again(encode(message), again), DelayerMessage) == again


@pytest.mark.parametrize("slots", ['[["a",1]]', '[{"line":"a"}]', '"a"', "[1]"])
def test_turns_that_cannot_be_read_are_malformed(slots: str) -> None:
    body = encode(DelayerMessage(schedule=a_schedule(), nonce="n1"))
    with pytest.raises(Malformed):
        decode(f'{body[:-1]},"slots":{slots}}}', DelayerMessage)


def test_the_nonce_travels_in_the_body() -> None:
    schedule = a_schedule(payload='{"a":  1}')
    message = DelayerMessage(schedule=schedule, nonce="n7")
    assert json.loads(encode(message))["nonce"] == "n7"
    assert decode(encode(message), DelayerMessage).schedule == schedule


@given(schedules, texts)
def test_a_message_is_one_flat_object(schedule: Schedule, nonce: str) -> None:
    """All that a schedule has, by the names of the API, beside what the message adds."""
    content = json.loads(encode(DelayerMessage(schedule=schedule, nonce=nonce)))
    defined = {name: content[name] for name in given_texts(schedule.definition)}
    assert content == {
        "v": 1,
        "id": schedule.id,
        "owner": schedule.owner,
        "pointInTime": schedule.point_in_time,
        "createdAt": schedule.created_at,
        "nonce": nonce,
        **defined,
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "body",
    ["", "null", "[]", "1", '"text"', "{}", "{", "\ud800", '{"v":1}', "[" * 100_000, '{"a":' * 100_000, "\x00"],
)
def test_anything_else_is_malformed(kind: Any, body: str) -> None:
    if kind is OutcomeMessage:
        body = body.replace('"v":1', '"v":2')
    with pytest.raises(Malformed):
        decode(body, kind)


def changed(**changes: Any) -> str:
    content = {**json.loads(encode(an_executor_message())), **changes}
    return json.dumps({name: value for name, value in content.items() if value != "absent"})


@pytest.mark.parametrize(
    "change",
    [
        {"v": "1"},
        {"v": "absent"},
        {"id": None},
        {"id": "absent"},
        {"owner": 1},
        {"pointInTime": "1795251600000"},
        {"pointInTime": 1.5},
        {"pointInTime": "absent"},
        {"createdAt": "absent"},
        {"action": "absent"},
        {"action": None},
        {"action": []},
        {"action": "text"},
        {"action": {}},
        {"action": {"type": 1}},
        {"action": {"type": ""}},
        {"group": 1},
        {"group": "g" * 129},
        {"nonce": "absent"},
        {"fence": "absent"},
        {"attempt": True},
        {"attempt": "absent"},
    ],
    ids=str,
)
def test_strict(change: dict[str, Any]) -> None:
    """A missing field, a wrong type: dead-lettered instead of guessed at."""
    with pytest.raises(Malformed):
        decode(changed(**change), ExecutorMessage)


def test_a_field_added_within_the_version_is_passed_over() -> None:
    """Readers ship before writers."""
    assert decode(changed(colour="blue"), ExecutorMessage) == an_executor_message()


def test_one_kind_is_not_taken_for_the_other() -> None:
    """An executor's message has all that a delayer message has; the other way round it has not."""
    with pytest.raises(Malformed, match="fence"):
        decode(encode(a_delayer_message()), ExecutorMessage)


@given(st.text())
def test_no_text_is_more_than_malformed(text: str) -> None:
    for kind in KINDS:
        with pytest.raises(Malformed):
            decode(text, kind)


def test_the_reason_names_kind_and_version() -> None:
    with pytest.raises(UnknownVersion, match="ExecutorMessage of version 2; this code reads version 1"):
        decode(changed(v=2), ExecutorMessage)


@given(st.integers().filter(lambda version: version != 1))
def test_another_version_is_not_malformed(version: int) -> None:
    """It waits for the code that knows it, whatever else is in it."""
    with pytest.raises(UnknownVersion):
        decode(changed(v=version, nonce="absent"), ExecutorMessage)
