"""How the API answers, and what its clock shows: served as API Gateway and Delayer's functions answer."""

import base64
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from botocore.exceptions import SSOTokenLoadError

from delayer_client.operator.doctor import Doctor, Severity
from tests.client.doctor.account import a_stack, recorded, well


class Handler(BaseHTTPRequestHandler):
    status = 200
    content: ClassVar[Any] = {"schedules": []}
    ahead = timedelta()
    seen: dict[str, str]

    def do_GET(self) -> None:
        type(self).seen = dict(self.headers.items())
        body = self.content.encode() if isinstance(self.content, str) else json.dumps(self.content).encode()
        self.send_response_only(self.status)
        self.send_header("Date", format_datetime(datetime.now(UTC) + self.ahead, usegmt=True))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def handler() -> Iterator[type[Handler]]:
    class Own(Handler):
        pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Own)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    Own.url = f"http://127.0.0.1:{server.server_port}"  # type: ignore[attr-defined]
    yield Own
    server.shutdown()
    server.server_close()


def codes(handler: Any, **more: str) -> list[str]:
    return [one.code for one in Doctor(None, handler.url, **more).examine()]


ANY_HOST = "connections-for-any-host"


def test_connections_for_any_host_are_named(handler: Any) -> None:
    """The stand answers both calls alike."""
    rows = [{"name": "crm"}, {"name": "erp", "hosts": ["erp.example.com"]}, {"name": "old", "hosts": []}]
    handler.content = {"schedules": [], "connections": rows}
    [found] = [one for one in Doctor(None, handler.url).examine() if one.code == ANY_HOST]
    assert "crm, old." in found.what
    assert (found.severity, found.data) == (Severity.NOTE, {"connections": ["crm", "old"]})
    handler.content["connections"] = rows[1:2]
    assert ANY_HOST not in codes(handler)


PROBLEM = "urn:delayer:problem:"


ANSWERS: list[tuple[int, Any, str]] = [
    (200, {"schedules": []}, "api-answers"),
    (422, {"type": f"{PROBLEM}invalid-request", "detail": "limit"}, "api-answers"),
    (401, {"message": "Unauthorized"}, "api-refuses-caller"),
    (403, {"message": "Forbidden"}, "api-refuses-caller"),
    (403, {"type": f"{PROBLEM}missing-scope", "detail": "delayer/read"}, "api-refuses-caller"),
    (503, {"type": f"{PROBLEM}unavailable", "detail": "DynamoDB"}, "api-fails"),
    (500, {"message": "Internal Server Error"}, "api-fails"),
    (429, {"message": "Too Many Requests"}, "api-fails"),
    (404, {"message": "Not Found"}, "api-not-delayer"),
    (200, "<html>", "api-not-delayer"),
    (200, [], "api-not-delayer"),
    (302, "", "api-not-delayer"),
]


@pytest.mark.parametrize(("status", "content", "code"), ANSWERS, ids=str)
def test_what_the_api_answers(handler: Any, status: int, content: Any, code: str) -> None:
    handler.status, handler.content = status, content
    first, clock, rest = Doctor(None, handler.url).examine()
    assert (first.code, clock.code, rest.code) == (code, "clock-right", "not-seen")
    if first.severity is not Severity.OK:
        assert first.do
        assert str(status) in first.what


CLOCKS = [
    (0, "clock-right", "is right"),
    (-90, "clock-off", "90 s ahead of"),
    (90, "clock-off", "90 s behind"),
    (3600, "clock-far-off", "3,600 s behind"),
]


@pytest.mark.parametrize(("seconds", "code", "says"), CLOCKS)
def test_a_clock_that_is_off(handler: Any, seconds: int, code: str, says: str) -> None:
    handler.ahead = timedelta(seconds=seconds)
    _, clock, *_ = Doctor(None, handler.url).examine()
    assert clock.code == code
    assert says in clock.what.replace("89 s", "90 s").replace("91 s", "90 s").replace("3,599", "3,600").replace(
        "3,601", "3,600"
    )


