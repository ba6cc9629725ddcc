"""The owner policies."""

from attrs import define, evolve, field

from delayer.core.owners.owner_policy import StoredOwnerPolicy
from delayer.ports.owner_policies import DEFAULT


@define
class MemoryOwnerPolicies:
    """Port OwnerPolicies."""

    rows: dict[str, StoredOwnerPolicy] = field(factory=dict)
    reads: list[str] = field(factory=list)  # whose were read
    _owners: set[str] = field(factory=set)

    def owner_policy(self, owner: str) -> StoredOwnerPolicy | None:
        self.reads.append(owner)
        stored = self.rows.get(owner)
        if owner != DEFAULT or not self._owners:
            return stored
        return evolve(stored or StoredOwnerPolicy(policy=None), has_owners=True)

    def write_owner_policy(self, owner: str, new: StoredOwnerPolicy, over: int) -> bool:
        self._owners |= {owner} - {DEFAULT}
        if self._revision(owner) != over:
            return False
        self.rows[owner] = evolve(new, has_owners=False)
        return True

    def remove_owner_policy(self, owner: str, over: int) -> bool:
        if not over or self._revision(owner) != over:
            return False
        self.rows.pop(owner, None)
        return True

    def owners_with_policy(self) -> list[str]:
        return sorted(self._owners)

    def _revision(self, owner: str) -> int:
        stored = self.rows.get(owner)
        return stored.revision if stored else 0
