"""The id is the address, and cannot be forged."""

import base64
import contextlib
import string
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.accept.rules.admission import MAX_PAST
from delayer.schedule.instants import DAY, MINUTE, STALE_AFTER, Millis
from delayer.schedule.schedule_id import (
    KEY_BYTES,
    LAST_INSTANT,
    LENGTH,
    MAX_OVERDUE,
    MAX_SHARD,
    RANDOM_BYTES,
    READ_AGAIN,
    READABLE,
    WRITES_AFTER,
    Address,
    IdKeyNotRotated,
    IdKeys,
    IdKind,
    address_of,
    first_keys,
    in_lane,
    is_genuine,
    is_occurrence,
    is_relaxed,
    is_undecided,
    key_of,
    kind_of,
    mint,
    point_in_time_of,
    random_part_of,
    rotated,
)
from tests.samples import GOLDEN, KEY, NOW, OWNER, RANDOMNESS, an_id

ALPHABET = string.digits + string.ascii_lowercase[:22]

dues = st.integers(0, LAST_INSTANT)
shards = st.integers(0, MAX_SHARD)
randomness = st.binary(min_size=RANDOM_BYTES, max_size=RANDOM_BYTES)
owners = st.text(min_size=1, max_size=256)


@given(dues, shards, owners, randomness)
def test_round_trip(due: int, shard: int, owner: str, random: bytes) -> None:
    address = Address(due=due, shard=shard)
    schedule_id = mint(address, owner, point_in_time=due, key=KEY, randomness=random)
    assert address_of(schedule_id) == address
    assert is_genuine(schedule_id, owner, key=KEY)
    assert len(schedule_id) == LENGTH
    assert set(schedule_id) <= set(ALPHABET)


def _answers(schedule_id: str) -> list[Any]:
    """All that an id tells, or the error that it raises."""
    answers: list[Any] = []
    for ask in (address_of, kind_of, key_of, point_in_time_of, random_part_of, is_relaxed, is_undecided, is_occurrence):
        try:
            answers.append(ask(schedule_id))
        except ValueError as error:
            answers.append(str(error))
    return answers


@given(whole=st.binary(min_size=29, max_size=29), spare=st.sampled_from("08"), end=st.sampled_from(["", "!", "0"]))
def test_an_id_tells_the_same_each_time(whole: bytes, spare: str, end: str) -> None:
    """Its parts are kept; what is no id, or of no known kind, or after the year 9999, is told so again."""
    written = base64.b32hexencode(whole).decode().rstrip("=").lower()[:-1] + spare + end
    first = _answers(written)
    assert _answers(written) == first
    assert is_genuine(written, OWNER, key=KEY) is is_genuine(written, OWNER, key=KEY) is False


@given(dues, shards, st.sampled_from(IdKind))
def test_it_tells_the_kind_and_the_address_is_the_same(due: int, shard: int, kind: IdKind) -> None:
    """Nothing is read to know it, and it cannot be changed."""
    address = Address(due=due, shard=shard)
    made, plain = (
        mint(address, OWNER, point_in_time=due, key=KEY, randomness=RANDOMNESS, kind=one)
        for one in (kind, IdKind.PLAIN)
    )
    assert (kind_of(made), address_of(made)) == (kind, address)
    assert key_of(made).bucket == (f"undecided#{shard}" if kind is IdKind.UNDECIDED else address.bucket.key)
    assert is_undecided(made) is (kind is IdKind.UNDECIDED)
    assert is_relaxed(made) is (kind in (IdKind.RELAXED, IdKind.RELAXED_OCCURRENCE))
    assert is_occurrence(made) is (kind in (IdKind.OCCURRENCE, IdKind.RELAXED_OCCURRENCE))
    lane = "waiting" if is_undecided(made) else "relaxed" if is_relaxed(made) else "precise"
    assert in_lane(made, precise="precise", relaxed="relaxed", waiting="waiting") == lane
    assert random_part_of(made) == RANDOMNESS
    assert is_genuine(made, OWNER, key=KEY)
    assert (made == plain) is (kind is IdKind.PLAIN)


def test_an_id_of_the_first_version_is_plain() -> None:
    assert kind_of((GOLDEN / "id.txt").read_text().strip()) is IdKind.PLAIN


