"""A copy of a schedule is one of its own, in all its rows."""

from bench.load.calls import NewSchedule, post
from bench.serve.clients import bytes_of
from bench.serve.fill import copied
from delayer.history.repository import owner_list, part_of
from delayer.schedule.instants import format_instant
from delayer.schedule.schedule_id import RANDOM_BYTES, Address, IdKey, is_genuine, key_of, mint

DUE, LATER = 1_800_000_000_123, 1_800_000_120_456
KEY = IdKey(version=1, secret=bytes(32), created_at=0, writes_from=0)
KNOWN = mint(Address(due=DUE, shard=0), "anonymous", point_in_time=DUE, key=bytes(32), randomness=bytes(RANDOM_BYTES))


def test_a_copy_has_an_id_an_instant_and_places_of_its_own() -> None:
    key, part = key_of(KNOWN), owner_list("anonymous", part_of(KNOWN))
    text = f'{{"id":"{KNOWN}","at":"{format_instant(DUE)}"}}'.encode()
    pattern = [
        ("schedules", key.bucket, key.due, text, None),
        ("journal", part, f"{DUE:015d}#{KNOWN}", text, 7),
    ]
    record, entry = copied(pattern, KNOWN, KEY, DUE, LATER)
    made = record[2].partition("#")[2]
    assert is_genuine(made, "anonymous", key=bytes(32))
    assert (record[1], record[2]) == (key_of(made).bucket, key_of(made).due)
    assert record[3] == entry[3] == f'{{"id":"{made}","at":"{format_instant(LATER)}"}}'.encode()
    assert entry == ("journal", owner_list("anonymous", part_of(made)), f"{LATER:015d}#{made}", entry[3], 7)


def test_a_request_is_as_http_has_it() -> None:
    head, _, body = bytes_of(post(NewSchedule(due=DUE, target="http://x/y"))).partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /schedules HTTP/1.1"
    assert f"Content-Length: {len(body)}" in lines
    assert "Host: 127.0.0.1" in lines