def test_a_token_and_an_owner_are_sent_and_shown_nowhere(handler: Any) -> None:
    handler.status = 401
    findings = Doctor(None, handler.url, token="secret.token.here", owner="ann").examine()
    assert handler.seen["Authorization"] == "Bearer secret.token.here"
    assert handler.seen["Delayer-Owner"] == "ann"
    assert "a call with token" in findings[0].what
    assert "secret" not in repr(findings)


def test_a_call_is_signed_where_the_stack_wants_it(handler: Any) -> None:
    """The owner is the role, whatever its session is called."""
    answers = Doctor(a_stack(well()), handler.url).examine()[0]
    assert handler.seen["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=k/")
    assert "/eu-west-1/execute-api/aws4_request" in handler.seen["Authorization"]
    assert answers.data["owner"] == "arn:aws:sts::123456789012:assumed-role/orders"
    assert answers.data["authorization"] == "AWS_IAM"


def test_the_owner_of_a_token(handler: Any) -> None:
    described = recorded("well")["answers"]["cloudformation.DescribeStacks"]
    parameters = described["Stacks"][0]["Parameters"]
    changed = {"ApiAuthorization": "JWT", "JwtOwnerClaim": "org"}
    parameters = [one for one in parameters if one["ParameterKey"] not in changed]
    parameters += [{"ParameterKey": key, "ParameterValue": value} for key, value in changed.items()]
    described["Stacks"][0]["Parameters"] = parameters
    stack = a_stack(well().under({"answers": {"cloudformation.DescribeStacks": described}}))
    claims = {"iss": "https://issuer.example/", "org": "shop"}
    token = f"e30.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}.x"
    assert Doctor(stack, handler.url, token=token).examine()[0].data["owner"] == "https://issuer.example/ shop"
    assert Doctor(stack, handler.url, token="no.token").examine()[0].data["owner"] == ""


def test_nobody_answers() -> None:
    first, _ = Doctor(None, "http://127.0.0.1:9").examine()
    assert (first.code, first.severity) == ("api-silent", Severity.PROBLEM)


class Expired:
    """A login by SSO: there seem to be credentials, until they are read."""

    def get_credentials(self) -> "Expired":
        return self

    def get_frozen_credentials(self) -> Any:
        raise SSOTokenLoadError(error_msg="Token for work has expired.")

    def describe_stacks(self, **_: str) -> Any:
        return self.get_frozen_credentials()


def test_a_login_that_has_expired_is_a_finding(handler: Any) -> None:
    stack = a_stack(well())
    stack.aws.session = Expired()  # type: ignore[assignment] # as far as it is used
    first = Doctor(stack, handler.url).examine()[0]
    assert (first.code, first.area) == ("not-seen", "api")
    assert "aws sso login" in first.what
    stack.aws.clients["cloudformation", True] = Expired()
    found = Doctor(a_stack_of(stack), handler.url).examine()
    assert [(one.code, one.area) for one in found] == [("not-seen", "api"), ("not-seen", "stack")]
    assert all("aws sso login" in one.what for one in found)


def a_stack_of(stack: Any) -> Any:
    """The same account, of which nothing is known yet."""
    return type(stack)(stack.aws, stack.name, stack.url)


def test_a_token_is_not_sent_unencrypted_over_the_net() -> None:
    findings = Doctor(None, "http://me:hidden@delayer.example.com", token="secret.token.here").examine()
    assert [one.code for one in findings] == ["not-seen", "not-seen"]
    assert "the token was not sent" in findings[0].what
    assert "https://" in findings[0].what
    assert "secret" not in repr(findings)
    assert "hidden" not in repr(findings)


@pytest.mark.parametrize("port", ["", ":9"], ids=["answers", "silent"])
def test_a_password_in_the_url_is_shown_nowhere(handler: Any, port: str) -> None:
    handler.status = 404
    url = handler.url if not port else "http://127.0.0.1:9"
    findings = Doctor(None, url.replace("http://", "http://me:hidden@")).examine()
    assert findings[0].data["url"] == url
    assert "hidden" not in repr(findings)
