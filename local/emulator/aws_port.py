"""The AWS port: for programs that sign with a key of this run, and for nobody else.

The emulator runs the code that is uploaded to it. Without a check, a web page in the user's browser could upload some.
"""

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import quote

from delayer.http.web_pages import Doorkeeper
from local.emulator.access.awaited_answers import LARGEST
from local.emulator.access.claims import Received, Refused
from local.emulator.access.refusals import refuse
from local.emulator.access.signatures import Signatures
from local.emulator.asgi import Application, Message, Receive, Scope, Send, body_of, headers_of

DOOR = Doorkeeper(own_pages=False, subdomains=True)
Serve = Callable[[Receive, Send], Awaitable[None]]


class AwsPort:
    """ASGI application. `own` serves PUTs by their paths; everything else that is let in goes to the emulator."""

    def __init__(
        self,
        emulator: Application,
        own: Mapping[str, Serve],
        signatures: Signatures,
        exports: str,
        awaits: Callable[[str], bool],
    ) -> None:
        self.emulator = emulator
        self.own = own
        self.signatures = signatures
        self.awaits = awaits  # the paths to which the function of a custom resource may send its answer now
        self.exports = exports  # the file with the pair of this run, for the message of a refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = headers_of(scope)
        if refusal := DOOR.refusal_of(headers):
            await refuse(send, headers, Refused("AccessDenied", refusal))
        elif scope["method"] == "PUT" and self.awaits(scope["path"]):
            await self.serve_answer(scope, receive, send)
        else:
            await self.serve_signed(scope, receive, send)

    async def serve_answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the answer of a custom resource, which has no signature: its function was given the address alone."""
        body = await body_of(receive)
        if len(body) > LARGEST:
            await refuse(send, headers_of(scope), Refused("EntityTooLarge", f"An answer has {LARGEST} bytes at most."))
        else:
            await self.emulator(scope, replaying(body, receive), send)

    async def serve_signed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request if its signature is right. The signature covers the body, so this is read first."""
        received = received_from(scope, await body_of(receive))
        try:
            self.signatures.check(received)
        except Refused as refused:
            advice = f"{refused} The AWS port takes the keys of this run only; {self.exports} has them."
            await refuse(send, received.headers, Refused(refused.code, advice))
            return
        again = replaying(received.body, receive)
        if scope["method"] == "PUT" and scope["path"] in self.own:
            await self.own[scope["path"]](again, send)
        else:
            await self.emulator(scope, again, send)


def received_from(scope: Scope, body: bytes) -> Received:
    """The request of a scope, in the form in which it was signed."""
    path: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    return Received(
        method=scope["method"],
        path=path.decode("latin-1"),
        query=scope.get("query_string", b"").decode("latin-1"),
        headers=headers_of(scope),
        body=body,
    )


def replaying(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives this body first, and then what comes after it."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay
