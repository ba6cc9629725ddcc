"""The API's port reaches the stack's HTTP API; requests of other web pages are refused."""

import json

import pytest

from local.emulator.asgi import Receive, Scope, Send
from local.emulator.gateway import Gateway
from tests.unit.local.emulator.requests_to import API, Recorded, ask, scope_of


@pytest.fixture
def emulator() -> Recorded:
    return Recorded()


@pytest.fixture
def gateway(emulator: Recorded) -> Gateway:
    """It serves the API `abc`."""
    gateway = Gateway(emulator)

    async def opened(scope: Scope, receive: Receive, send: Send) -> None:
        await gateway.open_api(receive, send)

    assert ask(opened, scope_of(API), json.dumps({"apiId": "abc"}).encode()).status == 200
    return gateway


@pytest.mark.parametrize(("failure", "status"), [("", 200), ("api-schedule-get cannot start: no module", 500)])
def test_who_starts_the_functions_learns_which_of_them_cannot(emulator: Recorded, failure: str, status: int) -> None:
    gateway = Gateway(emulator, prepare=lambda: failure)

    async def started(scope: Scope, receive: Receive, send: Send) -> None:
        await gateway.start_functions(receive, send)

    answer = ask(started, scope_of(API), b"{}")
    assert answer.status == status
    assert failure in answer.body["detail"]


def test_the_api_is_unavailable_until_the_stack_is_there(emulator: Recorded) -> None:
    assert ask(Gateway(emulator), scope_of(API)).status == 503
    assert emulator.scopes == []


def test_the_apis_port_is_rewritten_once_the_api_is_known(gateway: Gateway, emulator: Recorded) -> None:
    assert ask(gateway, scope_of(API, "/schedules/a b"), b"{}").status == 200
    rewritten = emulator.scopes[0]
    assert rewritten["path"] == "/_aws/execute-api/abc/$default/schedules/a b"
    assert rewritten["raw_path"] == b"/_aws/execute-api/abc/$default/schedules/a%20b"
    assert emulator.bodies == [b"{}"]


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"origin": "https://evil.example", "content-type": "text/plain"},  # a form's POST needs no preflight
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
def test_another_web_page_is_answered_with_a_problem(
    gateway: Gateway, emulator: Recorded, headers: dict[str, str]
) -> None:
    answer = ask(gateway, scope_of(API, headers=headers))
    assert (answer.status, answer.headers["content-type"]) == (403, "application/problem+json")
    assert answer.body.keys() == {"type", "title", "status", "detail"}
    assert emulator.scopes == []


def test_a_program_and_a_page_of_the_api_itself_get_in(gateway: Gateway) -> None:
    own = {"origin": f"http://localhost:{API}", "sec-fetch-site": "same-origin"}
    assert ask(gateway, scope_of(API, headers=own)).status == 200
    assert ask(gateway, scope_of(API)).status == 200
