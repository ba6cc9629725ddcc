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

MOST: Final = 100  # that are under way at a time, those counted that no attempt waits for any more
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
    _places: BoundedSemaphore = field(factory=lambda: BoundedSemaphore(MOST), init=False)

    def addresses(self, host: str, port: int, seconds: float) -> list[str]:
        """Some, within so many seconds. A look-up that takes longer is left behind.

        Raises OSError, TimeoutError among them, or ValueError.
        """
        deadline = self.now() + max(seconds, 0)
        found = self._under_way_or_known((host, port)) or self._begin((host, port), max(seconds, 0))
        return found.result(timeout=max(deadline - self.now(), 0))

    def _under_way_or_known(self, name: Name) -> "Future[list[str]] | None":
        with self._lock:
            since, found = self._found.get(name, (0.0, None))
            return found if found and self.now() - since < KEPT_SECONDS else None

    def _begin(self, name: Name, seconds: float) -> "Future[list[str]]":
        if not self._places.acquire(timeout=seconds):
            raise TimeoutError
        found: Future[list[str]] = Future()
        with self._lock:
            if len(self._found) >= MOST_KEPT:
                self._found.clear()
            self._found[name] = (self.now(), found)
        Thread(target=self._look_up, args=(name, found), daemon=True).start()
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
