"""What hangs in a thread holds up nobody, and threads that hang do not pile up."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Barrier, Event
from typing import Any

import pytest

from delayer.engines.ports import Workers
from delayer.engines.process import SystemClock
from delayer.engines.workers import MOST_IDLE, MOST_LEFT_BEHIND, NAME, WorkerThreads

SHORT = 5  # milliseconds
LONG = 20_000


@contextmanager
def hanging() -> Iterator[Event]:
    """What somebody waits for; in the end it comes."""
    event = Event()
    yield event
    event.set()


def now() -> int:
    return SystemClock().now()


def heard(workers: Workers, number: int) -> list[tuple[int, Any]]:
    """As many as that, or those that have ended within twenty seconds."""
    found: list[tuple[int, Any]] = []
    deadline = now() + LONG
    while len(found) < number and now() < deadline:
        found += workers.ended(deadline)
    return found


def done(workers: Workers, do: Any, number: int = 1) -> Any:
    """What it returns, or has raised."""
    workers.start(number, do)
    [(reported, outcome)] = heard(workers, 1)
    assert reported == number
    return outcome


def nothing_more(workers: Workers) -> bool:
    return workers.ended(now() + SHORT) == []


def test_what_it_returns() -> None:
    workers = WorkerThreads()
    assert done(workers, lambda: 7) == 7
    assert done(workers, lambda: None) is None
    assert nothing_more(workers), "it is reported once"


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit("x")])
def test_what_it_raises(error: BaseException) -> None:
    def raise_it() -> None:
        raise error

    workers = WorkerThreads()
    assert done(workers, raise_it) is error
    workers.do(2, raise_it)
    assert workers.ended(0) == [(2, error)]


def test_whoever_leads_does_something_itself() -> None:
    workers = WorkerThreads()
    workers.do(5, threading.get_ident)
    assert workers.ended(None) == [(5, threading.get_ident())]
    assert done(workers, threading.get_ident) != threading.get_ident()


def test_each_is_reported_when_it_ends_whatever_hangs() -> None:
    workers = WorkerThreads()
    with hanging() as event:
        workers.start(1, event.wait)
        workers.start(2, lambda: "quick")
        assert heard(workers, 1) == [(2, "quick")]
        assert workers.ended(0) == []
    assert heard(workers, 1) == [(1, True)]


def test_many_that_have_ended_are_reported_at_once() -> None:
    workers = WorkerThreads()
    all_are_there = Barrier(4)
    for number in range(3):
        workers.start(number, all_are_there.wait)
    all_are_there.wait(20)
    assert sorted(number for number, _ in heard(workers, 3)) == [0, 1, 2]


def test_it_waits_until_an_instant_and_not_longer() -> None:
    workers = WorkerThreads()
    with hanging() as event:
        workers.start(1, event.wait)
        until = now() + 2 * SHORT
        assert workers.ended(until) == []
        assert now() >= until, "not before, or the leader would run in circles"
        began = time.monotonic()
        assert workers.ended(0) == workers.ended(now() - SHORT) == []
        assert time.monotonic() - began < 1


def test_what_hangs_is_left_behind_and_its_end_is_reported_no_more() -> None:
    workers = WorkerThreads()
    with hanging() as event:
        workers.start(1, event.wait)
        workers.leave_behind(1)
        assert done(workers, lambda: "next", number=2) == "next"
    assert nothing_more(workers)


def test_what_has_ended_when_it_is_left_behind_is_reported_no_more() -> None:
    """Its end and its deadline come at one moment: whoever waited has gone on."""
    workers, has_ended = WorkerThreads(), Event()
    workers.start(1, has_ended.set)
    has_ended.wait(20)
    workers.leave_behind(1)
    assert nothing_more(workers)


def test_a_late_end_is_not_taken_for_another_that_has_its_number() -> None:
    """Each batch counts from one again."""
    workers = WorkerThreads()
    with hanging() as first:
        workers.start(1, first.wait)
        workers.leave_behind(1)
        with hanging() as second:
            workers.begin()
            workers.start(1, second.wait)
            first.set()
            assert nothing_more(workers)
        assert heard(workers, 1) == [(1, True)]


@pytest.mark.parametrize("kind", ["start", "do"])
def test_an_invocation_hears_nothing_of_an_earlier_one_that_died_of_an_error(kind: str) -> None:
    """The process lives on, and so do its threads: each batch counts from one again."""
    workers = WorkerThreads()
    with hanging() as event:
        workers.start(3, event.wait)
        workers.do(1, lambda: "of the earlier one")
        workers.begin()
        getattr(workers, kind)(1, lambda: "its own")
        assert heard(workers, 1) == [(1, "its own")]
        event.set()
        assert workers.ended(now() + 10 * SHORT) == []


def test_the_environment_is_given_up_when_too_many_threads_hang_and_not_before() -> None:
    left: list[int] = []
    workers = WorkerThreads(left.append)
    with hanging() as event:
        for number in range(MOST_LEFT_BEHIND):
            workers.begin()
            workers.start(number, event.wait)
            workers.leave_behind(number)
        assert left == []
        workers.begin()
        assert left == [1]


def test_threads_that_have_ended_are_forgotten() -> None:
    left: list[int] = []
    workers = WorkerThreads(left.append)
    others = set(threading.enumerate())  # some wait for something to do, and do not end
    for _ in range(2):
        with hanging() as event:
            for number in range(MOST_LEFT_BEHIND - 1):
                workers.start(number, event.wait)
                workers.leave_behind(number)
        for thread in {*threading.enumerate()} - others:
            thread.join(20)
            assert not thread.is_alive()
        workers.begin()
    assert left == []


def test_one_thread_does_one_thing_after_the_other() -> None:
    workers = WorkerThreads()
    assert len({done(workers, threading.get_ident) for _ in range(50)}) == 1


def test_a_thread_that_was_left_behind_does_nothing_else() -> None:
    workers, hung = WorkerThreads(), list[int]()

    def hang(event: Event) -> None:
        hung.append(threading.get_ident())
        event.wait()

    with hanging() as event:
        workers.start(1, lambda: hang(event))
        workers.leave_behind(1)
        assert done(workers, threading.get_ident) not in hung
    assert done(workers, threading.get_ident) not in hung


def test_what_was_raised_is_not_raised_by_the_next_one() -> None:
    workers = WorkerThreads()
    assert isinstance(done(workers, lambda: 1 // 0), ZeroDivisionError)
    assert done(workers, lambda: 7) == 7


@pytest.mark.parametrize("do", ["start", "do"])
def test_what_one_sets_for_itself_is_not_seen_by_the_next_one(do: str) -> None:
    """The next one may be of another owner."""
    workers, owner = WorkerThreads(), ContextVar[str]("owner")
    for number, what in enumerate([lambda: owner.set("somebody"), lambda: owner.get("nobody")]):
        getattr(workers, do)(number, what)
        [(_, seen)] = heard(workers, 1)
    assert seen == "nobody"
    assert owner.get("nobody") == "nobody"


def test_few_threads_wait_for_something_to_do() -> None:
    """Those of a burst end."""
    workers, all_are_there = WorkerThreads(), Barrier(MOST_IDLE + 5)

    def waiting() -> set[threading.Thread]:
        return {one for one in threading.enumerate() if one.name == NAME}

    before = waiting()
    for number in range(MOST_IDLE + 5):
        workers.start(number, all_are_there.wait)
    assert len(heard(workers, MOST_IDLE + 5)) == MOST_IDLE + 5
    deadline = time.monotonic() + 20
    while len(waiting() - before) > MOST_IDLE and time.monotonic() < deadline:
        time.sleep(0.001)  # until the others have ended
    assert len(waiting() - before) == MOST_IDLE
