"""A request that takes along what its connection sets (ADR 0105)."""

from time import monotonic
from typing import Any, Final, Protocol

from attrs import evolve, frozen

from delayer.core.actions.message import Message
from delayer.core.actions.results import Refused, Result, Retry
from delayer.core.connections.credentials import Header, secrets_in
from delayer.ports.target import NotAttempted
from delayer.targets.http_request import Request
from delayer.use_cases.connections.credentials import Credentials

UNAUTHORIZED: Final = "HTTP 401"
LEAST: Final = 0.1  # seconds that a request is made with


class Sends(Protocol):
    """HttpTarget."""

    def send(self, request: Request, message: Message[Any]) -> Result:
        """One request."""
        ...


@frozen(kw_only=True)
class ConnectedTarget:
    """Makes requests with the credentials of their owners."""

    target: Sends
    credentials: Credentials

    def send(self, request: Request, message: Message[Any], connection: str) -> Result:
        """One attempt, within the time of the request. After a 401 it is made once more, if there is something else.

        Raises NotAttempted.
        """
        deadline = monotonic() + request.timeout

        def left() -> float:
            return deadline - monotonic()

        given = self.credentials.of(message.owner, connection, request.url, left)
        if isinstance(given, Refused | Retry):
            return given
        if left() < LEAST:
            raise NotAttempted("its credentials took all of its time")
        result = self.target.send(_with(request, given, left()), message)
        if not _is_unauthorized(result) or left() < LEAST:
            return result
        renewed = self.credentials.again(message.owner, connection, request.url, given, left)
        if renewed is None or left() < LEAST:
            return result
        return self.target.send(_with(request, renewed, left(), given), message)


def _is_unauthorized(result: Result) -> bool:
    return isinstance(result, Refused) and result.detail == UNAUTHORIZED


def _with(request: Request, header: Header, timeout: float, *before: Header) -> Request:
    """In place of one by hand: the API refuses it, but the connection may have been another one then.

    A target that sends back what it got may send back what it got before, too.
    """
    others = {name: value for name, value in request.headers.items() if name.lower() != header.name.lower()}
    secrets = frozenset[str]().union(*map(secrets_in, (header, *before)))
    return evolve(request, headers={**others, header.name: header.value}, timeout=timeout, secrets=secrets)
