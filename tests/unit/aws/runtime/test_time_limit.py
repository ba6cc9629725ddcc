"""An attempt that hangs holds up nobody, and threads that hang do not pile up."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import pytest

from delayer.aws.runtime.time_limit import MOST_LEFT_BEHIND, NAME, TimeLimit, TookTooLong

SHORT = 0.001  # seconds


@contextmanager
def hanging() -> Iterator[Event]:
    """What somebody waits for; in the end it comes."""
    event = Event()
    yield event
    event.set()


def test_what_it_returns() -> None:
    limit = TimeLimit()
    assert limit.within(5, lambda: 7) == 7
    assert limit.within(5, lambda: None) is None


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit("x")])
def test_what_it_raises(error: BaseException) -> None:
    def raise_it() -> None:
        raise error

    with pytest.raises(type(error), match="x"):
        TimeLimit().within(5, raise_it)


def test_what_hangs_is_left_behind() -> None:
    limit = TimeLimit()
    with hanging() as event, pytest.raises(TookTooLong):
        limit.within(SHORT, event.wait)


def test_the_environment_is_given_up_when_too_many_threads_hang_and_not_before() -> None:
    left: list[int] = []
    limit = TimeLimit(left.append)
    with hanging() as event:
        for _ in range(MOST_LEFT_BEHIND):
            limit.begin()
            with pytest.raises(TookTooLong):
                limit.within(SHORT, event.wait)
        assert left == []
        limit.begin()
        assert left == [1]


def test_threads_that_have_ended_are_forgotten() -> None:
    left: list[int] = []
    limit = TimeLimit(left.append)
    for _ in range(2):
        with hanging() as event:
            for _ in range(MOST_LEFT_BEHIND - 1):
                with pytest.raises(TookTooLong):
                    limit.within(SHORT, event.wait)
        for thread in threading.enumerate():
            if thread.name == NAME:
                thread.join(5)
        limit.begin()
    assert left == []
