"""The rows about owners: their policies (ADR 0107), their claim (ADR 0108), how much they create (ADR 0054)."""

from collections.abc import Sequence
from typing import Final, Protocol

from delayer.owners.admission import OwnerClaim
from delayer.owners.model import OwnerPolicy, StoredOwnerPolicy
from delayer.schedule.instants import Millis

DEFAULT: Final = ""  # in place of an owner: the default for all


class KeepsOwnerClaim(Protocol):
    """Read and written by the function that is invoked at each deployment."""

    def owner_claim(self) -> OwnerClaim | None:
        """Strongly consistent. None if it was never written. Raises Unavailable."""
        ...

    def write_owner_claim(self, claim: OwnerClaim) -> None:
        """In the place of the one that is there: a stack has one deployment at a time. Raises Unavailable."""
        ...


class RateLimit(Protocol):
    """Counts what an owner creates, by windows of time."""

    def spend(self, owner: str, window: str, at_most: int, expires_at: Millis) -> bool:
        """Counts one creation in this window of time. False, and not counted, if the window has `at_most` already."""
        ...


class OwnerPolicies(Protocol):
    """Keeps the policies of owners, and the default."""

    def owner_policy(self, owner: str) -> StoredOwnerPolicy | None:
        """The policy of an owner, or the default. Strongly consistent. Raises Unavailable."""
        ...

    def write_owner_policy(self, owner: str, new: StoredOwnerPolicy, over: int) -> bool:
        """Whether it was written; False: another revision than `over` is there (0: none). Raises Unavailable."""
        ...

    def remove_owner_policy(self, owner: str, over: int) -> bool:
        """Whether it was taken out; False: another revision than `over` is there, or none. Raises Unavailable."""
        ...

    def owners_with_policy(self) -> Sequence[str]:
        """Lists the owners that have or had a policy of their own, sorted. Raises Unavailable."""
        ...


class KnowsOwnerPolicies(Protocol):
    """Returns what counts for an owner: its own policy over the default."""

    def of(self, owner: str) -> OwnerPolicy:
        """As it was a few seconds ago, or later. Raises Unavailable."""
        ...
