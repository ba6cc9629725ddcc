"""The stack of the journey: the functions of functions/ on the fakes, and a web server as the target.

Nothing is left to chance, so that each run brings the same bytes: the clock stands still until it is moved, and ids,
nonces and fencing tokens are made from a count.
"""

import hashlib
import socket
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from attrs import define, evolve, field

from delayer.engines.memory import MemoryObserver, Tokens
from delayer.schedule.instants import Millis
from delayer.targets.http_request import HttpTarget
from delayer.wiring.functions import loaded
from tests.unit.targets.server import Handler, Server, status
from tests.world import World

SHARDS = 8  # the parameter Shards of the template
LEAD: Millis = 500  # the parameter HandoverLead
ANSWER_TAKES: Millis = 38
SIGNED_CALLS = {"API_AUTHORIZATION": "AWS_IAM"}

Function = Callable[[dict[str, Any]], dict[str, Any]]


class CountedTokens(Tokens):
    """They look as those of a real stack do."""

    def __call__(self) -> str:
        self.count += 1
        return urlsafe_b64encode(hashlib.sha256(b"token %d" % self.count).digest()[:12]).decode()


@define(kw_only=True, slots=False)
class JourneyStack(World):
    """A world whose executor makes its requests over a socket."""

    target_server: Server = field(kw_only=True)

    def prepare(self) -> None:
        super().prepare()
        self.observer = MemoryObserver()
        self.tokens = CountedTokens()
        self.settings = evolve(
            self.settings, lead=LEAD, event_source="urn:delayer:123456789012:eu-west-1:delayer", has_canary=False
        )

    def randomness(self, number: int) -> bytes:
        return hashlib.sha256(b"randomness %d" % number).digest()[:number]

    def pick(self, below: int) -> int:
        return 3 % below

    def function(self, name: str) -> Function:
        """The handler of a function, as Lambda calls it."""
        module = loaded(name, self, SIGNED_CALLS)
        if name.startswith("executor-"):
            module.handler.ports = self.ports(name)
            module.target = lambda: HttpTarget(allow_private=True, resolve=lambda _host, _port: ["127.0.0.1"])
        return lambda event: dict(module.handler(event, None))


class NoTls:
    """What the target's server would read: the request, without the encryption around it."""

    def wrap_socket(self, raw: socket.socket, server_hostname: str) -> socket.socket:
        return raw


@contextmanager
def journey_stack() -> Iterator[JourneyStack]:
    """It leaves no server behind."""
    server = Server(("127.0.0.1", 0), Handler)
    server.requests = []
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    connect = socket.create_connection
    try:
        with (
            patch("delayer.targets.http_connections.tls_context", NoTls),
            patch("socket.create_connection", lambda _, timeout: connect(("127.0.0.1", server.server_port), timeout)),
        ):
            stack = JourneyStack(shards=SHARDS, target_server=server)
            server.reply = answer_after(stack)
            yield stack
    finally:
        server.shutdown()
        server.server_close()


def answer_after(stack: JourneyStack) -> Callable[[Handler], None]:
    """200, a little later by the clock of the stack."""

    def reply(handler: Handler) -> None:
        stack.clock.move(ANSWER_TAKES)
        status(200)(handler)

    return reply
