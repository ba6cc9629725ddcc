"""Which requests of a browser are refused: the ports of one machine are reachable from every web page that is open.

A browser tells where a request comes from. `Origin` names the page's origin, `Sec-Fetch-Site` says how far away it is,
and `Host` is the name that the page has used. A page of an attacker can change none of the three. Its own host name may
lead to this machine (DNS rebinding), but then `Host` is that name.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from attrs import frozen

HOST: Final = re.compile(r"(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:\d{1,5})?")
LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
NEAR: Final = ("none", "same-origin")  # of Sec-Fetch-Site: an address that was typed in, and a page of the port itself


@frozen(kw_only=True)
class Doorkeeper:
    """Decides which calls of a browser one port accepts. Programs such as curl and boto3 send neither of the two
    headers of a page.
    """

    own_pages: bool  # whether a page that came from this very port may use it
    subdomains: bool  # whether names such as bucket.localhost are accepted, which S3 clients use

    def refusal_of(self, headers: Mapping[str, str]) -> str | None:
        """Why a request with these headers is refused, as a sentence; None if it is not. Names are in lower case."""
        host = headers.get("host", "").lower()
        if not is_local(host, subdomains=self.subdomains):
            return "This address accepts requests to localhost and 127.0.0.1 only; the header Host names another host."
        own = {f"http://{host}"} if self.own_pages else set()
        if "origin" in headers and headers["origin"].lower() not in own:
            return "This address accepts no requests from web pages of another origin."
        near = NEAR if self.own_pages else NEAR[:1]
        if headers.get("sec-fetch-site", "none").lower() not in near:
            return "This address accepts no requests that a web page of another origin has caused."
        return None


def is_local(host: str, *, subdomains: bool = False) -> bool:
    """Whether a Host header, in lower case, names this machine."""
    matched = HOST.fullmatch(host)
    name = matched.group(1) if matched else ""
    return name in LOCAL_NAMES or (subdomains and name.endswith(".localhost"))


def headers_by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Header fields by name in lower case. The values of a repeated one are joined, so that none is overlooked, and as
    API Gateway does it.
    """
    found: dict[str, str] = {}
    for name, value in pairs:
        lower = name.lower()
        found[lower] = f"{found[lower]},{value}" if lower in found else value
    return found


def headers_in(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The same of what ASGI has. A value is in UTF-8, or else in Latin-1."""
    return headers_by_name((name.decode("latin-1"), _text(value)) for name, value in raw)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
