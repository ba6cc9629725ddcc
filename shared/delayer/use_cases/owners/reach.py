"""Whether a URL may be reached that an owner has named outside of a schedule: by a connection (ADR 0107)."""

from attrs import frozen

from delayer.core.owners.deciding import Forbidden, NotAllowed, asked_by_url, decide
from delayer.ports.owner_policies import KnowsOwnerPolicies


@frozen(kw_only=True)
class Reach:
    """For calls about connections, and for whoever fetches their tokens."""

    policies: KnowsOwnerPolicies

    def permit(self, owner: str, url: str, field: str) -> None:
        """`field` is where the URL stands in the request. Raises NotAllowed, or Unavailable if AWS failed."""
        if forbidden := self.forbidden(owner, url, field):
            raise NotAllowed(forbidden)

    def forbidden(self, owner: str, url: str, field: str) -> Forbidden | None:
        """The rule that is against it. Raises Unavailable if AWS failed."""
        policy = self.policies.of(owner)
        decision = decide(policy, asked_by_url(url, field)) if policy.rules else None
        return decision if isinstance(decision, Forbidden) else None
