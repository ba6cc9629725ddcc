"""A connection is cut when its deadline has passed, and never another one."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from weakref import ref

import pytest
from attrs import define

from delayer.targets.deadlines import NAME, Deadlines

Pair = tuple[socket.socket, socket.socket]


@contextmanager
def cut(deadlines: Deadlines, connected: socket.socket, deadline: float) -> Iterator[int]:
    """At that time, within this context."""
    number = deadlines.watch(connected, deadline)
    yield number
    deadlines.forget(number)


@pytest.fixture
def pairs() -> Iterator[list[Pair]]:
    made = [socket.socketpair() for _ in range(5)]
    for ours, theirs in made:
        ours.settimeout(20)
        theirs.settimeout(20)
    yield made
    for ours, theirs in made:
        ours.close()
        theirs.close()


def test_whoever_waits_goes_on_when_the_deadline_has_passed(pairs: list[Pair]) -> None:
    """The other side holds the connection open, and says nothing."""
    ours, _ = pairs[0]
    with cut(Deadlines(), ours, monotonic() + 0.05):
        assert ours.recv(1) == b""


def test_a_deadline_that_has_passed_already_cuts_at_once(pairs: list[Pair]) -> None:
    ours, _ = pairs[0]
    with cut(Deadlines(), ours, monotonic() - 1):
        assert ours.recv(1) == b""


def test_an_earlier_deadline_that_comes_later_is_kept(pairs: list[Pair]) -> None:
    """The thread sleeps until the first one by then."""
    deadlines, (first, _), (second, theirs) = Deadlines(), pairs[0], pairs[1]
    with cut(deadlines, first, monotonic() + 600), cut(deadlines, second, monotonic() + 0.05):
        assert second.recv(1) == b""
        theirs.close()
        first.settimeout(0)
        with pytest.raises(BlockingIOError):
            first.recv(1)


def test_each_is_cut_at_its_own(pairs: list[Pair]) -> None:
    deadlines, early = Deadlines(), list[int]()

    def wait(number: int, ours: socket.socket) -> None:
        deadline = monotonic() + 0.05 * (number + 1)
        with cut(deadlines, ours, deadline):
            ours.recv(1)
            if monotonic() < deadline:
                early.append(number)

    threads = [threading.Thread(target=wait, args=(number, ours)) for number, (ours, _) in enumerate(pairs)]
    for one in reversed(threads):
        one.start()
    for one in threads:
        one.join(20)
    assert not any(one.is_alive() for one in threads), "each was cut"
    assert early == []


def test_what_has_ended_is_not_cut(pairs: list[Pair]) -> None:
    """The socket lives on here, as another connection could that has got its number."""
    deadlines, (ended, other), (waits, _) = Deadlines(), pairs[0], pairs[1]
    with cut(deadlines, ended, monotonic() + 0.05):
        pass
    with cut(deadlines, waits, monotonic() + 0.1):
        assert waits.recv(1) == b"", "so the first deadline has passed, too"
    other.send(b"x")
    assert ended.recv(1) == b"x"


def test_another_deadline_takes_the_place_of_the_one_before(pairs: list[Pair]) -> None:
    """Earlier or later: the same connection is used, waits for its next use, and is used again."""
    deadlines, (later, theirs), (sooner, _) = Deadlines(), pairs[0], pairs[1]
    with cut(deadlines, later, monotonic() + 0.05) as first, cut(deadlines, sooner, monotonic() + 600) as second:
        deadlines.move(first, monotonic() + 600)
        deadlines.move(second, monotonic() + 0.1)
        assert sooner.recv(1) == b"", "so the first deadline has passed, too"
        theirs.send(b"x")
        assert later.recv(1) == b"x"


def test_one_thread_does_it_for_all(pairs: list[Pair]) -> None:

    def threads() -> int:
        return sum(one.name == NAME for one in threading.enumerate())

    before, deadlines = threads(), Deadlines()
    for _ in range(50):
        with cut(deadlines, pairs[0][0], monotonic() + 600):
            assert threads() == before + 1


def test_without_a_thread_nothing_is_connected_and_the_next_one_has_it_again(
    pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine may have no room for one at a moment: that must not switch off all deadlines to come."""

    def none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    deadlines, ours = Deadlines(), pairs[0][0]
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none)
        with pytest.raises(RuntimeError, match="new thread"), cut(deadlines, ours, monotonic() + 600):
            pass
    with cut(deadlines, ours, monotonic() + 0.05):
        assert ours.recv(1) == b""


@define(slots=False)
class Duplicated:
    """Port of a socket, as far as it is cut."""

    def __enter__(self) -> "Duplicated":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def close(self) -> None:
        """It is over."""


@define
class Connected:
    """A connection that knows of its duplicate, and does not keep it."""

    seen: Callable[[], object] = object

    def dup(self) -> Duplicated:
        guard = Duplicated()
        self.seen = ref(guard)
        return guard


def test_nothing_is_kept_of_what_has_ended() -> None:
    """A function that lives for hours makes thousands of connections."""
    connected = Connected()
    with cut(Deadlines(), connected, monotonic() + 600):  # type: ignore[arg-type] # as far as it is cut
        assert connected.seen() is not None
    assert connected.seen() is None
