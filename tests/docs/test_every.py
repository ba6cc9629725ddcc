"""A test of many things finds each that is wrong, and is red if it finds nothing to look at."""

import pytest

from tests.docs.every import every


def test_each_thing_that_is_wrong_is_named() -> None:
    @every([1, 2, 0, 4], named=lambda number: f"number {number}")
    def halves_are_known(number: int) -> None:
        assert {1: 0.5, 2: 1, 4: 3}[number] == number / 2, "half of it"

    with pytest.raises(pytest.fail.Exception) as failed:
        halves_are_known()
    assert "number 0: KeyError: 0" in str(failed.value)
    assert "number 4: AssertionError: half of it" in str(failed.value)
    assert "number 1" not in str(failed.value)
    assert halves_are_known.__name__ == "halves_are_known"


def test_nothing_to_look_at_is_wrong() -> None:
    @every([])
    def never_looked_at(one: object) -> None:
        """Nothing is wrong with what is not there."""

    with pytest.raises(pytest.fail.Exception, match="nothing to look at"):
        never_looked_at()