def test_a_kind_that_only_a_later_version_knows() -> None:
    """Its address can be read all the same."""
    later: Any = 9
    made = mint(Address(due=NOW, shard=3), OWNER, point_in_time=NOW, key=KEY, randomness=RANDOMNESS, kind=later)
    assert address_of(made) == Address(due=NOW, shard=3)
    assert not any(is_one(made) for is_one in (is_undecided, is_relaxed, is_occurrence))
    assert in_lane(made, precise=1, relaxed=2, waiting=3) == 1
    with pytest.raises(ValueError, match="9"):
        kind_of(made)


@given(dues, shards, st.integers(0, 60 * DAY))
@example(NOW, 0, MAX_OVERDUE)
@example(NOW, 0, MAX_OVERDUE + 1)
def test_it_holds_the_point_in_time_asked_for(due: int, shard: int, overdue: Millis) -> None:
    """Also of what was overdue when it came; beyond 49 days, which is long after anything fires, it is cut."""
    asked = max(due - overdue, 0)
    schedule_id = an_id(due, shard, point_in_time=asked)
    assert point_in_time_of(schedule_id) == (asked if due - asked <= MAX_OVERDUE else due - MAX_OVERDUE)
    assert address_of(schedule_id) == Address(due=due, shard=shard), "its address is no other for it"
    assert is_genuine(schedule_id, OWNER, key=KEY)
    assert len(schedule_id) == LENGTH == 47


@given(dues, st.integers(0, LAST_INSTANT))
def test_what_is_not_overdue_is_due_when_its_address_says(due: int, later: Millis) -> None:
    """A point in time after that of the address does not occur; an id would not hold it."""
    assert point_in_time_of(an_id(due, point_in_time=due + later)) == due


def test_what_is_cut_would_never_fire() -> None:
    """A copy more than 29 days late becomes a dead letter, and no request may be more than a minute late."""
    assert MAX_OVERDUE > STALE_AFTER + MAX_PAST
    assert MAX_OVERDUE // DAY == 49


@given(dues, shards, st.integers(1, DAY), st.integers(0, 7))
def test_the_point_in_time_cannot_be_forged(due: int, shard: int, overdue: Millis, bit: int) -> None:
    """The code covers it, as it covers the address."""
    genuine = an_id(due, shard, point_in_time=max(due - overdue, 0))
    whole = bytearray(base64.b32hexdecode(genuine.upper() + "="))
    whole[12] ^= 1 << bit
    forged = base64.b32hexencode(bytes(whole)).decode().rstrip("=").lower()
    assert address_of(forged) == address_of(genuine)
    assert point_in_time_of(forged) != point_in_time_of(genuine)
    assert not is_genuine(forged, OWNER, key=KEY)


@pytest.mark.parametrize("text", ["", "no id", "0" * LENGTH, "v" * LENGTH])
def test_what_is_no_id_has_no_point_in_time(text: str) -> None:
    with pytest.raises(ValueError, match="not a schedule id"):
        point_in_time_of(text)


@given(dues, dues, shards, shards, st.integers(0, DAY), st.integers(0, DAY))
def test_ids_sort_by_due(
    one: int, other: int, shard: int, another: int, overdue: Millis, other_overdue: Millis
) -> None:
    """By that of their addresses, however overdue they came."""
    if one < other:
        first = an_id(one, shard, point_in_time=max(one - overdue, 0))
        assert first < an_id(other, another, point_in_time=max(other - other_overdue, 0))


@given(st.integers(0, LENGTH - 1), st.sampled_from(ALPHABET + "wxyzABV=-_é"))
def test_any_changed_character_is_noticed(position: int, character: str) -> None:
    genuine = an_id()
    changed = genuine[:position] + character + genuine[position + 1 :]
    assert is_genuine(changed, OWNER, key=KEY) == (changed == genuine)


@given(owners)
def test_no_other_owner_has_it(owner: str) -> None:
    assert is_genuine(an_id(), owner, key=KEY) == (owner == OWNER)


@given(st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES))
def test_no_other_key_made_it(key: bytes) -> None:
    assert is_genuine(an_id(), OWNER, key=key) == (key == KEY)


