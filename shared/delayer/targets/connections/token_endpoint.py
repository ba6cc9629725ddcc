"""The endpoint that issues the tokens of a connection, reached as safely as any target (ADR 0025, 0106)."""

from typing import Final
from urllib.parse import quote, urlencode

from attrs import frozen

from delayer.core.connections.connection import AUTHORIZATION
from delayer.core.connections.credentials import Values, basic
from delayer.core.connections.tokens import LARGEST_ANSWER, NoToken
from delayer.targets.http_request import HttpTarget, NoReply, Request

SHORTEST: Final = 0.1  # seconds


@frozen(kw_only=True)
class TokenEndpoint:
    """Port AsksForTokens."""

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
