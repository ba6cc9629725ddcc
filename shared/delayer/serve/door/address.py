"""Where the engine may listen, and which private targets it may reach then: rules, and nothing else (ADR 0184)."""

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Final

from attrs import frozen

from delayer.http.requests import is_loopback
from delayer.serve.refusal import Refusal

FORWARDED_FOR: Final = "x-forwarded-for"
NAMES: Final = ("127.0.0.1", "::1")  # by which the header Host may name this machine


@frozen(kw_only=True)
class Listening:
    """Says what is asked for."""

    host: str = "127.0.0.1"
    port: int = 8080  # 0: any that is free
    tokens: Path | None = None
    certificate: Path | None = None  # PEM, with those that lead to its root
    key: Path | None = None  # PEM
    behind_proxy: bool = False  # a proxy is in front that ends TLS, and says who calls
    private_targets: str = ""  # networks, separated by commas


@frozen(kw_only=True)
class Admitted:
    """Says what may be done."""

    host: str  # IP address
    port: int
    is_own: bool  # nobody but programs of this machine can call
    allow_private: bool  # as HttpTarget has it
    private: tuple[IPv4Network | IPv6Network, ...]  # as HttpTarget has it


def admitted(asked: Listening) -> Admitted:
    """Raises Refusal for an address that would be open to others without tokens, or in clear text."""
    host = _address(asked.host)
    if not 0 <= asked.port <= 65535:
        raise Refusal(what=f"There is no port {asked.port}", do="Choose one from 1 to 65535 with --port")
    if (asked.certificate is None) != (asked.key is None):
        raise Refusal(what="A certificate needs its key, and a key its certificate", do="Give --tls-cert and --tls-key")
    is_own = is_loopback(host) and not asked.behind_proxy
    if is_own and host not in NAMES:
        what = f"Nobody could call {host}: of the addresses of this machine, callers may name 127.0.0.1 and ::1"
        raise Refusal(what=what, do="Choose one of these with --host")
    if not is_own and asked.tokens is None:
        what = f"Whoever reaches {_place(host, asked)} could call the engine: there are no tokens"
        raise Refusal(what=what, do="Add --tokens FILE, whose tokens `delayer token` makes, or listen on 127.0.0.1")
    if not is_own and asked.certificate is None and not asked.behind_proxy:
        what = f"Tokens would go to {host} in clear text"
        raise Refusal(what=what, do="Add --tls-cert and --tls-key, or --behind-proxy if a proxy in front ends TLS")
    private = _networks(asked.private_targets)
    return Admitted(host=host, port=asked.port, is_own=is_own, allow_private=is_own and not private, private=private)


def caller_address(peer: str, headers: Mapping[str, str], *, behind_proxy: bool) -> str:
    """The IP address of a caller. `peer` is who has made the connection.

    Behind a proxy it is the last entry of X-Forwarded-For, the only one that the proxy itself has written. It is empty
    if that is no address. Without a proxy the header is anybody's, and is not read.
    """
    if not behind_proxy:
        return peer
    last = headers.get(FORWARDED_FOR, "").rpartition(",")[2].strip()
    if last.startswith("["):
        last = last[1:].partition("]")[0]
    elif last.count(":") == 1:
        last = last.partition(":")[0]
    return last if _is_address(last) else ""


def _place(host: str, asked: Listening) -> str:
    return f"the proxy in front of {host}" if asked.behind_proxy else host


def _address(host: str) -> str:
    """Raises Refusal for what is neither an address nor `localhost`: a name may lead to several."""
    try:
        address = ip_address("127.0.0.1" if host.lower() == "localhost" else host.removeprefix("[").removesuffix("]"))
    except ValueError:
        what = f"{host or 'An empty text'} is no IP address"
        raise Refusal(what=what, do="Give one with --host, such as 127.0.0.1") from None
    return str(getattr(address, "ipv4_mapped", None) or address)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(_network(one.strip()) for one in text.split(",") if one.strip())


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError:
        meant = _meant(text)
        do = f"Write {meant}, if it is meant" if meant else "Write networks such as 10.0.0.0/8, separated by commas"
        raise Refusal(what=f"{text} is no network", where="--private-targets", do=do) from None


def _meant(text: str) -> str:
    """The network that an address within it may stand for."""
    try:
        return str(ip_network(text, strict=False))
    except ValueError:
        return ""
