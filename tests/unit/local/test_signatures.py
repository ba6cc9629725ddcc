"""The receiver of `make local` says of each request whether it is signed by the stack."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from delayer.signing.rules import as_text, signed_headers
from local.receiver import ReceivedRequest
from local.signatures import UNCHECKED, UNSIGNED, VERIFIED, WRONG, Signatures

SECRETS = [bytes([number]) * 32 for number in range(3)]


class Api(ThreadingHTTPServer):
    """Answers GET /signing-secret; and as an engine does, GET /events/signing-secret."""

    daemon_threads = True
    status = 200
    shown: dict[str, Any]
    of_events: dict[str, Any] | None = None
    calls = 0


class Handler(BaseHTTPRequestHandler):
    server: Api

    def do_GET(self) -> None:
        self.server.calls += 1
        assert self.path in ("/signing-secret", "/events/signing-secret")
        shown = self.server.of_events if self.path.startswith("/events") else self.server.shown
        body = json.dumps(shown or {"title": "no such path"}).encode()
        self.send_response(404 if shown is None else self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Silent."""


@pytest.fixture
def api() -> Iterator[Api]:
    with Api(("127.0.0.1", 0), Handler) as server:
        server.shown = {"current": as_text(SECRETS[1]), "previous": as_text(SECRETS[0])}
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()


def signatures_of(api: Api) -> Signatures:
    return Signatures(f"http://127.0.0.1:{api.server_port}")


def a_request(secret: bytes | None, body: bytes = b"{}", **changed: str) -> ReceivedRequest:
    signed = signed_headers([secret], "id", time.time_ns() // 1_000_000, body) if secret else {}
    headers = {name.lower(): value for name, value in signed.items()} | {
        name.replace("_", "-"): value for name, value in changed.items()
    }
    return ReceivedRequest(at_ms=0, method="POST", path="/", headers=headers, body=body, status=200)


@pytest.mark.parametrize("body", [b"{}", b"", "ä".encode(), b"no json"])
@pytest.mark.parametrize("secret", SECRETS[:2])
def test_a_request_of_the_stack_is_verified(api: Api, secret: bytes, body: bytes) -> None:
    signatures = signatures_of(api)
    assert signatures.checked(a_request(secret, body)) == VERIFIED
    assert signatures.checked(a_request(secret, body)) == VERIFIED
    assert api.calls == 2, "of owners, and of events"


def test_after_a_rotation_the_secrets_are_fetched_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    signatures = signatures_of(api)
    assert signatures.checked(a_request(SECRETS[1])) == VERIFIED
    api.shown = {"current": as_text(SECRETS[2]), "previous": None}
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 60)
    assert signatures.checked(a_request(SECRETS[2])) == VERIFIED
    assert api.calls == 4


def test_what_is_forged_is_said_so_and_costs_one_call_a_second(api: Api) -> None:
    signatures = signatures_of(api)
    for _ in range(20):
        assert signatures.checked(a_request(SECRETS[2])) == WRONG
    assert api.calls == 2, "of owners, and of events"


@pytest.mark.parametrize(
    "changed",
    [
        {"webhook_signature": ""},
        {"webhook_signature": "v1"},
        {"webhook_signature": "v1,\u0100"},
        {"webhook_signature": "v1,a,b"},
        {"webhook_timestamp": "1e400"},
        {"webhook_timestamp": "1"},
        {"webhook_id": "other"},
    ],
    ids=str,
)
def test_whatever_somebody_sends_does_no_harm(api: Api, changed: dict[str, str]) -> None:
    assert signatures_of(api).checked(a_request(SECRETS[1], b"{}", **changed)) == WRONG
    assert signatures_of(api).checked(a_request(SECRETS[1], b"\xff")) in (WRONG, VERIFIED)


def test_a_request_without_a_signature_is_not_signed(api: Api) -> None:
    assert signatures_of(api).checked(a_request(None)) == UNSIGNED
    assert api.calls == 0


def test_where_the_secret_cannot_be_fetched_nothing_is_claimed(api: Api) -> None:
    """With another ApiAuthorization, the API refuses."""
    api.status = 403
    assert signatures_of(api).checked(a_request(SECRETS[1])) == UNCHECKED


def test_an_event_of_an_engine_is_verified(api: Api) -> None:
    """Its secret is another one than that of any owner."""
    api.of_events = {"current": as_text(SECRETS[2])}
    signatures = signatures_of(api)
    assert signatures.checked(a_request(SECRETS[2])) == VERIFIED
    assert signatures.checked(a_request(SECRETS[1])) == VERIFIED
    assert signatures.checked(a_request(b"x" * 32)) == WRONG
