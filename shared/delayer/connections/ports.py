"""Connections: their rows, who names them, and the notes of their secrets (ADR 0105)."""

from typing import Protocol

from attrs import frozen

from delayer.connections.model import Connection, SecretNote, Use
from delayer.connections.rules import TokenRow, Values
from delayer.schedule.instants import Millis


@frozen(kw_only=True)
class ConnectionPage:
    """Of the connections of an owner, by name."""

    connections: tuple[Connection, ...]
    more: str = ""  # the name after which the next page begins; empty: this was the last


@frozen(kw_only=True)
class UsePage:
    """Of what names a connection: series first, then schedules, those that are due last before all others."""

    uses: tuple[Use, ...]
    more: str = ""  # after which the next page begins; empty: this was the last


class Full(Exception):
    """The owner has as many connections as are allowed. Nothing was done."""


class Connections(Protocol):
    """Keeps the connections of owners, who names them, and the notes of their secrets.

    Each method raises Unavailable.
    """

    def read(self, owner: str, name: str) -> Connection | None:
        """Strongly consistent. Raises Unavailable, also if it cannot be read by this version."""
        ...

    def listed(self, owner: str, after: str, at_most: int) -> ConnectionPage:
        """Strongly consistent. Raises Unavailable."""
        ...

    def uses(self, owner: str, name: str, after: str, at_most: int) -> UsePage:
        """Strongly consistent. Raises Unavailable."""
        ...

    def write(
        self,
        row: Connection,
        over: Connection | None,
        named: SecretNote | None = None,
        left: SecretNote | None = None,
    ) -> bool:
        """Whether it was done: all of it, or nothing.

        The row is written only over `over`, by its revision; None: only if there is none. `named` is the note of the
        secret that the row names now; it is taken away, and must be there and not be doomed. `left` is noted.
        A row that is new is counted. Raises Full.
        """
        ...

    def remove(self, over: Connection, left: SecretNote) -> bool:
        """Whether the row is gone, and its token with it; False: it has another revision. `left` is noted with it."""
        ...

    def note(self, note: SecretNote) -> None:
        """Before the secret is made."""
        ...

    def notes(self, before: Millis, at_most: int) -> tuple[SecretNote, ...]:
        """Of all owners, noted before that instant, the oldest first."""
        ...

    def doom(self, note: SecretNote) -> bool:
        """Whether no row names the secret, nor ever will. False: there is no such note any more."""
        ...

    def forget(self, note: SecretNote) -> None:
        """The secret is deleted."""
        ...


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
