"""Which requests of a browser are let in: a port of this machine is reachable from every web page that is open.

A browser tells where a request comes from, in headers that a page cannot change: `Origin` names the page's origin,
`Sec-Fetch-Site` says how far away it is, and `Host` is the name that it has used, which shows DNS rebinding. A link
from elsewhere is let in as far as an empty page, which asks again: nothing is shown to what another page asks for.

The other ports of one machine are guarded by delayer.http.web_pages, which knows no links.
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final

from delayer.http.web_pages import NEAR, is_local


class Verdict(Enum):
    """Says how a request goes on."""

    COME_IN = auto()
    ASK_AGAIN = auto()  # a link from elsewhere: the console's own page makes the request once more
    OTHER_NAME = auto()  # the host is not this machine
    OTHER_PAGE = auto()  # another page has caused it
    CHANGES = auto()  # it would change something, and does not come from a page of the console
    UNKNOWN_METHOD = auto()


WHY: Final[Mapping[Verdict, str]] = {
    Verdict.OTHER_NAME: "This address accepts requests to localhost and 127.0.0.1 only; the header Host names another.",
    Verdict.OTHER_PAGE: "This address accepts no requests that a web page of another origin has caused.",
    Verdict.CHANGES: "Only a page of the console itself may change something.",
    Verdict.UNKNOWN_METHOD: "The console knows GET, HEAD and POST.",
}


def verdict_of(method: str, headers: Mapping[str, str]) -> Verdict:
    """Of a request with these headers, by their names in lower case."""
    host = headers.get("host", "").lower()
    if not is_local(host):
        return Verdict.OTHER_NAME
    if method not in ("GET", "HEAD", "POST"):
        return Verdict.UNKNOWN_METHOD
    own, origin = f"http://{host}", headers.get("origin", "").lower()
    is_near = headers.get("sec-fetch-site", "none").lower() in NEAR
    if method == "POST":
        return Verdict.COME_IN if is_near and origin == own else Verdict.CHANGES
    if "origin" in headers and origin != own:
        return Verdict.OTHER_PAGE
    if is_near:
        return Verdict.COME_IN
    return Verdict.ASK_AGAIN if _is_link(method, headers) else Verdict.OTHER_PAGE


def _is_link(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a whole window goes there, not a frame, an image or a script of the other page."""
    mode, destination = headers.get("sec-fetch-mode", ""), headers.get("sec-fetch-dest", "")
    return method == "GET" and mode == "navigate" and destination == "document" and "origin" not in headers
