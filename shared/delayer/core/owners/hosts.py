"""Patterns of hosts: `api.example.com`, `*.example.com`, `[2001:db8::1]`, each with a port or without (ADR 0107).

What is matched is read strictly, and only once: a text about which two readers of URLs might not agree names no host
here. So nothing that a target's own reader makes of it can be another host than the one that was allowed.
"""

import re
from typing import Final

from attrs import frozen

from delayer.core.addresses.spelling import usual

_NAME: Final = (
    r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*"
)
_HOST: Final = rf"(?P<host>\[[0-9A-Fa-f:.]{{2,45}}\]|{_NAME})(?P<dot>\.)?"
_URL: Final = re.compile(
    rf"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{{0,20}})://{_HOST}(?::(?P<port>[0-9]{{1,5}}))?(?:[/?#](?s:.*))?"
)
_BARE: Final = re.compile(rf"{_HOST}(?::(?P<port>[0-9]{{1,5}}))?")
_PATTERN: Final = re.compile(rf"(?P<below>\*\.)?{_HOST}(?::(?P<port>[0-9]{{1,5}}|\*))?")
_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
ANY: Final = -1
LONGEST: Final = 253  # characters of a name
LARGEST_PORT: Final = 65_535


@frozen(kw_only=True)
class Site:
    """A host as an action names it."""

    host: str  # in small letters, without a dot at its end; an IPv6 address in its shortest form
    port: int = 0  # 0: the text has none, and its scheme is not known
    is_default: bool = True  # whether the port is that of its scheme

    @property
    def shown(self) -> str:
        """As a pattern would name it."""
        return self.host if self.is_default else f"{self.host}:{self.port}"


@frozen(kw_only=True)
class HostPattern:
    """One entry of the rule."""

    host: str
    below: bool = False  # all names below it, and not itself
    port: int = 0  # 0: that of the scheme

    def matches(self, site: Site) -> bool:
        """Whether it allows this host."""
        if self.port == 0 and not site.is_default:
            return False
        if self.port not in (0, ANY, site.port):
            return False
        return site.host.endswith(f".{self.host}") if self.below else site.host == self.host


def site_of(text: str) -> Site | None:
    """The host in a URL, or in a text that is nothing but a host and a port; None if there is no telling."""
    found = _URL.fullmatch(text) if "://" in text else _BARE.fullmatch(text)
    host = usual(found["host"]) if found else ""
    if not found or not host:
        return None
    default = _PORTS.get(found["scheme"].lower(), 0) if "scheme" in found.groupdict() else 0
    port = int(found["port"]) if found["port"] else default
    if port > LARGEST_PORT or (found["port"] and not port):
        return None
    return Site(host=host, port=port, is_default=not found["port"] or port == default)


def pattern_of(text: str) -> HostPattern:
    """A pattern from its text. Raises ValueError with what is wrong."""
    found = _PATTERN.fullmatch(text)
    if not found:
        raise ValueError(_why_none(text))
    host = usual(found["host"])
    if not host or len(host) > LONGEST:
        raise ValueError("not the name of a host, nor an address in its usual form")
    if found["below"] and ("." not in host or _is_address(host)):
        raise ValueError("it matches too much: `*.` needs a name with a dot behind it, such as *.example.com")
    port = ANY if found["port"] == "*" else int(found["port"] or 0)
    if port > LARGEST_PORT or (found["port"] and not port):
        raise ValueError("a port is a number from 1 to 65535, or `*` for any")
    return HostPattern(host=host, below=bool(found["below"]), port=port)


def _why_none(text: str) -> str:
    if not text.isascii():
        return "write a name that is not ASCII as it is in DNS, beginning with xn--"
    if "://" in text or "/" in text or "@" in text:
        return "only a host and a port, without scheme, path and user name"
    if "*" in text:
        return "`*` stands at the beginning only, as in *.example.com, or for the port; alone it matches too much"
    return "not the name of a host"


def _is_address(host: str) -> bool:
    return host.startswith("[") or host.rpartition(".")[2].isdecimal()
