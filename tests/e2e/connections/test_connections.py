"""Connections: each type reaches its target, and no secret is left anywhere but where it lies."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from attrs import Factory, define
from standardwebhooks import Webhook

from delayer_client import (
    ApiKeyConnection,
    BasicConnection,
    BearerConnection,
    Conflict,
    HttpRequest,
    Invalid,
    NewSchedule,
    NotFound,
    OAuth2Connection,
)
from tests.e2e.client import PATIENCE, Client, EngineClient, StackClient

SECRET = "S3CR3T-9f8e7d6c5b4a"
TOKEN = "T0K3N-1a2b3c4d5e6f"


@define
class Target:
    """A target and a token endpoint in one: what it was asked, and which header it takes."""

    seen: list[tuple[str, dict[str, str]]] = Factory(list)
    taken: dict[str, str] = Factory(dict)  # by path: the Authorization that is not answered 401
    url: str = ""

    def at(self, path: str, count: int = 1, seconds: float = PATIENCE) -> list[dict[str, str]]:
        """The headers of so many requests."""
        deadline = time.monotonic() + seconds
        while len(found := [headers for where, headers in self.seen if where == path]) < count:
            assert time.monotonic() < deadline, f"{path}: {len(found)} of {count}"
            time.sleep(0.05)
        return found


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    noted = Target()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.partition("?")[0]
            noted.seen.append((path, {name.lower(): value for name, value in self.headers.items()}))
            wanted = noted.taken.get(path)
            status = 401 if wanted and self.headers.get("Authorization") != wanted else 200
            body = json.dumps({"access_token": TOKEN, "expires_in": 3600}).encode() if path == "/token" else b"{}"
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        noted.url = f"http://127.0.0.1:{server.server_port}"
        yield noted
        server.shutdown()


def post(client: Client, target: Target, path: str, connection: str, delay: int = 0) -> str:
    return client.delayer.schedule(HttpRequest(url=target.url + path, connection=connection), delay=delay).id


def test_each_type_reaches_its_target(client: Client, target: Target) -> None:
    """It may take a second: functions start."""
    put = client.delayer.connections.put
    put("key", ApiKeyConnection(header_name="X-Api-Key", value=SECRET))
    put("basic", BasicConnection(username="delayer", password=SECRET))
    put("bearer", BearerConnection(token=SECRET))
    for name in ("key", "basic", "bearer"):
        post(client, target, f"/type-{name}", name)
    assert target.at("/type-key")[0]["x-api-key"] == SECRET
    assert target.at("/type-basic")[0]["authorization"].startswith("Basic ")
    assert target.at("/type-bearer")[0]["authorization"] == f"Bearer {SECRET}"


@pytest.mark.thorough
def test_many_at_a_time_fetch_one_token(client: Client, target: Target) -> None:
    """It takes some seconds: they are due in two."""
    fetched = OAuth2Connection(token_url=f"{target.url}/token", client_id="delayer", client_secret=SECRET)
    client.delayer.connections.put("oauth", fetched)
    for _ in range(12):
        post(client, target, "/oauth", "oauth", delay=2)
    headers = target.at("/oauth", count=12)
    assert {one["authorization"] for one in headers} == {f"Bearer {TOKEN}"}
    assert len(target.at("/token")) == 1


@pytest.mark.thorough
def test_a_replaced_connection_is_used_by_what_waits(client: Client, target: Target) -> None:
    """It takes the three seconds of the delay."""
    client.delayer.connections.put("replaced", BearerConnection(token="old"))
    post(client, target, "/replaced", "replaced", delay=3)
    status, _, shown = client.call("PUT", "/connections/replaced", {"type": "bearer", "token": SECRET})
    assert (status, shown["type"], "token" in shown) == (200, "bearer", False)
    assert target.at("/replaced")[0]["authorization"] == f"Bearer {SECRET}"


def test_a_test_says_the_status_alone(client: Client, target: Target) -> None:
    calls = client.delayer.connections
    calls.put("tried", BearerConnection(token=SECRET))
    target.taken["/tried"] = "Bearer another"
    tested = calls.test("tried", f"{target.url}/tried?x={SECRET}")
    assert (tested.succeeded, tested.detail) == (False, "HTTP 401")
    target.taken["/fine"] = f"Bearer {SECRET}"
    tested = calls.test("tried", f"{target.url}/fine")
    assert (tested.succeeded, tested.detail) == (True, "HTTP 200")
    [headers] = target.at("/fine")
    Webhook(client.delayer.signing_secret().current).verify(b"", headers, json_parse=False)


@pytest.mark.thorough
def test_a_connection_in_use_is_deleted_by_force_only(client: Client, target: Target) -> None:
    """It takes the six seconds of the delay."""
    calls = client.delayer.connections
    calls.put("held", BearerConnection(token=SECRET))
    schedule = post(client, target, "/held", "held", delay=6)
    with pytest.raises(Conflict) as held:
        calls.delete("held")
    assert (held.value.status, held.value.problem.schedules) == (409, [schedule])
    calls.delete("held", force=True)
    with pytest.raises(NotFound):
        calls.get("held")
    assert client.ended(schedule, "failed").detail == "the connection held was deleted"
    with pytest.raises(Invalid) as unknown:
        post(client, target, "", "held")
    assert (unknown.value.status, unknown.value.errors[0].field) == (422, "action.connection")


def test_a_secret_by_hand_brings_a_hint(client: Client, target: Target) -> None:
    action = HttpRequest(url=target.url, headers={"Authorization": "Bearer by-hand"})
    [one] = client.delayer.batch([NewSchedule(action=action, delay=3600)])
    assert one.schedule
    for made in (client.delayer.schedule(action, delay=3600), one.schedule):
        assert made.hints
        assert "Authorization" in made.hints[0]


@pytest.mark.thorough
def test_no_secret_is_in_a_file_of_the_engine(client: EngineClient, target: Target) -> None:
    """The last of this module about the engine: what it has stored and said, and what the API answers.

    Of bodies the folder has the clear text, so that they are found; of the secrets it has none.
    """
    written = [
        json.dumps(client.call("GET", path)).encode() for path in ("/connections", "/connections/key", "/schedules")
    ]
    written += [file.read_bytes() for file in client.engine.folder.iterdir() if file.is_file()]
    written.append("".join(client.engine.lines).encode())
    assert any(b"the connection held was deleted" in text for text in written), "what is written is read here"
    assert not [text[:300] for text in written if SECRET.encode() in text or TOKEN.encode() in text]


@pytest.mark.thorough
def test_no_secret_is_anywhere_but_where_it_lies(on_aws: StackClient, target: Target) -> None:
    """On a stack that has done the same: tables, the bucket, queues, logs, and what the API answers.

    It takes a dozen seconds: all of it is due within some, and all that is stored is read.
    """
    for do in (
        test_each_type_reaches_its_target,
        test_many_at_a_time_fetch_one_token,
        test_a_connection_in_use_is_deleted_by_force_only,
    ):
        target.seen.clear()
        do(on_aws, target)
    stack = on_aws.stack
    written = [json.dumps(on_aws.call("GET", path)) for path in ("/connections", "/connections/key", "/schedules")]
    dynamodb, s3, logs = stack.client("dynamodb"), stack.client("s3"), stack.client("logs")
    tables = [value for name, value in stack.outputs.items() if name.endswith("Table")]
    assert len(tables) >= 6
    written += [repr(page) for table in tables for page in dynamodb.get_paginator("scan").paginate(TableName=table)]
    bucket = stack.outputs["DeadLetterBucket"]
    for found in s3.list_objects_v2(Bucket=bucket).get("Contents", []):
        written.append(s3.get_object(Bucket=bucket, Key=found["Key"])["Body"].read().decode())
    for group in logs.describe_log_groups()["logGroups"]:
        events = logs.filter_log_events(logGroupName=group["logGroupName"]).get("events", [])
        written += [event["message"] for event in events]
    assert any("the connection held was deleted" in text for text in written), "what is written is read here"
    assert not [text[:300] for text in written if SECRET in text or TOKEN in text]
