"""The tokens of connections: their rows, how they are sealed, and the endpoints that issue them (ADR 0106)."""

from typing import Protocol

from delayer.core.connections.credentials import Values
from delayer.core.connections.tokens import TokenRow


class TokenRows(Protocol):
    """One row for each connection that needs tokens."""

    def read(self, owner: str, name: str) -> TokenRow | None:
        """Strongly consistent. None also for one that this version cannot read. Raises Unavailable."""
        ...

    def write(self, row: TokenRow, over: TokenRow | None) -> bool:
        """Whether it was written: only over `over`, by its revision, or if there is none. Raises Unavailable."""
        ...


class Seal(Protocol):
    """Encrypts, with what a text is about as associated data."""

    def sealed(self, text: str, about: str) -> str:
        """The text, so that only this stack can read it. Raises Unavailable."""
        ...

    def opened(self, sealed: str, about: str) -> str | None:
        """The inverse. None: it was sealed by another key, or is about something else. Raises Unavailable."""
        ...


class AsksForTokens(Protocol):
    """A token endpoint."""

    def __call__(self, values: Values, seconds: float) -> tuple[int, bytes]:
        """The status and the beginning of the body of its answer. Raises NoToken if there is none."""
        ...
