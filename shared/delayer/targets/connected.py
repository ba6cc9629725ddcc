"""A request that takes along what its connection sets (ADR 0105)."""

from time import monotonic
from typing import Any, Final, Protocol
from urllib.parse import quote, urlencode

from attrs import evolve, frozen

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import Message, Refused, Result, Retry
from delayer.connections.credentials import Credentials
from delayer.connections.model import AUTHORIZATION
from delayer.connections.rules import LARGEST_ANSWER, Header, NoToken, Values, basic, secrets_in
from delayer.targets.http_request import HttpTarget, NoReply, Request

SHORTEST: Final = 0.1  # seconds
UNAUTHORIZED: Final = "HTTP 401"
LEAST: Final = 0.1  # seconds that a request is made with


@frozen(kw_only=True)
class TokenEndpoint:
    """Asks a token endpoint over HTTP."""

    target: HttpTarget

    def __call__(self, values: Values, seconds: float) -> tuple[int, bytes]:
        headers, body = _request(values)
        url, timeout = values.fields["tokenUrl"], max(seconds, SHORTEST)
        try:
            asked = Request(url=url, method="POST", headers=headers, timeout=timeout)
            return self.target.ask(asked, body, LARGEST_ANSWER)
        except NoReply as error:
            raise NoToken(str(error)) from None


def _request(values: Values) -> tuple[dict[str, str], bytes]:
    """RFC 6749, 4.4.2. The client names itself in a header, as the RFC wants it, or in the body, as some want it."""
    given = values.fields
    form = {"grant_type": "client_credentials"}
    form |= {name: given[name] for name in ("scope", "audience") if given.get(name)}
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    if given.get("clientAuthentication") == "body":
        form |= {"client_id": given["clientId"], "client_secret": given["clientSecret"]}
    else:
        headers[AUTHORIZATION] = basic(quote(given["clientId"], safe=""), quote(given["clientSecret"], safe=""))
    return headers, urlencode(form).encode()


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
