"""Where a schedule stands: in its own minute, never in one that is over, in due order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.schedule.instants import YEAR, minute_of, start_of
from delayer.schedule.schedule_id import LAST_INSTANT, MAX_SHARD, Address, Bucket, address_for
from tests.samples import NOW, an_id

instants = st.integers(0, 9_999_999_999_999)  # thirteen digits: to the year 2286
shards = st.integers(0, MAX_SHARD)


def test_the_keys_as_an_operator_sees_them() -> None:
    address = Address(due=NOW + 250, shard=3)
    assert address.bucket.key == "2026-11-21T09:00#3"
    assert address.sort_key("an-id") == "1795251600250#an-id"


@given(instants, instants, shards)
def test_never_in_a_minute_that_is_over(point_in_time: int, now: int, shard: int) -> None:
    """A bucket once closed stays empty: what is overdue is filed under the instant it was accepted."""
    address = address_for(point_in_time, now, shard)
    assert address.bucket.minute >= minute_of(now)
    assert address.due >= point_in_time
    assert address.due in (point_in_time, now)
    assert address.shard == shard


@given(instants, shards)
def test_it_lies_within_its_bucket(due: int, shard: int) -> None:
    bucket = Address(due=due, shard=shard).bucket
    assert start_of(bucket.minute) <= due < start_of(bucket.minute + 1)
    assert bucket.shard == shard


@given(st.tuples(instants, shards), st.tuples(instants, shards))
def test_different_buckets_have_different_keys(one: tuple[int, int], other: tuple[int, int]) -> None:
    buckets = [Address(due=due, shard=shard).bucket for due, shard in (one, other)]
    assert (buckets[0] == buckets[1]) == (buckets[0].key == buckets[1].key)


@given(instants, instants)
def test_sort_keys_stand_in_due_order(one: int, other: int) -> None:
    """DynamoDB compares their bytes."""
    first, second = sorted([one, other])
    keys = [Address(due=due, shard=0).sort_key(an_id(due)).encode() for due in (first, second)]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("due", "shard"), [(-1, 0), (LAST_INSTANT + 1, 0), (0, -1), (0, MAX_SHARD + 1), (2**48 - 1, 0)]
)
def test_bounds(due: int, shard: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        Address(due=due, shard=shard)


def test_the_bounds_have_keys() -> None:
    """No address that can be made breaks what reads it."""
    assert Address(due=LAST_INSTANT, shard=MAX_SHARD).bucket.key == "9999-12-31T23:59#4095"
    assert Address(due=0, shard=0).bucket.key == "1970-01-01T00:00#0"
    assert LAST_INSTANT > NOW + 10 * YEAR


def test_a_bucket_has_no_shard_that_no_id_holds() -> None:
    with pytest.raises(ValueError, match="shard"):
        Bucket(minute=0, shard=MAX_SHARD + 1)
