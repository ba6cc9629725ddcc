"""A test that sleeps under a clock that is moved by hand fails, and no other does."""

import time
from collections.abc import Callable
from threading import Condition, Event, Timer

import pytest

from delayer.engines.memory import AtOnce, ManualClock
from tests.running.waiting import MOST, Watch, pytest_runtest_call, pytest_runtest_protocol

LONGER = MOST * 1.2


def wait_in_vain() -> None:
    Event().wait(LONGER)


def wait_at_a_meeting() -> None:
    with (meeting := Condition()):
        meeting.wait(LONGER)


def sleep_in_pieces() -> None:
    for _ in range(4):
        time.sleep(LONGER / 4)


@pytest.mark.parametrize("wait", [wait_in_vain, wait_at_a_meeting, sleep_in_pieces])
def test_whoever_waits_under_a_manual_clock_fails(wait: Callable[[], None]) -> None:
    """By whatever means, and in sum."""
    with Watch() as watch:
        ManualClock(0)
        wait()
    with pytest.raises(AssertionError, match=r"it waited 0\.06 s under a clock that is moved by hand"):
        watch.check()


def test_whoever_waits_under_the_true_clock_does_not() -> None:
    with Watch() as watch:
        time.sleep(LONGER)
    watch.check()
    assert watch.waited >= LONGER


def test_each_watch_is_itself() -> None:
    """One that has seen the same as another is not taken for it."""
    with Watch() as outer:
        with Watch() as inner:
            time.sleep(MOST / 5)
        time.sleep(MOST / 5)
    assert MOST > outer.waited >= MOST / 5
    assert MOST > inner.waited >= MOST / 5


def test_to_wait_for_somebody_who_comes_is_no_waste() -> None:
    """However long it takes: the other thread works."""
    comes = Event()
    with Watch() as watch:
        ManualClock(0)
        Timer(LONGER, comes.set).start()
        assert comes.wait(60)
    watch.check()
    assert watch.waited == 0


def test_what_is_done_apart_under_a_manual_clock_takes_no_time() -> None:
    """Whoever waits for nothing moves the clock."""
    with Watch() as watch:
        workers = AtOnce(clock := ManualClock(0))
        workers.start(1, lambda: "one")
        workers.do(2, lambda: "two")
        assert workers.ended(60_000) == [(1, "one"), (2, "two")]
        assert clock.now() == 0
        assert workers.ended(60_000) == []
        assert clock.now() == 60_000
    watch.check()
    assert watch.waited < MOST


def test_every_test_here_is_watched(request: pytest.FixtureRequest) -> None:
    """By the hooks in the conftest.py of its folder; a clock made in a fixture counts as well."""
    plugins = request.config.pluginmanager.get_plugins()
    watched = [one for one in plugins if getattr(one, "pytest_runtest_call", None) is pytest_runtest_call]
    assert any(str(getattr(one, "__file__", "")).endswith("tests/unit/conftest.py") for one in watched)
    assert all(getattr(one, "pytest_runtest_protocol", None) is pytest_runtest_protocol for one in watched)
