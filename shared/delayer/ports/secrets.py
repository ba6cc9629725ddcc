"""Where the values of connections lie. The owner comes from the caller or the message, never from input."""

from typing import Final, Protocol

# Of the owner delayer:system: the secret behind the tokens of all connections.
TOKEN_KEY: Final = "token-key"  # noqa: S105 - its name


class WritesSecrets(Protocol):
    """Part of Secrets. Each of these raises Unavailable."""

    def create(self, owner: str, secret: str, text: str) -> None:
        """Under a fresh name. To create it again changes nothing."""
        ...

    def delete(self, owner: str, secret: str) -> None:
        """At once, whether it is there or not."""
        ...


class ReadsSecrets(Protocol):
    """Part of Secrets."""

    def read(self, owner: str, secret: str) -> str | None:
        """None: it is not there, or not there yet. Raises Unavailable."""
        ...


class Secrets(WritesSecrets, ReadsSecrets, Protocol):
    """All of it."""
