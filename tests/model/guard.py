"""A guard of a model: one rule, the code without it, and where the search then finds what the rule prevents."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from attrs import frozen

from tests.model.search import Found

Rules = TypeVar("Rules")
Budget = TypeVar("Budget")
Moment = TypeVar("Moment", bound=Hashable)


@frozen(kw_only=True)
class Guard(Generic[Rules, Budget]):
    """The same for all models; each has rules and a budget of its own."""

    name: str
    what: str  # what happens without it
    without: Rules
    possible: Budget  # what is possible meanwhile: no more than the search needs

    def search(self, of: Callable[[Budget, Rules], Found[Moment]]) -> Found[Moment]:
        """What the search of its model finds without it."""
        return of(self.possible, self.without)
