"""The endpoint that issues the tokens of a connection, reached as safely as any target (ADR 0025, 0106)."""

from typing import Final

from attrs import frozen

from delayer.core.connections.credentials import TokenRequest
from delayer.core.connections.tokens import LARGEST_ANSWER, NoToken
from delayer.targets.http_request import HttpTarget, NoExchange, Request

SHORTEST: Final = 0.1  # seconds


@frozen(kw_only=True)
class TokenEndpoint:
    """Port AsksForTokens."""

    target: HttpTarget

    def __call__(self, request: TokenRequest, seconds: float) -> tuple[int, bytes]:
        asked = Request(url=request.url, method="POST", headers=request.headers, timeout=max(seconds, SHORTEST))
        try:
            return self.target.exchange(asked, request.body, LARGEST_ANSWER)
        except NoExchange as error:
            raise NoToken(str(error)) from None
