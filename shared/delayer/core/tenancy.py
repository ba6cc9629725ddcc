"""Whose messages are whose neighbours: the groups of a fair queue (ADR 0039)."""

import hashlib
import re
from typing import Final, Protocol

# The host of a URL, or a whole queue URL: all queues of a region have the same host.
TARGET: Final = re.compile(r'"url":\s*"(https?://[^/?#"]+)|"queueUrl":\s*"([^"]+)')


class Owned(Protocol):
    """A schedule, or a message that carries one."""

    @property
    def owner(self) -> str:
        """Who scheduled it."""

    @property
    def action(self) -> str:
        """The action as JSON."""


def tenant_of(source: Owned) -> str:
    """One group for each owner and target, 32 characters. An action without a URL is told apart by its owner alone."""
    target = TARGET.search(source.action)
    return hashlib.sha256(f"{source.owner}\n{target.group() if target else ''}".encode()).hexdigest()[:32]
