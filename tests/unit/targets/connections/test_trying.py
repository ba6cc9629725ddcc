"""POST /connections/{name}/test as API Gateway makes it: what arrives, and what it is refused for."""

import json
import time
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from delayer.owners.rules import Quotas
from delayer.signing.sign import OwnSecrets
from delayer.wiring.build import build
from tests.unit.handlers import handler_of, world_of_handlers
from tests.unit.owners.test_policies_at_work import set_policy
from tests.unit.targets.server import Server
from tests.world import World

OWNER = "owner"


@pytest.fixture(autouse=True)
def _own_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOW_PRIVATE_TARGETS", "true")


def call(world: World, function: str, route: str, body: Any) -> tuple[int, Any]:
    event = {
        "routeKey": route,
        "pathParameters": {"name": "crm"},
        "headers": {"delayer-owner": OWNER},
        "body": json.dumps(body),
    }
    answer = handler_of(world, function)(event, None)
    return answer["statusCode"], json.loads(answer["body"])


def put(world: World, body: Any) -> tuple[int, Any]:
    return call(world, "api-connection-put", "PUT /connections/{name}", body)


def tried(world: World, server: Server, path: str = "/hook") -> tuple[int, Any]:
    url = f"http://127.0.0.1:{server.server_port}{path}"
    return call(world, "api-connection-test", "POST /connections/{name}/test", {"url": url})


def test_it_is_signed_as_any_request_of_the_owner(server: Server) -> None:
    world = world_of_handlers()
    world.clock.move(time.time_ns() // 1_000_000 - world.clock.now())  # the other side looks at the clock on the wall
    put(world, {"type": "bearer", "token": "t"})
    assert [tried(world, server)[1]["succeeded"] for _ in range(2)] == [True, True]
    other_side = Webhook(build(OwnSecrets, world.ports("api")).show(OWNER).current)
    ids = set()
    for method, _, headers, body in server.requests:
        assert (method, body, headers["authorization"]) == ("GET", b"", "Bearer t")
        other_side.verify(body, headers, json_parse=False)
        with pytest.raises(WebhookVerificationError):
            other_side.verify(b"{}", headers, json_parse=False)
        ids.add(headers["webhook-id"])
        assert headers["delayer-schedule-id"] == headers["webhook-id"]
    assert len(ids) == 2, "a receiver that remembers ids does not take the second for the first"
    assert all(one.startswith("test-") for one in ids)


def test_what_the_policy_forbids_is_a_403_that_names_the_rule(server: Server) -> None:
    world = world_of_handlers()
    put(world, {"type": "bearer", "token": "t"})
    set_policy(world, OWNER, hosts=("api.example.com",))
    status, problem = tried(world, server)
    assert (status, problem["rule"], problem["errors"][0]["field"]) == (403, "hosts", "url")
    token_url = {"type": "oauth2-client-credentials", "tokenUrl": "https://x/", "clientId": "c", "clientSecret": "s"}
    status, problem = put(world, token_url)
    assert (status, problem["rule"], problem["errors"][0]["field"]) == (403, "hosts", "tokenUrl")
    assert server.requests == []


def test_a_quota_that_is_used_up_is_a_429(server: Server) -> None:
    world = world_of_handlers(limits=Quotas(creates_per_minute=1))
    put(world, {"type": "bearer", "token": "t"})
    assert [tried(world, server)[0] for _ in range(2)] == [200, 429]
    assert len(server.requests) == 1