@given(randomness, randomness)
def test_ids_of_one_instant_differ_by_their_randomness(one: bytes, other: bytes) -> None:
    assert (an_id(randomness=one) == an_id(randomness=other)) == (one == other)


@given(st.one_of(st.text(), st.text(ALPHABET, min_size=LENGTH, max_size=LENGTH)))
@example("0" * LENGTH)
@example("v" * LENGTH)
@example("04" + "v" * (LENGTH - 2))
@example("İ" * LENGTH)
@example("\ud800" * LENGTH)
def test_no_text_is_more_than_a_value_error(text: str) -> None:
    """And no made-up text is genuine."""
    with contextlib.suppress(ValueError):
        assert isinstance(address_of(text), Address)
    assert not is_genuine(text, OWNER, key=KEY)


def test_one_spelling_only() -> None:
    """The bits that 47 characters have to spare do not make a second id of the same address."""
    genuine = an_id()
    for variant in (genuine.upper(), genuine + "=", genuine[:-1] + ALPHABET[ALPHABET.index(genuine[-1]) ^ 1]):
        with pytest.raises(ValueError, match="id"):
            address_of(variant)


def test_the_golden_id() -> None:
    """An id once given out is read for ever."""
    golden = (GOLDEN / "id.txt").read_text().strip()
    assert golden == an_id(NOW + 250, 7, point_in_time=NOW - MINUTE)
    assert address_of(golden) == Address(due=NOW + 250, shard=7)
    assert point_in_time_of(golden) == NOW - MINUTE
    assert is_genuine(golden, OWNER, key=KEY)


def test_the_version_names_the_key() -> None:
    """The first eight bits; 0 is none. Another version is another id, and the key of the first did not make it."""
    with pytest.raises(ValueError, match="version"):
        address_of("00" + an_id()[2:])
    address = Address(due=NOW, shard=3)
    second = mint(address, OWNER, point_in_time=NOW, key=KEY, randomness=RANDOMNESS, version=2)
    assert second[2:13] == an_id()[2:13]
    keys = rotated(first_keys(KEY, NOW), bytes(32), NOW)
    assert [getattr(keys.of(one), "version", 0) for one in (an_id(), second)] == [1, 2]
    assert first_keys(KEY, NOW).of(second) is None
    changed = second[:1] + ("4" if second[1] == "8" else "8") + second[2:]
    assert not is_genuine(changed, OWNER, key=KEY)


def test_a_new_key_makes_ids_after_all_have_read_it() -> None:
    first = first_keys(KEY, NOW)
    keys = rotated(first, bytes(32), NOW + DAY)
    at = NOW + DAY + WRITES_AFTER
    assert [getattr(keys.at(instant), "version", 0) for instant in (NOW - 1, NOW, at - 1, at)] == [1, 1, 1, 2]
    assert WRITES_AFTER > READ_AGAIN + 5 * MINUTE, "for clocks that differ, and a read that takes long"
    assert IdKeys().at(NOW) is None
    assert str(KEY) not in repr(keys), "no log shows a secret"
    with pytest.raises(IdKeyNotRotated, match="not used yet"):
        rotated(keys, bytes(32), at - 1)


def test_a_key_is_readable_as_long_as_its_ids_may_live() -> None:
    """The last one that it made may be due in ten years, and is answered for 29 days more."""
    keys = rotated(first_keys(KEY, NOW), bytes(32), NOW)
    last = NOW + WRITES_AFTER
    assert READABLE >= 315_576_000_000 + STALE_AFTER
    assert rotated(keys, bytes(32), last + READABLE - 1).keys[0].version == 1
    assert [key.version for key in rotated(keys, bytes(32), last + READABLE).keys] == [2, 3]


def test_the_versions_end() -> None:
    keys, now = first_keys(KEY, NOW), NOW
    for version in range(2, 256):
        now += DAY
        keys = rotated(keys, version.to_bytes(32, "big"), now)
    with pytest.raises(IdKeyNotRotated, match="255"):
        rotated(keys, bytes(32), now + DAY)
    with pytest.raises(IdKeyNotRotated, match="no key"):
        rotated(IdKeys(), bytes(32), now)
