"""The order in which the modules of the tests are handed out."""

from tests.cfn import ROOT
from tests.conftest import LAST, LATER, position_of, spread


def test_end_to_end_modules_are_spread_among_the_others() -> None:
    """So that hardly ever both processes wait, or both compute."""
    others = [f"unit {number}" for number in range(8)]
    assert spread(["a", "b", "c"], others) == [*others[:2], "a", *others[2:4], "b", *others[4:6], "c", *others[6:]]
    assert spread([], others) == others
    assert spread(["a", "b"], []) == ["a", "b"]


def test_what_waits_for_minutes_comes_last() -> None:
    """Also if it is the first by name."""
    assert all((ROOT / name).exists() for name in (*LAST, LATER))
    assert sorted([*reversed(LAST), "tests/e2e/test_zebra.py"], key=position_of) == ["tests/e2e/test_zebra.py", *LAST]
