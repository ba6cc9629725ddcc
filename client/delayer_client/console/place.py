"""Which stack a console shows, and by whose credentials."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from attrs import define, field

from delayer_client.asynchronous.client import LOCAL, AsyncDelayer
from delayer_client.errors import install
from delayer_client.transport.attempts import Retrying
from delayer_client.transport.credentials import Credentials, Nothing, address, by_what_is_there
from delayer_client.transport.proxies import is_here

if TYPE_CHECKING:
    from delayer_client.operator import OperatorEngine, OperatorStack

PREFIX: Final = "/console"
PATIENT: Final = Retrying(times=2, longest_wait=1.0)  # somebody is waiting for the page
NO_OPERATOR: Final = f"Operator functions need boto3, and AWS credentials that may invoke them. {install('aws')}"

FindsOperator = Callable[[], "OperatorStack | OperatorEngine"]
MakesClient = Callable[[str], AsyncDelayer]


@define(kw_only=True)
class Place:
    """A stack. `client` makes a client for an owner; `operator` finds the operator functions, and may raise."""

    url: str
    client: MakesClient
    operator: FindsOperator | None = None
    chooses_owner: bool = False  # where the API asks for no credentials
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    _clients: dict[str, AsyncDelayer] = field(factory=dict)

    def of(self, owner: str) -> AsyncDelayer:
        """The client for an owner, with its connections. Few are kept."""
        if owner not in self._clients:
            if len(self._clients) >= 20:
                self._clients.pop(next(iter(self._clients)))
            self._clients[owner] = self.client(owner)
        return self._clients[owner]


def place_of(
    url: str | None = None,
    *,
    credentials: Credentials | None = None,
    stack: str = "delayer",
    profile: str = "",
    region: str = "",
) -> Place:
    """The stack at a URL. Its credentials are found by what is there, as those of a Delayer are."""
    where = address(url or LOCAL)
    used = credentials or by_what_is_there(where)

    def find() -> "OperatorStack":
        try:
            from delayer_client.operator import OperatorStack
        except ImportError as error:
            raise LookupError(NO_OPERATOR) from error
        return OperatorStack.find(where, stack, region=region, profile=profile)

    is_open = isinstance(used, Nothing) and is_here(where)
    return Place(
        url=where,
        client=lambda owner: AsyncDelayer(where, credentials=used, owner=owner or None, timeout=10, retrying=PATIENT),
        operator=find,
        chooses_owner=is_open,
    )
