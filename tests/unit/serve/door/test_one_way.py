"""A call is the same request of the API, whether it comes by the door or in the fake."""

import asyncio
from urllib.parse import quote, urlencode

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.engines.memory import MemoryObserver
from delayer.http.answers import Response, response
from delayer.http.requests import ApiRequest
from delayer.serve.door.application import Door, WaitingCall
from delayer.serve.door.incoming import Message
from delayer_client.testing.transport import FakeTransport

Came = tuple[str, ApiRequest]

PATHS = ("/schedules", "/schedules/batch", "/schedules/by-name/{}", "/schedules/{}", "/series/{}/next", "/{}")
texts = st.text(st.characters(codec="utf-8"), max_size=8)
headers = st.lists(
    st.tuples(st.sampled_from(["Delayer-Owner", "idempotency-key", "X-One", "x-one"]), texts.map(str.strip))
)


def by_the_door(request: httpx.Request) -> tuple[Came, int]:
    """The call that the door submits, and the status that it sends."""
    came: list[Came] = []
    sent: list[Message] = []

    def submit(call: WaitingCall) -> None:
        came.append((call.function, call.request))
        call.answered.set_result(response(201, {}))

    async def receive() -> Message:
        return {"type": "http.request", "body": request.content}

    async def send(message: Message) -> None:
        sent.append(message)

    raw_path, _, query = request.url.raw_path.partition(b"?")
    scope = {
        "type": "http",
        "method": request.method,
        "path": request.url.path,
        "raw_path": raw_path,
        "query_string": query,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("127.0.0.1", 4711),
    }
    asyncio.run(Door(submit, MemoryObserver())(scope, receive, send))
    return came[0], sent[0]["status"]


def by_the_fake(request: httpx.Request) -> Came:
    came: list[Came] = []

    def call(function: str, made: ApiRequest) -> Response:
        came.append((function, made))
        return response(201, {})

    FakeTransport(call).handle_request(request)
    return came[0]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD"]),
    st.sampled_from(PATHS),
    texts,
    st.lists(st.tuples(texts, texts), max_size=3),
    headers,
    st.binary(max_size=20),
)
def test_a_call_is_the_same_request(
    method: str, path: str, name: str, query: list[tuple[str, str]], fields: list[tuple[str, str]], body: bytes
) -> None:
    url = f"http://localhost:8080{path.format(quote(name, safe=''))}?{urlencode(query)}"
    sent = [(one.encode(), value.encode()) for one, value in fields if value.isprintable()]
    request = httpx.Request(method, url, headers=sent, content=body)
    found, status = by_the_door(request)
    assert found == by_the_fake(request)
    assert status == 201
