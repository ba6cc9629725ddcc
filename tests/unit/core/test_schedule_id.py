"""The id is the address, and cannot be forged."""

import contextlib
import string
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.core.bucket import LAST_INSTANT, MAX_SHARD, Address
from delayer.core.schedule_id import KEY_BYTES, LENGTH, RANDOM_BYTES, address_of, is_genuine, mint
from tests.samples import KEY, NOW, OWNER, RANDOMNESS, an_id

GOLDEN = Path(__file__).parents[2] / "golden/v1/id.txt"
ALPHABET = string.digits + string.ascii_lowercase[:22]

dues = st.integers(0, LAST_INSTANT)
shards = st.integers(0, MAX_SHARD)
randomness = st.binary(min_size=RANDOM_BYTES, max_size=RANDOM_BYTES)
owners = st.text(min_size=1, max_size=256)


@given(dues, shards, owners, randomness)
def test_round_trip(due: int, shard: int, owner: str, random: bytes) -> None:
    address = Address(due=due, shard=shard)
    schedule_id = mint(address, owner, key=KEY, randomness=random)
    assert address_of(schedule_id) == address
    assert is_genuine(schedule_id, owner, key=KEY)
    assert len(schedule_id) == LENGTH
    assert set(schedule_id) <= set(ALPHABET)


@given(dues, dues, shards, shards)
def test_ids_sort_by_due(one: int, other: int, shard: int, another: int) -> None:
    if one < other:
        assert an_id(one, shard) < an_id(other, another)


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
    """The bits that 44 characters have to spare do not make a second id of the same address."""
    genuine = an_id()
    for variant in (genuine.upper(), genuine + "=", genuine[:-1] + ALPHABET[ALPHABET.index(genuine[-1]) ^ 1]):
        with pytest.raises(ValueError, match="id"):
            address_of(variant)


def test_the_golden_id() -> None:
    """An id once given out is read for ever."""
    golden = GOLDEN.read_text().strip()
    assert golden == an_id(NOW + 250, 7)
    assert address_of(golden) == Address(due=NOW + 250, shard=7)
    assert is_genuine(golden, OWNER, key=KEY)


def test_an_unknown_version_is_refused() -> None:
    """The first eight bits are the version, so that the first two characters tell."""
    with pytest.raises(ValueError, match="version"):
        address_of("08" + an_id()[2:])
    assert len(RANDOMNESS) == RANDOM_BYTES
