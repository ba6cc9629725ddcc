"""Which proxy a request goes through: one of the environment's, and never one for this machine.

httpx reads the same variables, but sends what is for `localhost` to a proxy, too: a token would go there in clear text.
"""

import ipaddress
import re
import socket
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx
from attrs import field, frozen

from delayer_client.errors import WrongArgument

if TYPE_CHECKING:
    from botocore.config import Config

KINDS: Final = ("http", "https", "socks5", "socks5h")
USER_INFO: Final = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*://)?[^/?#]*@")
REMEDY: Final = "Correct it, unset it, or name the host in NO_PROXY"


@frozen
class Proxy:
    """A proxy, and the variable that names it."""

    url: str = field(repr=False)  # it may have a password
    variable: str

    def __str__(self) -> str:
        """Without its password."""
        return f"{USER_INFO.sub(lambda found: found[1] or '', self.url)} (of the variable {self.variable})"

    def for_httpx(self) -> httpx.Proxy:
        """Raises WrongArgument if it cannot be used."""
        try:
            found = httpx.Proxy(self.url if "://" in self.url else f"http://{self.url}")
        except (ValueError, httpx.InvalidURL):
            found = None
        if found is None or found.url.scheme not in KINDS or not found.url.host:
            raise WrongArgument(
                f"The proxy {self} cannot be used: it is like http://proxy.example.com:3128 or "
                f"socks5://proxy.example.com:1080. {REMEDY}."
            )
        if found.url.scheme.startswith("socks") and find_spec("socksio") is None:
            raise WrongArgument(
                f"The proxy {self} cannot be used: it needs the package socksio, which is not installed (pip install "
                f"socksio). {REMEDY}."
            )
        return found


def is_loopback(host: str) -> bool:
    """Whether a host is this machine: localhost, a name below it, 127.0.0.0/8, ::1, or an address of all zeros."""
    name = host.lower().removesuffix(".")
    address = _address(name)
    if address is None:
        return name == "localhost" or name.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """As a connection would understand it: `127.1` is 127.0.0.1, too. None: it is a name."""
    try:
        found = ipaddress.ip_address(name if ":" in name else socket.inet_aton(name))
    except (ValueError, OSError):
        return None
    return getattr(found, "ipv4_mapped", None) or found


def is_here(url: str) -> bool:
    """Whether a URL leads to this machine."""
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False


def proxy_of(url: str) -> Proxy | None:
    """That of the environment for this URL: HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, unless NO_PROXY names the host."""
    parts = urlsplit(url)
    if is_here(url) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    named = getproxies()
    kind = next((kind for kind in (parts.scheme.lower(), "all") if named.get(kind)), "")
    return Proxy(named[kind], f"{kind.upper()}_PROXY") if kind else None


def httpx_proxy_of(url: str) -> httpx.Proxy | None:
    """The same as httpx takes it. Raises WrongArgument if it cannot be used."""
    found = proxy_of(url)
    return found.for_httpx() if found else None


def aws_client(service: str, *, config: "Config | None" = None, make: Callable[..., Any] | None = None) -> Any:
    """A client of boto3, or of its session's `make`, without a proxy if its endpoint is of this machine."""
    import boto3
    from botocore.config import Config

    make_client: Any = make or boto3.client  # boto3's stubs know a client only by a literal name
    made = make_client(service, config=config)
    if not is_here(made.meta.endpoint_url):
        return made
    return make_client(service, config=(config or Config()).merge(Config(proxies={})))
