"""The addresses of a target's name.

A burst of schedules goes to few hosts: what is asked for within a second is looked up once. Each attempt still checks
the address that it connects to (ADR 0025).
"""

import socket
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from threading import BoundedSemaphore, Lock, Thread
from time import monotonic
from typing import Final

from attrs import field, frozen

MOST_UNDER_WAY: Final = 100  # look-ups at a time, those counted that no attempt waits for any more
KEPT_SECONDS: Final = 1.0
MOST_KEPT: Final = 1000

Resolve = Callable[[str, int], Iterable[str]]
Name = tuple[str, int]


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, in the resolver's order. Raises OSError, or ValueError for what is no name."""
    return [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


@frozen(kw_only=True)
class LookUps:
    """By the resolver of the system, in threads of their own: it cannot be interrupted."""

    resolve: Resolve = resolve
    now: Callable[[], float] = monotonic
    _found: dict[Name, tuple[float, "Future[list[str]]"]] = field(factory=dict, init=False)
    _lock: Lock = field(factory=Lock, init=False)
    _places: BoundedSemaphore = field(factory=lambda: BoundedSemaphore(MOST_UNDER_WAY), init=False)

    def addresses(self, host: str, port: int, seconds: float) -> list[str]:
        """Some, within so many seconds. A look-up that takes longer is left behind.

        Raises OSError, TimeoutError among them, or ValueError. What somebody else's look-up failed with counts for
        nobody but him: one lost packet would be a failure of each attempt of a burst.
        """
        deadline = self.now() + max(seconds, 0)
        found, is_own = self._shared((host, port), max(seconds, 0))
        try:
            return found.result(timeout=max(deadline - self.now(), 0))
        except (OSError, ValueError):
            if is_own or self.now() >= deadline:
                raise
        return self._begun((host, port)).result(timeout=max(deadline - self.now(), 0))

    def _shared(self, name: Name, seconds: float) -> "tuple[Future[list[str]], bool]":
        """A look-up that is under way or known, or a new one; and whether it is new. Raises TimeoutError."""
        if known := self._known(name):
            return known, False
        if not self._places.acquire(timeout=seconds):
            raise TimeoutError
        with self._lock:
            if known := self._known(name):
                self._places.release()
                return known, False
            if len(self._found) >= MOST_KEPT:
                self._found.clear()
            begun = self._start(name)
            self._found[name] = (self.now(), begun)
            return begun, True

    def _known(self, name: Name) -> "Future[list[str]] | None":
        since, found = self._found.get(name, (0.0, None))
        return found if found and self.now() - since < KEPT_SECONDS else None

    def _begun(self, name: Name) -> "Future[list[str]]":
        """One of its own. Raises TimeoutError if there is no place: many hang."""
        if not self._places.acquire(blocking=False):
            raise TimeoutError
        return self._start(name)

    def _start(self, name: Name) -> "Future[list[str]]":
        """With a place that is held. Raises OSError if there can be no thread now."""
        found: Future[list[str]] = Future()
        try:
            Thread(target=self._look_up, args=(name, found), daemon=True).start()
        except RuntimeError as error:
            self._places.release()
            raise OSError(str(error)) from error
        return found

    def _look_up(self, name: Name, found: "Future[list[str]]") -> None:
        try:
            addresses = list(self.resolve(*name))
            if not addresses:
                raise socket.gaierror
            found.set_result(addresses)
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            self._forget(name, found)
            found.set_exception(error)
        finally:
            self._places.release()

    def _forget(self, name: Name, found: "Future[list[str]]") -> None:
        """What has failed is asked for again by the next one."""
        with self._lock:
            if self._found.get(name, (0.0, None))[1] is found:
                del self._found[name]
