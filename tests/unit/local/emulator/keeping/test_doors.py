"""While a stack comes to rest, only its functions and its starter are let in; at the end nobody is."""

import asyncio
from typing import Any

import pytest

from local.emulator.asgi import Receive, Scope, Send
from local.emulator.keeping.doors import Doors, Opening
from tests.unit.local.emulator.requests_to import API, AWS, Recorded, ask, scope_of

FUNCTION = {
    "authorization": "AWS4-HMAC-SHA256 Credential=ASIA0123456789ABCDEF/20261123/us-east-1/sqs/aws4_request, x=y"
}
USER = {"authorization": "AWS4-HMAC-SHA256 Credential=AKIA0123456789ABCDEF/20261123/us-east-1/sqs/aws4_request, x=y"}


@pytest.fixture
def doors() -> Doors:
    return Doors()


@pytest.mark.parametrize(("opening", "status"), [(Opening.ALL, 200), (Opening.FUNCTIONS, 503), (Opening.NOBODY, 503)])
def test_the_api_asks_clients_to_come_again(doors: Doors, opening: Opening, status: int) -> None:
    doors.opening = opening
    answer = ask(doors.api(Recorded()), scope_of(API))
    assert answer.status == status
    assert ("retry-after" in answer.headers) == (status == 503)


@pytest.mark.parametrize(
    ("opening", "path", "headers", "status"),
    [
        (Opening.ALL, "/", USER, 200),
        (Opening.FUNCTIONS, "/", FUNCTION, 200),
        (Opening.FUNCTIONS, "/", USER, 503),
        (Opening.FUNCTIONS, "/", {}, 503),
        (Opening.FUNCTIONS, "/_local/state/left", USER, 200),
        (Opening.NOBODY, "/", FUNCTION, 503),
        (Opening.NOBODY, "/_local/state/save", USER, 200),
    ],
)
def test_the_aws_port_serves_functions_to_the_last(
    doors: Doors, opening: Opening, path: str, headers: dict[str, str], status: int
) -> None:
    doors.opening = opening
    emulator = Recorded()
    assert ask(doors.aws(emulator), scope_of(AWS, path, headers=headers)).status == status
    assert len(emulator.scopes) == (status == 200)


@pytest.mark.parametrize("port", ["api", "aws"])
def test_who_is_inside_is_counted_also_if_it_fails(doors: Doors, port: str) -> None:
    seen = []

    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(doors.inside[port])
        raise ValueError("failed")

    guarded: Any = doors.api(failing) if port == "api" else doors.aws(failing)
    with pytest.raises(ValueError, match="failed"):
        asyncio.run(guarded(scope_of(API), None, None))
    assert (seen, doors.inside[port]) == ([1], 0)
