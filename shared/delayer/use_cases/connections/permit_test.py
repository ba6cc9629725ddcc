"""Whether a connection may be tried now: as an owner may schedule such a request, and as often (ADR 0107)."""

from attrs import frozen

from delayer.core.connections.connection import token_url_of
from delayer.ports.connections import ReadsConnections
from delayer.use_cases.owners.reach import Reach
from delayer.use_cases.owners.spending import Spending


@frozen(kw_only=True)
class PermitTest:
    """For the call that tries one."""

    connections: ReadsConnections
    reach: Reach
    spend: Spending

    def __call__(self, owner: str, name: str, url: str) -> bool:
        """Whether there is such a connection. Raises NotAllowed, OverQuota, or Unavailable if AWS failed."""
        self.reach.permit(owner, url, "url")
        row = self.connections.read(owner, name)
        if row is None:
            return False
        if token_url := token_url_of(row):  # the whole of it is asked about once more when a token is wanted
            self.reach.permit(owner, token_url, "tokenUrl")
        self.spend(owner)
        return True
