"""The doors in front of both ports: open, open for the functions alone while they come to rest, or closed."""

import re
from enum import Enum
from typing import Final

from local.emulator.access.claims import Refused
from local.emulator.access.refusals import refuse
from local.emulator.asgi import Application, Receive, Scope, Send, headers_of, respond

SENTENCE: Final = "The stack is being stopped; try again when it has been started again."
OWN: Final = "/_local/"  # the paths of the starter
OF_A_FUNCTION: Final = re.compile(r"Credential=ASIA")  # temporary credentials, as functions have


class Opening(Enum):
    """Says who is let in."""

    ALL = "all"
    FUNCTIONS = "functions"
    NOBODY = "nobody"


class Doors:
    """Counts the requests that were let in and are not answered yet."""

    def __init__(self) -> None:
        self.opening = Opening.ALL
        self.inside = {"api": 0, "aws": 0}  # only the thread of the server changes it

    def api(self, application: Application) -> Application:
        """In front of the API."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if self.opening is not Opening.ALL:
                await respond(send, 503, SENTENCE)
            else:
                await self.counted("api", application, scope, receive, send)

        return guarded

    def aws(self, application: Application) -> Application:
        """In front of the AWS port. The starter's own paths are always open."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["path"].startswith(OWN):
                await application(scope, receive, send)
            elif self.lets_in(scope):
                await self.counted("aws", application, scope, receive, send)
            else:
                await refuse(send, headers_of(scope), Refused("ServiceUnavailable", SENTENCE), 503)

        return guarded

    def lets_in(self, scope: Scope) -> bool:
        """Whether the AWS port takes a request. Its signature is checked behind the door."""
        if self.opening is Opening.FUNCTIONS:
            return bool(OF_A_FUNCTION.search(headers_of(scope).get("authorization", "")))
        return self.opening is Opening.ALL

    async def counted(self, port: str, application: Application, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        self.inside[port] += 1
        try:
            await application(scope, receive, send)
        finally:
            self.inside[port] -= 1
