"""What travels on the queues is read as it was written, and what is not understood is not guessed at."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.core.wire import (
    VERSION,
    DelayerMessage,
    ExecutorMessage,
    SweepMessage,
    Unreadable,
    decode,
    encode,
    next_attempt,
    to_delayer,
    to_executor,
)
from tests.samples import NOW, a_delayer_message, a_schedule, an_executor_message

GOLDEN = Path(__file__).parents[2] / "golden/v1"
KINDS: tuple[Any, ...] = (DelayerMessage, ExecutorMessage, SweepMessage)

texts = st.text(st.characters(codec="utf-8"))
delayer_messages = st.builds(
    DelayerMessage,
    v=st.just(VERSION),
    id=texts,
    owner=texts,
    point_in_time=st.integers(0, 2**48),
    action_type=texts,
    action=texts,
    payload=texts,
    nonce=texts,
)

SAMPLES: dict[str, Any] = {
    "delayer-message.json": a_delayer_message(NOW + 250, "nonce-1", payload='{"order": 17.0, "note": "\u00e4\u2028"}'),
    "executor-message.json": an_executor_message(NOW + 250, "nonce-1", delivery="delivery-3", attempt=3),
    "sweep-message.json": SweepMessage(v=1, minute=29_920_860, shard=7),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_golden_samples(name: str) -> None:
    """Messages of version 1 wait in queues for up to fourteen days: they are read, and written, as they were."""
    body = (GOLDEN / name).read_text().rstrip("\n")
    assert decode(body, type(SAMPLES[name])) == SAMPLES[name]
    assert encode(SAMPLES[name]) == body, "the format changed: give it a new version"


@given(delayer_messages)
def test_round_trip(message: DelayerMessage) -> None:
    assert decode(encode(message), DelayerMessage) == message


@given(delayer_messages, texts)
def test_the_claim_carries_everything_on(message: DelayerMessage, delivery: str) -> None:
    handed = to_executor(message, delivery)
    same = ("v", "id", "owner", "point_in_time", "action_type", "action", "payload", "nonce")
    assert all(getattr(handed, name) == getattr(message, name) for name in same)
    assert (handed.delivery, handed.attempt) == (delivery, 1)
    assert decode(encode(handed), ExecutorMessage) == handed


def test_the_nonce_travels_in_the_body() -> None:
    schedule = a_schedule(payload=' {"a":  1} ')
    message = to_delayer(schedule, "n7")
    assert json.loads(encode(message))["nonce"] == "n7"
    assert message.payload == schedule.payload


def test_the_next_attempt_differs_in_delivery_and_number_only() -> None:
    message = an_executor_message()
    following = next_attempt(message, "d2", 2)
    assert (following.delivery, following.attempt) == ("d2", 2)
    assert next_attempt(following, message.delivery, message.attempt) == message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "body",
    ["", "null", "[]", "1", '"text"', "{}", "{", "\ud800", '{"v":1}', "[" * 100_000, '{"a":' * 100_000, "\x00"],
)
def test_anything_else_is_unreadable(kind: Any, body: str) -> None:
    with pytest.raises(Unreadable):
        decode(body, kind)


def changed(**changes: Any) -> str:
    content = {**json.loads(encode(an_executor_message())), **changes}
    return json.dumps({name: value for name, value in content.items() if value != "absent"})


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"v": 0},
        {"v": "1"},
        {"v": "absent"},
        {"id": None},
        {"id": "absent"},
        {"owner": 1},
        {"point_in_time": "1795251600000"},
        {"point_in_time": 1.5},
        {"point_in_time": "absent"},
        {"action": {"type": "http-request"}},
        {"payload": None},
        {"nonce": "absent"},
        {"delivery": "absent"},
        {"attempt": True},
        {"attempt": "absent"},
    ],
    ids=str,
)
def test_strict(change: dict[str, Any]) -> None:
    """A missing field, a wrong type, an unknown version: set aside instead of guessed at."""
    with pytest.raises(Unreadable):
        decode(changed(**change), ExecutorMessage)


def test_a_field_added_within_the_version_is_passed_over() -> None:
    """Readers ship before writers."""
    assert decode(changed(colour="blue"), ExecutorMessage) == an_executor_message()


def test_one_kind_is_not_taken_for_the_other() -> None:
    """An executor's message has all that a delayer message has; the other way round it has not."""
    with pytest.raises(Unreadable, match="delivery"):
        decode(encode(a_delayer_message()), ExecutorMessage)


@given(st.text())
def test_no_text_is_more_than_unreadable(text: str) -> None:
    for kind in KINDS:
        with pytest.raises(Unreadable):
            decode(text, kind)


def test_the_reason_names_kind_and_version() -> None:
    with pytest.raises(Unreadable, match="ExecutorMessage of version 2; this code reads version 1"):
        decode(changed(v=2), ExecutorMessage)
