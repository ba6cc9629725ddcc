"""By which claim of a token owners are named: a control row (ADR 0108)."""

from typing import Protocol

from delayer.core.owners.claim import OwnerClaim


class KeepsOwnerClaim(Protocol):
    """Read and written by the function that is invoked at each deployment."""

    def owner_claim(self) -> OwnerClaim | None:
        """Strongly consistent. None if it was never written. Raises Unavailable."""
        ...

    def write_owner_claim(self, claim: OwnerClaim) -> None:
        """In the place of the one that is there: a stack has one deployment at a time. Raises Unavailable."""
        ...
