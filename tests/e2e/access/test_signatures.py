"""Requests arrive signed, and the library of the other side verifies them; through a rotation, too."""

import json
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from local.receiver import ReceivedRequest
from local.signatures import UNSIGNED, VERIFIED, WRONG, Signatures
from tests.e2e.client import NOBODY, Client, StackClient, now


def secret(client: Client, method: str = "GET", path: str = "") -> dict[str, Any]:
    status, sent, answer = client.call(method, f"/signing-secret{path}")
    assert (status, sent["cache-control"]) == (200, "no-store")
    return answer


def verify(secret_text: str, request: ReceivedRequest) -> Any:
    return Webhook(secret_text).verify(request.body, dict(request.headers))


def arrived(client: Client, path: str, owner: str | None = None) -> ReceivedRequest:
    made = client.schedule(path, now(), {"n": 1.10, "ä": "\u2028"}, owner=owner)
    [request] = client.arrivals(path)
    assert request.headers["webhook-id"] == made.id
    return request


def test_a_schedule_arrives_signed_before_and_after_a_rotation(client: Client) -> None:
    """It may take a second: functions start."""
    first = secret(client)
    assert first["previous"] is None
    before = arrived(client, "/signed")
    assert verify(first["current"], before) == {"n": 1.1, "ä": "\u2028"}
    with pytest.raises(WebhookVerificationError):
        verify(client.delayer_of("another").signing_secret().current, before)

    second = secret(client, "POST", "/rotate")
    assert second["previous"] == first["current"] != second["current"]
    assert secret(client) == second
    after = arrived(client, "/signed-after")  # at once: the executor still knows the row of a minute ago
    for one in (first, second):
        assert verify(one["current"], after)
    with pytest.raises(WebhookVerificationError):
        verify(client.delayer_of("another").signing_secret().current, after)

    status, headers, problem = client.call("POST", "/signing-secret/rotate")
    assert (status, problem["type"]) == (409, "urn:delayer:problem:not-rotated")
    assert int(headers["retry-after"]) > 500
    assert secret(client) == second


@pytest.mark.thorough
def test_each_attempt_has_the_same_id_and_is_signed_anew(client: Client) -> None:
    """It takes the seconds between two attempts."""
    client.receiver.fail_first("/signed-twice", 1)
    client.schedule("/signed-twice", now())
    first, second = client.arrivals("/signed-twice", count=2)
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["webhook-timestamp"] != second.headers["webhook-timestamp"]
    for request in (first, second):
        Webhook(client.delayer.signing_secret().current).verify(request.body, dict(request.headers), json_parse=False)


@pytest.mark.thorough
def test_the_receiver_of_one_machine_says_what_it_finds(client: Client) -> None:
    """It has the secret of whoever does not say who they are."""
    signatures = Signatures(client.api_url)
    assert signatures.checked(arrived(client, "/signed-here", NOBODY)) == VERIFIED
    client.schedule("/signed-elsewhere", now(), owner="another")
    [other] = client.arrivals("/signed-elsewhere")
    assert signatures.checked(other) == WRONG
    unsigned = ReceivedRequest(at_ms=0, method="GET", path="/", headers={}, body=b"", status=200)
    assert signatures.checked(unsigned) == UNSIGNED


def test_an_action_gives_no_such_header(client: Client) -> None:
    """In any spelling."""
    for name in ("webhook-id", "Webhook-Signature", "WEBHOOK-ANYTHING"):
        action = {"type": "http-request", "url": client.receiver.url + "/never", "headers": {name: "v1,forged"}}
        status, _, problem = client.post({"delaySeconds": 1, "action": action})
        assert status == 422
        [error] = problem["errors"]
        assert error["field"] == f"action.headers.{name}"
        assert error["allowed"].endswith("Delayer-… and Webhook-…")


@pytest.mark.thorough
def test_secrets_are_in_no_log_and_in_no_table(on_aws: StackClient) -> None:
    """But for the key of the stack in its row. It takes seconds: all that is stored is read."""
    current = on_aws.delayer.signing_secret().current
    texts = [path.read_text() for path in (on_aws.stack.folder / "logs").glob("*.log")]
    dynamodb = on_aws.stack.client("dynamodb")
    for name in ("ControlTable", "RegistryTable", "LedgerTable", "JournalTable", "SchedulesTable"):
        items = dynamodb.scan(TableName=on_aws.stack.outputs[name])["Items"]
        texts.append(json.dumps(items, default=str))
    assert texts
    for text in texts:
        assert "whsec_" not in text
        assert current.removeprefix("whsec_") not in text
