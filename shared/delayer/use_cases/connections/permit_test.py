"""Whether a connection may be tried now: as an owner may schedule such a request, and as often (ADR 0107)."""

from typing import Final

from attrs import frozen

from delayer.core.api.problem import FieldError, Invalid
from delayer.core.connections.connection import token_url_of
from delayer.core.connections.hosts import wrong_host
from delayer.core.flow.block import Kind
from delayer.core.flow.party import Party, host_in, target_named
from delayer.ports.connections import ReadsConnections
from delayer.ports.target import NotAttempted
from delayer.use_cases.flow.view import BlocksInView
from delayer.use_cases.owners.reach import Reach
from delayer.use_cases.owners.spending import Spending

REQUESTS: Final = "http-request"  # the type of the actions that use connections


@frozen(kw_only=True)
class PermitTest:
    """For the call that tries one."""

    connections: ReadsConnections
    reach: Reach
    spend: Spending
    view: BlocksInView

    def __call__(self, owner: str, name: str, url: str) -> bool:
        """Whether there is such a connection.

        Raises NotAllowed, NotAttempted, OverQuota; Invalid if it is not for this host; Unavailable if AWS failed.
        """
        self.reach.permit(owner, url, "url")
        row = self.connections.read(owner, name)
        if row is None:
            return False
        if host := wrong_host(row, url):
            problem = f"the connection {name} is not for this host: {host}"
            raise Invalid(
                [FieldError(field="url", problem=problem, allowed=f"a host that it names: {', '.join(row.hosts)}")]
            )
        token_url = token_url_of(row)
        if token_url:  # the whole of it is asked about once more when a token is wanted
            self.reach.permit(owner, token_url, "tokenUrl")
        for one in filter(None, (url, token_url)):
            self._ask_for_suspensions(owner, one)
        self.spend(owner)
        return True

    def _ask_for_suspensions(self, owner: str, url: str) -> None:
        """As for a schedule: what an operator has suspended is not reached. Circuits and limits are not asked."""
        party = Party(owner=owner, target=target_named(REQUESTS, host_in(url)))
        for block in self.view():
            if block.kind is Kind.SUSPENSION and block.party.covers(party):
                raise NotAttempted(f"an operator has suspended {block.party.target or 'its owner'}: {block.reason}")
