"""Which hosts a connection is for (ADR 0152): a module of its own, as only those who name or use one need it."""

from functools import lru_cache

from delayer.core.connections.connection import Connection
from delayer.core.owners.hosts import HostPattern, pattern_of, site_of


def wrong_host(row: Connection, url: str) -> str:
    """The host of the URL if the connection is not for it; empty if it is. An unreadable pattern allows none."""
    if not row.hosts:
        return ""
    site = site_of(url)
    if site is not None and any(pattern.matches(site) for pattern in _patterns(row.hosts)):
        return ""
    return site.shown if site else "no host that can be told"


@lru_cache(maxsize=512)
def _patterns(hosts: tuple[str, ...]) -> tuple[HostPattern, ...]:
    return tuple(pattern for one in hosts if (pattern := _pattern_or_none(one)))


def _pattern_or_none(text: str) -> HostPattern | None:
    try:
        return pattern_of(text)
    except ValueError:
        return None
