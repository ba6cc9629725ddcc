"""The end of a run names its slowest tests, and those above a second that give no reason."""

import pytest

from tests.running.slow import KEY, SHOWN, says_why, slowest


def report(name: str, seconds: float, *, why: bool = False) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=name,
        location=(name, 0, name),
        keywords={},
        outcome="passed",
        longrepr=None,
        when="call",
        duration=seconds,
        user_properties=[(KEY, why)],
    )


def with_a_reason() -> None:
    """Five seconds: it starts a process of its own."""


def without_one() -> None:
    """It starts a process of its own, and the second one, too."""


def test_a_reason_speaks_of_seconds() -> None:
    assert says_why(with_a_reason)
    assert not says_why(without_one)
    assert not says_why(None)


def test_the_slowest_come_first_and_no_more_than_ten() -> None:
    lines = slowest([report(f"test_{number}", number / 100) for number in range(20)])
    assert len(lines) == SHOWN
    assert lines[0].split() == ["0.19", "s", "test_19"]


def test_one_above_a_second_without_a_reason_is_named_wherever_it_stands() -> None:
    known = [report(f"test_{number}", 5, why=True) for number in range(SHOWN)]
    lines = slowest([*known, report("test_silent", 1.5), report("test_short", 0.5), report("test_said", 2, why=True)])
    assert len(lines) == SHOWN + 1
    assert lines[-1] == "   1.50 s  test_silent  (says no reason)"
    assert not any("reason" in line for line in lines[:-1])


def test_nothing_is_said_of_a_run_of_nothing() -> None:
    assert slowest([]) == []
