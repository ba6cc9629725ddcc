"""An operator's command decides within seconds what an owner may do, and what was allowed is asked about once more."""

import json
import time
from typing import Any

import pytest

from delayer.core.schedule.instants import SECOND
from delayer_client.operator.function import OperatorFunction
from operate.owner_policy import event_of, main, parser
from tests.e2e.client import Client, now
from tests.e2e.test_lifecycle import owner, request

NAME = "delayer-operator-owner-policy"
KNOWN_AFTER = 12  # seconds


def command(client: Client, *words: str) -> dict[str, Any]:
    return OperatorFunction(client.stack.client("lambda"), NAME)(event_of(vars(parser().parse_args(words))))


def posted(client: Client, name: str, path: str, seconds: int = 3600) -> tuple[int, dict[str, Any]]:
    status, _, body = client.call("POST", "/schedules", request(client, path, now() + seconds * SECOND), owner(name))
    return status, body


def until(client: Client, name: str, path: str, wanted: int) -> dict[str, Any]:
    deadline = time.monotonic() + KNOWN_AFTER
    while True:
        status, body = posted(client, name, path)
        if status == wanted:
            return body
        assert time.monotonic() < deadline, body
        time.sleep(0.5)


def test_a_policy_is_obeyed_within_seconds_and_lifted_again(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    assert posted(client, "ruled", "/policy-before")[0] == 201
    rules = json.dumps({"actions": ["http-request"], "hosts": ["api.example.com"]})
    revision = command(client, "set", "--owner", "ruled", "--json", rules)["revision"]
    problem = until(client, "ruled", "/policy-refused", 403)
    assert (problem["type"], problem["rule"]) == ("urn:delayer:problem:forbidden-by-policy", "hosts")
    assert problem["errors"][0]["field"] == "action.url"
    batch = [request(client, "/policy-refused", now())]
    answered = client.call("POST", "/schedules/batch", {"schedules": batch}, owner("ruled"))[2]
    assert answered["results"][0]["status"] == 403
    assert posted(client, "free", "/policy-free")[0] == 201, "another owner is not concerned"
    lines: list[str] = []
    made = lambda service, config: client.stack.client(service)  # noqa: E731 - as boto3.client is called
    assert main(["remove", "--owner", "ruled"], lines.append, made) == 1
    assert str(revision) in capsys.readouterr().err
    assert main(["remove", "--owner", "ruled", "--revision", str(revision)], lines.append, made) == 0
    until(client, "ruled", "/policy-after", 201)
    assert client.receiver.counts.get("/policy-refused", 0) == 0


def test_what_is_forbidden_by_now_is_not_attempted(client: Client) -> None:
    """It was allowed at its creation, a moment before the command; it fails when it is due, and names the rule."""
    status, body = posted(client, "late", "/policy-late", seconds=KNOWN_AFTER + 3)
    assert status == 201
    rules = json.dumps({"hosts": ["*.example.com"]})
    command(client, "set", "--owner", "late", "--json", rules)
    row = client.ledger_state(body["scheduleId"], "failed", seconds=40)
    assert row["detail"]["S"].startswith("the owner policy forbids it, by its rule hosts: 127.0.0.1:")
    assert client.receiver.counts.get("/policy-late", 0) == 0


def test_the_answer_is_kept_for_those_who_ask(client: Client) -> None:
    body = request(client, "/kept-answer", now())
    body["action"]["keepAnswer"] = True
    schedule_id = client.call("POST", "/schedules", body, owner("keeps"))[2]["scheduleId"]
    last = client.history(schedule_id, "executed", headers=owner("keeps"))[-1]
    assert (last["answer"]["status"], last["detail"]) == (200, "HTTP 200")
    assert last["answer"]["durationMs"] < 5_000
    assert "body" in last["answer"]
    other = client.call("POST", "/schedules", request(client, "/not-kept", now()), owner("keeps"))[2]["scheduleId"]
    assert "answer" not in client.history(other, "executed", headers=owner("keeps"))[-1]
    assert "durationMs" not in client.stack.logs("executor-http-request")


def test_a_connection_is_no_way_around_a_policy(client: Client) -> None:
    """Neither its test call nor its token URL."""
    name, path = "connecting", "/connections/crm"
    url = f"{client.receiver.url}/policy-tried"
    assert client.call("PUT", path, {"type": "bearer", "token": "t"}, owner(name))[0] == 201
    assert client.call("POST", f"{path}/test", {"url": url}, owner(name))[0] == 200
    command(client, "set", "--owner", name, "--json", json.dumps({"hosts": ["api.example.com"]}))
    until(client, name, "/policy-refused", 403)
    status, _, problem = client.call("POST", f"{path}/test", {"url": url}, owner(name))
    deadline = time.monotonic() + KNOWN_AFTER  # each function reads it anew for itself
    while status != 403 and time.monotonic() < deadline:
        time.sleep(0.5)
        status, _, problem = client.call("POST", f"{path}/test", {"url": url}, owner(name))
    assert (status, problem["rule"], problem["errors"][0]["field"]) == (403, "hosts", "url")
    fields = {"type": "oauth2-client-credentials", "tokenUrl": url, "clientId": "c", "clientSecret": "s"}
    status, _, problem = client.call("PUT", path, fields, owner(name))
    assert (status, problem["rule"], problem["errors"][0]["field"]) == (403, "hosts", "tokenUrl")
