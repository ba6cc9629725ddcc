"""Offsets within a window are even, steady and within it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.accept.rules.window import MAX_WINDOW_SECONDS, offset

keys = st.binary(min_size=1, max_size=64)


@given(keys, st.integers(1, MAX_WINDOW_SECONDS))
def test_it_is_within_the_window_and_always_the_same(key: bytes, seconds: int) -> None:
    assert 0 <= offset(key, seconds) < seconds * 1000
    assert offset(key, seconds) == offset(key, seconds)


@given(keys)
def test_without_a_window_there_is_none(key: bytes) -> None:
    assert offset(key, 0) == 0


def test_it_is_even_over_the_window() -> None:
    """10,000 keys in 100 parts: each has between 60 and 140."""
    parts = [0] * 100
    for number in range(10_000):
        parts[offset(number.to_bytes(8, "big"), 900) // 9_000] += 1
    assert min(parts) > 60
    assert max(parts) < 140


@pytest.mark.parametrize("seconds", [-1, MAX_WINDOW_SECONDS + 1])
def test_a_window_has_bounds(seconds: int) -> None:
    with pytest.raises(ValueError, match="are allowed"):
        offset(b"k", seconds)
