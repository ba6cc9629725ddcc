"""The API as an ASGI application: each request becomes a `WaitingCall`, which another thread answers (ADR 0184)."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from attrs import frozen

from delayer.engines.ports import Observer, Unavailable
from delayer.http.answers import Response, problem, refused, unavailable, unexpected
from delayer.http.problem import Problem
from delayer.http.received import received
from delayer.http.requests import ApiRequest, Caller
from delayer.http.routing import Routed, route_of
from delayer.http.web_pages import Doorkeeper, headers_in
from delayer.serve.door.address import caller_address
from delayer.serve.door.incoming import Application, HeldBodies, Incoming, Receive, Scope, Send
from delayer.serve.door.limits import DoorLimits, HeadTooLarge, NotNow
from delayer.serve.door.tokens import KnownTokens

PAGES: Final = Doorkeeper(own_pages=True, subdomains=False)
POLICY_VIOLATION: Final = 1008  # why a WebSocket is closed
BUSY: Final = "The engine has as many calls as it can hold."
STOPPING: Final = "The engine is being stopped."
CHALLENGE: Final = 'Bearer realm="delayer"'


@frozen(kw_only=True, eq=False)
class WaitingCall:
    """A call that waits for its answer."""

    function: str  # that answers it
    request: ApiRequest
    answered: "Future[Response]"  # of the loop of the door: no other thread may touch it


def deliver(answers: Sequence[tuple[WaitingCall, Response]]) -> None:
    """Hands over the answers to any number of calls, from another thread, and wakes the loop once for all of them.

    An answer that nobody waits for any more is dropped; so are all, once the loop has ended.
    """
    if not answers:
        return
    try:
        answers[0][0].answered.get_loop().call_soon_threadsafe(_hand_over, answers)
    except RuntimeError:  # the loop is closed
        return


def _hand_over(answers: Iterable[tuple[WaitingCall, Response]]) -> None:
    for call, response in answers:
        if not call.answered.done():
            call.answered.set_result(response)


class FromAWebPage(Problem):
    """A web page of another origin has made the call."""

    status = 403
    kind = "from-a-web-page"
    title = "The call comes from a web page"


class Door:
    """ASGI application. `submit` is called in the thread of the loop and must not wait; `deliver` brings the answer.

    `is_own`: callers are programs of this machine, and no web page but the port's own. Otherwise there are `tokens`.
    `beside` serves what lies below a path, such as the console below `/console`; it guards itself. To stop the engine,
    set `is_closed`: from then on calls get 503.
    """

    def __init__(
        self,
        submit: Callable[[WaitingCall], None],
        observer: Observer,
        *,
        tokens: KnownTokens | None = None,
        is_own: bool = True,
        behind_proxy: bool = False,
        limits: DoorLimits | None = None,
        beside: Mapping[str, Application] | None = None,
        route: Callable[[str, str], Routed] = route_of,
    ) -> None:
        if not is_own and tokens is None:
            raise ValueError("a door that is open to others needs tokens")
        self.is_closed = False
        self.limits = limits or DoorLimits()
        self._submit = submit
        self._observer = observer
        self._tokens = tokens
        self._is_own = is_own
        self._behind_proxy = behind_proxy
        self._beside = beside or {}
        self._route = route
        self._held = HeldBodies(self.limits.held)
        self._waiting = 0  # calls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. A WebSocket, which a web page may open to any address, is closed before it is open."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        if scope["type"] != "http":
            return
        for prefix, application in self._beside.items():
            if scope["path"] == prefix or scope["path"].startswith(f"{prefix}/"):
                await application(scope, receive, send)
                return
        with Incoming(receive, self.limits, self._held) as incoming:
            response = await self._response(scope, incoming)
        if response is not None:
            await _send(send, response, closes=not incoming.is_whole)

    async def _response(self, scope: Scope, incoming: Incoming) -> Response | None:
        """None if the client is gone. If the body was not read to its end, the connection can bear no other call."""
        try:
            headers = headers_in(scope["headers"])
            caller = self._caller(scope, headers)
            if caller is None:
                return _unknown(headers)
            body = await incoming.body(headers)
            return None if body is None else await self._answer(scope, headers, body, caller)
        except Unavailable:
            return unavailable()
        except Problem as error:
            return refused(error)
        except Exception as error:  # noqa: BLE001 - the server's own 500 would be no problem+json
            self._observer.count("Unexpected")
            self._observer.warn("unexpected", error=type(error).__name__)
            return unexpected()

    def _caller(self, scope: Scope, headers: Mapping[str, str]) -> Caller | None:
        """Returns the caller; None for nobody that is known. Raises Problem before anything of the body is read."""
        self._check_open()
        size = len(scope["raw_path"]) + len(scope["query_string"]) + sum(len(a) + len(b) for a, b in scope["headers"])
        if size > self.limits.head:
            raise HeadTooLarge.over(self.limits)
        if self._is_own and (why := PAGES.refusal_of(headers)):
            raise FromAWebPage(why)
        claims = self._tokens.claims_of(headers.get("authorization", "")) if self._tokens else {}
        peer = scope["client"][0] if scope.get("client") else ""
        address = caller_address(peer, headers, behind_proxy=self._behind_proxy)
        return None if claims is None else Caller(claims=claims, address=address)

    async def _answer(self, scope: Scope, headers: Mapping[str, str], body: bytes, caller: Caller) -> Response:
        self._check_open()
        if self._waiting >= self.limits.calls:
            raise NotNow(BUSY, after_seconds=1)
        path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
        routed = self._route(scope["method"], path)
        request = received(routed, path, query, headers, body=body, caller=caller)
        call = WaitingCall(
            function=routed.function, request=request, answered=asyncio.get_running_loop().create_future()
        )
        self._waiting += 1
        try:
            self._submit(call)
            async with asyncio.timeout(self.limits.answer_seconds):
                return await call.answered
        except TimeoutError:  # nobody knows what becomes of it
            return unavailable()
        finally:
            self._waiting -= 1

    def _check_open(self) -> None:
        if self.is_closed:
            raise NotNow(STOPPING, after_seconds=5)


def _unknown(headers: Mapping[str, str]) -> Response:
    """401, with how to show a token (RFC 6750)."""
    is_shown = "authorization" in headers
    detail = "The token is not one that this engine knows." if is_shown else "The call shows no token."
    detail += " Send the header Authorization: Bearer, and a token that `delayer token` has made for this engine."
    challenge = f'{CHALLENGE}, error="invalid_token"' if is_shown else CHALLENGE
    return problem(401, "unknown-token", "The caller is not known", detail, {"WWW-Authenticate": challenge})


async def _send(send: Send, response: Response, *, closes: bool) -> None:
    body = response.body.encode("utf-8", "surrogatepass")
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in response.headers.items()
    ]
    if response.status != 204:  # has none
        headers.append((b"content-length", b"%d" % len(body)))
    if closes:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
