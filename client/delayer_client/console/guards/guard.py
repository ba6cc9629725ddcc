"""ASGI middleware in front of all pages."""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from attrs import frozen
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from delayer.http.web_pages import headers_in
from delayer_client.console.guards.door import WHY, Verdict, verdict_of
from delayer_client.console.guards.policies import HEADERS
from delayer_client.console.guards.sessions import Message as Said
from delayer_client.console.guards.sessions import Session, Sessions

TOKEN: Final = "token"  # noqa: S105 - the name of the parameter
PAGE: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8">{}<title>Delayer</title><main><p>{}</p></main></html>'
)
AGAIN: Final = PAGE.format('<meta http-equiv="refresh" content="0">', "Delayer’s console opens.")
USED: Final = "This address has been used. Start <code>delayer console</code> again: it prints another one."
OVER: Final = "Nothing was changed: your session was over, and a new one has begun. Do it once more."
NEEDS_TOKEN: Final = "Open the console by the address that <code>delayer console</code> has printed."  # noqa: S105


@frozen
class Guard:
    """Lets in what `door` lets in, and gives each browser its session."""

    app: ASGIApp
    sessions: Sessions
    static: str  # the path of what everybody may have: style and scripts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. A WebSocket is closed before it is open."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = headers_in(scope["headers"])
        cookie = f"delayer_console_{scope['server'][1]}"
        answer = self._stopped(scope, headers) or self._entered(scope, headers, cookie)
        if isinstance(answer, Session):
            scope["session"] = answer
            is_new = answer.id != _cookie(headers, cookie)
            await self.app(scope, receive, _with_headers(send, {"Set-Cookie": _set(cookie, answer)} if is_new else {}))
        else:
            await answer(scope, receive, _with_headers(send, {}))

    def _stopped(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        verdict = verdict_of(scope["method"], headers)
        if verdict is Verdict.COME_IN:
            return None
        return HTMLResponse(AGAIN) if verdict is Verdict.ASK_AGAIN else _refusal(WHY[verdict])

    def _entered(self, scope: Scope, headers: Mapping[str, str], cookie: str) -> Session | Response:
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = dict(query).get(TOKEN)
        if token is not None:
            return self._redeemed(scope, token, [pair for pair in query if pair[0] != TOKEN], cookie)
        found = self.sessions.of(_cookie(headers, cookie))
        if found:
            return found
        if scope["path"].startswith(self.static):
            return Session(id=_cookie(headers, cookie))  # of nobody: what is static asks for no session
        if self.sessions.asks_for_a_token:
            return _refusal(NEEDS_TOKEN)
        session = self.sessions.begin()
        return self._anew(scope, session, cookie) if scope["method"] == "POST" else session

    def _anew(self, scope: Scope, session: Session, cookie: str) -> Response:
        """For a form of a session that is over: its page once more, which says so. Nothing is changed."""
        session.messages.append(Said(kind="bad", text=OVER))
        answer = RedirectResponse(_page_of(scope["path"]), 303)
        answer.headers["Set-Cookie"] = _set(cookie, session)
        return answer

    def _redeemed(self, scope: Scope, token: str, rest: list[tuple[str, str]], cookie: str) -> Response:
        session = self.sessions.redeem(token) if scope["method"] == "GET" else None
        if session is None:
            return _refusal(USED)
        path = scope["path"] if scope["path"].startswith("/console/") else "/console"  # never to another host
        answer = RedirectResponse(path + (f"?{urlencode(rest)}" if rest else ""), 303)
        answer.headers["Set-Cookie"] = _set(cookie, session)
        return answer


def _page_of(path: str) -> str:
    """The page that has the form which is sent there; never one of another host."""
    parts = path.split("/")
    if len(parts) == 5 and parts[:3] in (["", "console", "schedules"], ["", "console", "series"]):
        return "/".join((*parts[:3], quote(parts[3], safe="")))
    return "/console/dead-letters" if parts[:3] == ["", "console", "dead-letters"] else "/console"


def _refusal(why: str) -> Response:
    return HTMLResponse(PAGE.format("", why), 403)


def _cookie(headers: Mapping[str, str], name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


def _set(cookie: str, session: Session) -> str:
    return f"{cookie}={session.id}; Path=/console; HttpOnly; SameSite=Strict"


def _with_headers(send: Send, more: Mapping[str, str]) -> Send:
    """`send` that adds the headers of every answer; those of `more` beside what is there."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = [(name, value) for name, value in message["headers"] if name != b"cache-control"]
            kept = [(name, value) for name, value in message["headers"] if name == b"cache-control"]
            own = {name: value for name, value in HEADERS.items() if name != "Cache-Control" or not kept}
            added = [(name.lower().encode(), value.encode()) for name, value in {**own, **more}.items()]
            message = {**message, "headers": [*given, *kept, *added]}
        await send(message)

    return sending
