"""A test of many things fails if one of them is wrong, and tells all that are."""

import pytest

from tests.running.of_each import of_each


@of_each([1, 3, 5])
def test_all_are_odd(number: int) -> None:
    """It runs for each, and keeps its name and its docstring."""
    assert number % 2


def test_everything_that_is_wrong_is_said() -> None:
    """Also what comes after the first, and whatever was raised."""
    seen = []

    @of_each([(1, 0), (4, 2), (3, 2)], unpacked=True)
    def check(one: int, other: int) -> None:
        seen.append(one)
        assert one / other == 2

    with pytest.raises(ExceptionGroup, match="2 of 3 are wrong") as caught:
        check()
    assert seen == [1, 4, 3]
    assert [type(error) for error in caught.value.exceptions] == [ZeroDivisionError, AssertionError]
    assert caught.value.exceptions[1].__notes__ == ["This is of (3, 2)."]


def test_it_is_the_test_of_one_by_name_and_docstring() -> None:
    assert test_all_are_odd.__name__ == "test_all_are_odd"
    assert "It runs for each" in str(test_all_are_odd.__doc__)


def test_a_test_of_nothing_cannot_be_written() -> None:
    with pytest.raises(AssertionError, match="cannot fail"):
        of_each([])
