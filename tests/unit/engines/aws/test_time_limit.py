"""An attempt that hangs holds up nobody, and threads that hang do not pile up."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Barrier, Event

import pytest

from delayer.engines.aws.time_limit import MOST_IDLE, MOST_LEFT_BEHIND, NAME, TimeLimit, TookTooLong

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
    others = set(threading.enumerate())  # some wait for an attempt, and do not end
    for _ in range(2):
        with hanging() as event:
            for _ in range(MOST_LEFT_BEHIND - 1):
                with pytest.raises(TookTooLong):
                    limit.within(SHORT, event.wait)
        for thread in {*threading.enumerate()} - others:
            thread.join(20)
            assert not thread.is_alive()
        limit.begin()
    assert left == []


def test_one_thread_makes_attempt_after_attempt() -> None:
    limit = TimeLimit()
    assert len({limit.within(5, threading.get_ident) for _ in range(50)}) == 1


def test_a_thread_that_was_left_behind_makes_no_other_attempt() -> None:
    limit, hung = TimeLimit(), list[int]()

    def hang(event: Event) -> None:
        hung.append(threading.get_ident())
        event.wait()

    with hanging() as event:
        with pytest.raises(TookTooLong):
            limit.within(SHORT, lambda: hang(event))
        assert limit.within(5, threading.get_ident) not in hung
    assert limit.within(5, threading.get_ident) not in hung


def test_what_an_attempt_raised_is_not_raised_by_the_next_one() -> None:
    limit = TimeLimit()
    with pytest.raises(ZeroDivisionError):
        limit.within(5, lambda: 1 // 0)
    assert limit.within(5, lambda: 7) == 7


def test_what_an_attempt_sets_for_itself_is_not_seen_by_the_next_one() -> None:
    """The next one may be of another owner."""
    limit, owner = TimeLimit(), ContextVar[str]("owner")
    limit.within(5, lambda: owner.set("somebody"))
    assert limit.within(5, lambda: owner.get("nobody")) == "nobody"


def test_few_threads_wait_for_another_attempt() -> None:
    """Those of a burst end."""
    limit, all_are_there = TimeLimit(), Barrier(MOST_IDLE + 5)

    def attempt() -> None:
        limit.within(20, all_are_there.wait)

    def waiting() -> set[threading.Thread]:
        return {one for one in threading.enumerate() if one.name == NAME}

    before = waiting()
    callers = [threading.Thread(target=attempt) for _ in range(MOST_IDLE + 5)]
    for one in callers:
        one.start()
    for one in callers:
        one.join(20)
    deadline = time.monotonic() + 20
    while len(waiting() - before) > MOST_IDLE and time.monotonic() < deadline:
        time.sleep(0.001)  # until the others have ended
    assert len(waiting() - before) == MOST_IDLE
