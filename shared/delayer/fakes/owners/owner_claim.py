"""By which claim owners are named."""

from attrs import define

from delayer.core.owners.claim import OwnerClaim


@define
class MemoryOwnerClaim:
    """Port KeepsOwnerClaim."""

    _claim: OwnerClaim | None = None

    def owner_claim(self) -> OwnerClaim | None:
        return self._claim

    def write_owner_claim(self, claim: OwnerClaim) -> None:
        self._claim = claim
