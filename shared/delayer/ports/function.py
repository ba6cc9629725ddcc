"""A function that is asked something, and answers."""

from collections.abc import Mapping
from typing import Any, Protocol


class NoAnswer(Exception):
    """The function gave none. The text says why, in words of ours: nothing of the function's own text is in it."""


class NotInvoked(NoAnswer):
    """It has done nothing: there is no such function, or it may not be invoked."""


class Function(Protocol):
    """A function of Lambda."""

    def ask(self, question: Mapping[str, Any]) -> object:
        """The answer, as JSON. It is asked once, and may have done its work without an answer. Raises NoAnswer."""
        ...
