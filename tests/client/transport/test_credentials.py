"""Who calls is found by what is there; and AWS's signature is the one that AWS makes of the request."""

import datetime as dt
from unittest.mock import patch

import boto3
import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from delayer_client import Aws, Delayer, NoCredentials, Nothing, Token
from delayer_client.transport.credentials import auth_of, by_what_is_there, region_of

API = "https://abc123.execute-api.eu-west-1.amazonaws.com"
SESSION = boto3.Session("AKIDEXAMPLE", "secret", "token", region_name="us-east-1")


@pytest.mark.parametrize(
    ("url", "environment", "found"),
    [
        (API, {}, Aws()),
        (API + "/prod", {}, Aws()),
        (API, {"DELAYER_TOKEN": "t"}, Token("t")),
        ("http://localhost:8080", {}, Nothing()),
        ("https://delayer.example.com", {}, Nothing()),
        ("https://evil.example/abc.execute-api.eu-west-1.amazonaws.com", {}, Nothing()),
    ],
)
def test_by_what_is_there(url: str, environment: dict[str, str], found: object) -> None:
    assert by_what_is_there(url, environment) == found


def test_the_region_is_in_the_url() -> None:
    assert region_of(API) == "eu-west-1"
    assert region_of("https://abc.execute-api.cn-north-1.amazonaws.com.cn/x") == "cn-north-1"
    assert region_of("https://abc.execute-api.eu-west-1.amazonaws.com.evil.example") is None
    with pytest.raises(NoCredentials, match="region"):
        auth_of(Aws(session=SESSION), "https://delayer.example.com")
    assert auth_of(Aws(session=SESSION, region="eu-west-1"), "https://delayer.example.com")


def test_a_request_is_signed_as_aws_does() -> None:
    """Query, quoted path, body and repeats included: botocore, given what was sent, makes the same signature."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"schedules": [], "scheduleId": "i", "state": "scheduled"})

    with Delayer(API, credentials=Aws(session=SESSION), transport=httpx.MockTransport(answer)) as delayer:
        list(delayer.list(group="a:b@c", since="2026-11-21T09:00:00+01:00"))
        delayer.get_named("a:b@c")
        delayer.change("i", payload={"ä": "\u2028"})
    for request in seen:
        sent = request.headers
        kept = {"content-type": sent["content-type"]} if "content-type" in sent else {}
        again = AWSRequest(request.method, str(request.url), kept, request.content)
        at = dt.datetime.strptime(sent["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=dt.UTC)
        with patch("botocore.auth.get_current_datetime", lambda *_args, at=at: at.replace(tzinfo=None), create=True):
            SigV4Auth(Credentials("AKIDEXAMPLE", "secret", "token"), "execute-api", "eu-west-1").add_auth(again)
        assert sent["authorization"] == again.headers["Authorization"]
        assert sent["x-amz-security-token"] == "token"
        assert "/eu-west-1/execute-api/aws4_request" in sent["authorization"]


def test_without_credentials_it_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Empty:
        def get_credentials(self) -> None:
            return None

    with pytest.raises(NoCredentials, match=r"aws configure.*DELAYER_TOKEN"):
        Delayer(API, credentials=Aws(session=Empty()))
    with pytest.raises(NoCredentials, match="cannot be read"):
        Delayer(API, credentials=Aws(profile="nobody-has-this"))
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    with pytest.raises(NoCredentials, match=r"pip install '\./client\[aws\]'"):
        Delayer(API)
