"""The owner policies: a document for each owner that has one, and a default for all (ADR 0107)."""

from collections.abc import Sequence
from typing import Final, Protocol

from delayer.core.owners.owner_policy import OwnerPolicy, StoredOwnerPolicy

DEFAULT: Final = ""  # in place of an owner: the default for all


class ReadsOwnerPolicies(Protocol):
    """Part of OwnerPolicies."""

    def owner_policy(self, owner: str) -> StoredOwnerPolicy | None:
        """The policy of an owner, or the default. Strongly consistent. Raises Unavailable."""
        ...


class WritesOwnerPolicies(Protocol):
    """Part of OwnerPolicies."""

    def write_owner_policy(self, owner: str, new: StoredOwnerPolicy, over: int) -> bool:
        """Whether it was written; False: another revision than `over` is there (0: none). Raises Unavailable."""
        ...

    def remove_owner_policy(self, owner: str, over: int) -> bool:
        """Whether it was taken out; False: another revision than `over` is there, or none. Raises Unavailable."""
        ...


class ListsOwnerPolicies(Protocol):
    """Part of OwnerPolicies."""

    def owners_with_policy(self) -> Sequence[str]:
        """Those that have or had a policy of their own, sorted. Raises Unavailable."""
        ...


class OwnerPolicies(ReadsOwnerPolicies, WritesOwnerPolicies, ListsOwnerPolicies, Protocol):
    """All of it."""


class KnowsOwnerPolicies(Protocol):
    """What counts for an owner: its own policy over the default."""

    def of(self, owner: str) -> OwnerPolicy:
        """As it was a few seconds ago, or later. Raises Unavailable."""
        ...
