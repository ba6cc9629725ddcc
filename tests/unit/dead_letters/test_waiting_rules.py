"""Records of the stream that wait in the store."""

import json

import pytest

from delayer.dead_letters.model import BROUGHT_BACK, WaitingRecords, encode_waiting, records_in
from delayer.schedule.instants import Malformed
from tests.samples import NOW

RECORDS = ({"eventName": "REMOVE", "dynamodb": {"SequenceNumber": "1"}}, {"eventName": "REMOVE"})
WAITING = WaitingRecords(records=RECORDS, reason="a bad deploy", at=NOW)


def test_what_is_set_aside_is_found_whole() -> None:
    assert records_in(encode_waiting(WAITING)) == list(RECORDS)


def test_keys_are_in_the_order_of_time_and_tell_contents_apart() -> None:
    later = WaitingRecords(records=RECORDS, reason="", at=NOW + 1)
    other = WaitingRecords(records=RECORDS[:1], reason="", at=NOW)
    assert WAITING.key < later.key
    assert WAITING.key != other.key
    assert WAITING.key.startswith(BROUGHT_BACK)
    assert WaitingRecords(records=RECORDS, reason="another", at=NOW).key == WAITING.key


@pytest.mark.parametrize("as_text", [False, True])
def test_what_lambda_gave_up_on_is_found_too(as_text: bool) -> None:
    event = {"Records": list(RECORDS)}
    content = {
        "requestContext": {"condition": "RetryAttemptsExhausted"},
        "payload": json.dumps(event) if as_text else event,
    }
    assert records_in(json.dumps(content).encode()) == list(RECORDS)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"payload": 1}', b'{"payload": {"Records": 1}}', b"\xff"])
def test_anything_else_is_malformed(content: bytes) -> None:
    with pytest.raises(Malformed):
        records_in(content)
