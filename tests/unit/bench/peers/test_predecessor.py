"""The model of delayer-aws does what its functions did, with a clock that is moved by hand."""

import pytest

from bench.peers.predecessor.algorithm import ZONE_SECONDS, Buffer, delay, is_in_zone, point_in_time
from bench.peers.predecessor.functions import Poller, each_minute, on_stream
from bench.peers.predecessor.store import Store

NOW = 1_000_000.0


@pytest.fixture
def store() -> Store:
    return Store(":memory:")


def scheduled(store: Store, *ats: int) -> None:
    store.put((f"at {at}", at, "http://target") for at in ats)


def settled(store: Store, now: float) -> None:
    while on_stream(store, now):
        pass


def received(store: Store, now: float) -> list[str]:
    return [message.id for message in store.receive(now, 10, 10)]


def test_the_fraction_of_a_second_is_cut_off_so_it_may_be_early() -> None:
    assert point_in_time(12_999) == 12


def test_the_zone_is_from_now_to_fourteen_minutes_ahead() -> None:
    assert [is_in_zone(at, 1_000) for at in (999, 1_000, 1_000 + ZONE_SECONDS, 1_001 + ZONE_SECONDS)] == [
        False,
        True,
        True,
        False,
    ]
    assert delay(1_010, 1_000) == 10


def test_what_is_due_soon_goes_through_the_stream_to_the_queue_and_waits_there(store: Store) -> None:
    scheduled(store, int(NOW) + 30)
    settled(store, NOW)
    assert store.scan() == []
    assert received(store, NOW + 29.9) == []
    assert received(store, NOW + 30) == [f"at {int(NOW) + 30}"]


def test_what_is_due_later_is_found_by_the_scan_of_a_minute(store: Store) -> None:
    at = int(NOW) + ZONE_SECONDS + 50
    scheduled(store, at)
    settled(store, NOW)
    each_minute(store, NOW)
    assert store.scan() == [(f"at {at}", at)]
    each_minute(store, NOW + 60)
    settled(store, NOW + 60)
    assert received(store, at) == [f"at {at}"]


def test_what_is_late_is_never_sent(store: Store) -> None:
    """Its record stays in the table for ever, and each scan reads it again."""
    scheduled(store, int(NOW) - 1)
    each_minute(store, NOW)
    settled(store, NOW)
    assert len(store.scan()) == 1
    assert received(store, NOW + 3600) == []


def test_what_gets_late_between_its_deletion_and_the_stream_is_lost(store: Store) -> None:
    scheduled(store, int(NOW) + 5)
    store.pass_records(1)
    each_minute(store, NOW)
    settled(store, NOW + 6)
    assert (store.scan(), received(store, NOW + 3600), store.waiting()) == ([], [], 0)


def test_the_time_that_the_stream_takes_is_added(store: Store) -> None:
    """Whole seconds of delay, from a moment that is none."""
    scheduled(store, int(NOW) + 30)
    settled(store, NOW + 0.7)
    assert received(store, NOW + 30.6) == []
    assert len(received(store, NOW + 30.7)) == 1


def test_a_message_comes_again_ten_seconds_after_its_receiver_was_killed(store: Store) -> None:
    store.send([("a", "http://target", NOW)])
    assert received(store, NOW) == ["a"]
    assert received(store, NOW + 9.9) == []
    assert received(store, NOW + 10) == ["a"]


def test_fewer_than_ten_wait_for_a_receive_that_brings_nothing() -> None:
    buffer: Buffer[int] = Buffer()
    assert buffer.to_publish([1, 2]) == []
    assert buffer.to_publish([]) == [1, 2]
    assert buffer.to_publish(list(range(10))) == list(range(10))


def test_what_was_published_is_deleted(store: Store) -> None:
    store.send([("a", "http://target", NOW)])
    sent: list[tuple[str, str]] = []
    poller = Poller(store, lambda url, schedule_id: sent.append((url, schedule_id)))
    poller.publish(poller.receive(NOW))
    assert (sent, store.waiting()) == ([], 1)
    poller.publish(poller.receive(NOW + 3))
    assert (sent, store.waiting()) == ([("http://target", "a")], 0)
