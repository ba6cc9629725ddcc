"""Only some commands need these packages, so they may be left out of an installation."""

from collections.abc import Iterator
from contextlib import contextmanager

from delayer_client.errors import install


class Missing(Exception):
    """A package is not installed. The text says which extra brings it."""


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Around an import: says which extra is missing. Raises Missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("delayer_client"):
            raise
        raise Missing(f"This needs the package {error.name}. {install('cli', extra)}") from error
