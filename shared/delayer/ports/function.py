"""A function that is asked something, and answers."""

from collections.abc import Mapping
from typing import Any, Protocol


class NoAnswer(Exception):
    """The function gave none. The text says why, in words of ours: nothing of the function's own text is in it.

    `is_outage`: it was asked, and did not answer, or broke. What Lambda itself refuses, or what is no answer, is none.
    """

    def __init__(self, reason: str, *, is_outage: bool = False) -> None:
        super().__init__(reason)
        self.is_outage = is_outage


class NotInvoked(NoAnswer):
    """It has done nothing: there is no such function, or it may not be invoked."""


class Function(Protocol):
    """A function of Lambda."""

    def ask(self, question: Mapping[str, Any]) -> object:
        """The answer, as JSON. It is asked once, and may have done its work without an answer. Raises NoAnswer."""
        ...
