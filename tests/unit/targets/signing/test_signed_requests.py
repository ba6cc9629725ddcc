"""A signed request as the other side verifies it: with the library `standardwebhooks`, unchanged, and a real server."""

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from attrs import frozen
from standardwebhooks import Webhook, WebhookVerificationError

from delayer.actions.rules.model import Done
from delayer.engines.memory import ManualClock
from delayer.schedule.instants import DAY, SECOND
from delayer.signing.rules import NEXT_AFTER, OVERLAP
from delayer.signing.sign import OwnSecrets, Sign
from delayer.wiring.build import build
from tests.samples import NOW, OWNER, an_executor_message, an_id
from tests.unit.targets.apps import app_of
from tests.unit.targets.server import Server
from tests.world import World

Headers = dict[str, str]
BODIES = {
    "json": '{"order": 17}',
    "none": "",
    "unicode": '{"ä": "\U0001f600", "zero": "\\u0000", "line": "\u2028"}',
    "spaces": "  [1.0e2,\r\n\t 1.00]\n ",
    "dots": '"1.2.3"',
    "large": '"' + "x" * 200_000 + '"',
}


@frozen
class Stack:
    """A world by the clock on the wall, which the other side looks at, too."""

    world: World

    def secret(self, owner: str = OWNER) -> str:
        return build(OwnSecrets, self.world.ports("api")).show(owner).current

    def send(self, server: Server, payload: str = BODIES["json"], **fields: Any) -> tuple[Headers, bytes]:
        """One attempt of the function: what arrives."""
        app = app_of("http-request")
        app.handler.sign = build(Sign, self.world.ports("executor-http-request"))
        action = {"type": "http-request", "url": f"http://127.0.0.1:{server.server_port}/hook", **fields}
        sent = an_executor_message(NOW, action=json.dumps(action), payload=payload)
        assert app.handler.target(sent) == Done("HTTP 204")
        _, _, headers, body = server.requests[-1]
        return headers, body


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Stack:
    monkeypatch.setenv("ALLOW_PRIVATE_TARGETS", "true")
    world = World()
    world.clock = ManualClock(time.time_ns() // 1_000_000)
    return Stack(world)


@pytest.mark.parametrize("name", BODIES)
def test_the_other_side_verifies_what_arrives(server: Server, stack: Stack, name: str) -> None:
    headers, body = stack.send(server, BODIES[name])
    assert body == BODIES[name].encode(), "the signature is over the bytes as they are sent"
    Webhook(stack.secret()).verify(body, headers, json_parse=False)
    assert headers["webhook-id"] == headers["idempotency-key"] == an_id(NOW)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_each_method_is_signed(server: Server, stack: Stack, method: str) -> None:
    headers, body = stack.send(server, method=method)
    assert Webhook(stack.secret()).verify(body, headers) == {"order": 17}


def test_both_secrets_verify_during_the_overlap(server: Server, stack: Stack) -> None:
    old = stack.secret()
    build(OwnSecrets, stack.world.ports("api")).rotate(OWNER, OVERLAP)
    headers, body = stack.send(server)
    for secret in (old, stack.secret()):
        assert Webhook(secret).verify(body, headers)
    assert old != stack.secret()


def test_after_the_overlap_the_old_one_signs_no_more(server: Server, stack: Stack) -> None:
    old = stack.secret()
    stack.world.clock.move(-NEXT_AFTER)
    build(OwnSecrets, stack.world.ports("api")).rotate(OWNER, NEXT_AFTER)
    stack.world.clock.move(NEXT_AFTER)
    headers, body = stack.send(server)
    assert Webhook(stack.secret()).verify(body, headers)
    with pytest.raises(WebhookVerificationError, match="No matching signature"):
        Webhook(old).verify(body, headers)


STORED = {
    "webhook-id": "another",
    "Webhook-Timestamp": "1",
    "WEBHOOK-SIGNATURE": "v1,Zm9yZ2Vk",
    "webhook-other": "stays",
}


def test_headers_that_an_earlier_version_stored_replace_nothing(server: Server, stack: Stack) -> None:
    """And are no reason to fail; the API refuses them now."""
    headers, body = stack.send(server, headers=STORED)
    assert Webhook(stack.secret()).verify(body, headers)
    assert headers["webhook-other"] == "stays"


# ------------------------------------------------------------ hostile requests

Change = Callable[[Stack, Headers, bytes], tuple[Headers, bytes]]


def with_header(name: str, of: Callable[[str], str]) -> Change:
    return lambda _, headers, body: ({**headers, name: of(headers[name])}, body)


def with_body(of: Callable[[bytes], bytes]) -> Change:
    return lambda _, headers, body: (headers, of(body))


def without(name: str) -> Change:
    return lambda _, headers, body: ({key: value for key, value in headers.items() if key != name}, body)


def signed_with(secret: Callable[[Stack], bytes]) -> Change:
    """By somebody who has another secret, and knows everything else."""

    def change(stack: Stack, headers: Headers, body: bytes) -> tuple[Headers, bytes]:
        at = time.time()
        import datetime as clock

        when = clock.datetime.fromtimestamp(int(at), clock.UTC)
        signature = Webhook(secret(stack)).sign(headers["webhook-id"], when, body.decode())
        return {**headers, "webhook-timestamp": str(int(at)), "webhook-signature": signature}, body

    return change


def first(signatures: str) -> str:
    return signatures.split(" ")[0]


def flipped(signatures: str, at: int) -> str:
    raw = bytearray(base64.b64decode(first(signatures)[3:]))
    raw[at] ^= 1
    return "v1," + base64.b64encode(raw).decode()


HOSTILE: dict[str, Change] = {
    # replayed
    "later than its tolerance": with_header("webhook-timestamp", lambda at: str(int(at) - 301)),
    "before its time": with_header("webhook-timestamp", lambda at: str(int(at) + 301)),
    "with a fresh timestamp": with_header("webhook-timestamp", lambda at: str(int(at) + 1)),
    "with a timestamp in milliseconds": with_header("webhook-timestamp", lambda at: at + "000"),
    "with no number": with_header("webhook-timestamp", lambda _: "now"),
    "as not a number": with_header("webhook-timestamp", lambda _: "nan"),
    "as infinity": with_header("webhook-timestamp", lambda _: "inf"),
    "with an empty timestamp": with_header("webhook-timestamp", lambda _: ""),
    "without a timestamp": without("webhook-timestamp"),
    # with another id
    "another id": with_header("webhook-id", lambda one: "x" + one),
    "the id in capitals": with_header("webhook-id", str.upper),
    "an id that takes the timestamp in": with_header("webhook-id", lambda one: one + "."),
    "an empty id": with_header("webhook-id", lambda _: ""),
    "without an id": without("webhook-id"),
    # with another body
    "another body": with_body(lambda body: body.replace(b"17", b"18")),
    "a space more": with_body(lambda body: body + b" "),
    "a byte less": with_body(lambda body: body[:-1]),
    "an empty body": with_body(lambda _: b""),
    "the body twice": with_body(lambda body: body * 2),
    "a body of equal JSON": with_body(lambda body: json.dumps(json.loads(body), separators=(",", ":")).encode()),
    "a point moved from the body": with_body(lambda body: b"." + body),
    # with another signature
    "a truncated signature": with_header("webhook-signature", lambda one: first(one)[:-4]),
    "half a signature": with_header("webhook-signature", lambda one: first(one)[:25]),
    "an empty signature": with_header("webhook-signature", lambda _: ""),
    "a version without a signature": with_header("webhook-signature", lambda _: "v1,"),
    "another version": with_header("webhook-signature", lambda one: one.replace("v1,", "v2,")),
    "the version of asymmetric keys": with_header("webhook-signature", lambda one: one.replace("v1,", "v1a,")),
    "the first bit flipped": with_header("webhook-signature", lambda one: flipped(one, 0)),
    "the last bit flipped": with_header("webhook-signature", lambda one: flipped(one, 31)),
    "all bytes zero": with_header("webhook-signature", lambda _: "v1," + base64.b64encode(bytes(32)).decode()),
    "the digest reversed": with_header("webhook-signature", lambda one: "v1," + first(one)[:2:-1].strip("=") + "="),
    "without a signature": without("webhook-signature"),
    # with another secret
    "the secret of another owner": signed_with(lambda stack: base64.b64decode(stack.secret("another")[6:])),
    "the owner's name as the secret": signed_with(lambda _: OWNER.encode()),
    "the text of the secret": signed_with(lambda stack: stack.secret().encode()),
    "the id as the secret": signed_with(lambda _: an_id(NOW).encode()),
    "zeros as the secret": signed_with(lambda _: bytes(32)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_request_is_refused(server: Server, stack: Stack, name: str) -> None:
    """37 of them. The request that was changed is itself accepted."""
    headers, body = stack.send(server)
    headers = {key: value for key, value in headers.items() if key.startswith("webhook-")}
    Webhook(stack.secret()).verify(body, headers)
    changed = HOSTILE[name](stack, headers, body)
    assert changed != (headers, body)
    with pytest.raises((WebhookVerificationError, ValueError)):
        Webhook(stack.secret()).verify(changed[1], changed[0], json_parse=False)


def test_all_hostile_requests_are_counted() -> None:
    assert len(HOSTILE) == 37


def test_a_request_of_another_owner_is_not_taken_for_ours(server: Server, stack: Stack) -> None:
    headers, body = stack.send(server)
    with pytest.raises(WebhookVerificationError):
        Webhook(stack.secret("another")).verify(body, headers)


def test_an_attempt_long_after_the_first_is_signed_anew(server: Server, stack: Stack) -> None:
    """Retries come over days. The id stays, the timestamp is that of the attempt."""
    stack.world.clock.move(-DAY)
    early, _ = stack.send(server)
    stack.world.clock.move(DAY)
    late, body = stack.send(server)
    assert early["webhook-id"] == late["webhook-id"]
    assert int(late["webhook-timestamp"]) - int(early["webhook-timestamp"]) == DAY // SECOND
    Webhook(stack.secret()).verify(body, late)
    with pytest.raises(WebhookVerificationError, match="too old"):
        Webhook(stack.secret()).verify(body, early)
