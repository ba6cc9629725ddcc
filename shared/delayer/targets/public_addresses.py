"""Which addresses `http-request` may reach: public ones, by tables of our own (ADR 0025).

Python's tables differ from one version to the next, and count some addresses as global that lead back to private ones.
So an address must pass these tables, and those of Python as well.
"""

import socket
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from threading import BoundedSemaphore, Lock, Thread
from time import monotonic
from typing import Final

from attrs import field, frozen

GLOBAL_UNICAST: Final = IPv6Network("2000::/3")  # all that IANA has assigned for it; nothing else of IPv6 is a target

# From the registries of IANA for special-purpose addresses, with what was withdrawn and what is not for web servers.
REFUSED: Final = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind the NAT of a carrier; some clouds have their metadata here
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local: metadata, credentials of containers, Lambda's own runtime
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112: answers for private names
        "192.52.193.0/24",  # AMT relays
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
        "::/96",  # unspecified, loopback, and IPv4-compatible
        "::ffff:0:0:0/96",  # IPv4-translated
        "64:ff9b::/96",  # NAT64: holds any IPv4 address
        "64:ff9b:1::/48",  # NAT64 of one network
        "100::/64",  # discard
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: holds any IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # 6bone, withdrawn
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
        "fc00::/7",  # unique local
        "fe80::/10",  # link-local
        "fec0::/10",  # site-local
        "ff00::/8",  # multicast
    )
)
MOST_UNDER_WAY: Final = 100  # look-ups at a time, those counted that no attempt waits for any more
KEPT_SECONDS: Final = 1.0
MOST_KEPT: Final = 1000


def public_address(text: str, private: Sequence[IPv4Network | IPv6Network] = ()) -> str | None:
    """The address to connect to, that of IPv4 if it was mapped into IPv6. None if it is not public, or no address.

    An address of one of the networks in `private` counts as public.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if any(address in network for network in private):
        return str(address)
    if not address.is_global or address.is_multicast or any(address in network for network in REFUSED):
        return None
    if isinstance(address, IPv6Address) and (address not in GLOBAL_UNICAST or address.scope_id):
        return None
    return str(address)


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
        """An address that has failed is asked for again by the next one."""
        with self._lock:
            if self._found.get(name, (0.0, None))[1] is found:
                del self._found[name]
