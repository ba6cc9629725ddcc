"""The AWS port is for programs with a key of this run. The refusals are errors that AWS clients can read."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import botocore.session
import pytest
from botocore.parsers import create_parser
from ministack.services.cloudformation import custom_resource

from local.emulator.access.awaited_answers import CALLBACK, LARGEST, AwaitedAnswers
from local.emulator.access.signatures import Signatures
from local.emulator.application import Ports
from local.emulator.asgi import Receive, Scope, Send, body_of, respond
from local.emulator.aws_port import AwsPort
from local.key_pair import KeyPair
from tests.unit.local.emulator.requests_to import API, AWS, Answer, Recorded, ask, messages_of, scope_of

PAIR = KeyPair(access_key_id="AKIARUN", secret_access_key="of this run")
URL = f"http://localhost:{AWS}"


def secret_of(access_key_id: str, token: str) -> str | None:
    return PAIR.secret_access_key if access_key_id == PAIR.access_key_id else None


async def open_api(receive: Receive, send: Send) -> None:
    await respond(send, 200, (await body_of(receive)).decode())


@pytest.fixture
def emulator() -> Recorded:
    return Recorded()


@pytest.fixture
def port(emulator: Recorded) -> AwsPort:
    own = {"/_local/api": open_api}
    return AwsPort(emulator, own, Signatures(secret_of), ".local/8080/aws.env", AwaitedAnswers().awaits)


def signed(method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Scope:
    request = PAIR.signed(method, URL + path, body or None)
    return scope_of(AWS, path, method, headers={**{n.lower(): v for n, v in request.header_items()}, **(headers or {})})


def test_a_signed_request_arrives_as_it_was(port: AwsPort, emulator: Recorded) -> None:
    scope = signed("POST", "/", b"{}")
    assert ask(port, scope, b"{}").status == 200
    assert (emulator.scopes, emulator.bodies) == ([scope], [b"{}"])


def test_the_starter_opens_the_api_with_a_signature(port: AwsPort, emulator: Recorded) -> None:
    scope = signed("PUT", "/_local/api", b"abc")
    assert ask(port, scope, b"abc").body["detail"] == "abc"
    assert ask(port, scope_of(AWS, "/_local/api", "PUT"), b"abc").status == 403
    assert emulator.scopes == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("POST", "/"),
        ("POST", "/_ministack/reset"),
        ("GET", "/_ministack/health"),
        ("OPTIONS", "/"),
        ("GET", "/_aws/execute-api/abc/$default/schedules"),
        ("GET", "/_local/meter"),
    ],
)
def test_without_a_signature_nothing_is_served(port: AwsPort, emulator: Recorded, method: str, path: str) -> None:
    answer = ask(port, scope_of(AWS, path, method))
    assert (answer.status, answer.body["__type"]) == (403, "MissingAuthenticationToken")
    assert ".local/8080/aws.env" in answer.body["message"]
    assert emulator.scopes == []


def test_an_image_on_a_web_page_creates_no_stack(port: AwsPort, emulator: Recorded) -> None:
    """Not even with the credentials that were the documented ones, nor in a browser that tells nothing of the page."""
    query = (
        "Action=CreateStack&StackName=x&TemplateBody=y&X-Amz-Credential=test/1/us-east-1/cloudformation/aws4_request"
    )
    for headers in ({"sec-fetch-site": "cross-site"}, {}):
        assert ask(port, scope_of(AWS, "/", "GET", query, headers)).status == 403
    assert emulator.scopes == []


@pytest.mark.parametrize("page", [{"origin": URL}, {"origin": "null"}, {"sec-fetch-site": "same-origin"}], ids=str)
def test_a_web_page_is_refused_though_it_may_sign(port: AwsPort, emulator: Recorded, page: dict[str, str]) -> None:
    answer = ask(port, signed("GET", "/", headers=page))
    assert (answer.status, answer.body["__type"]) == (403, "AccessDenied")
    assert emulator.scopes == []


@pytest.fixture
def awaited() -> Iterator[str]:
    """The path of an answer for which ministack's own CloudFormation waits."""
    token = "41c9e0a2-5a0b-4b0c-9a43-7d8f3a5c1e77"
    custom_resource.register_token(token)
    yield CALLBACK + token
    custom_resource.reset()


def test_a_custom_resource_reports_without_a_signature(port: AwsPort, emulator: Recorded, awaited: str) -> None:
    """The address that it was given is its credential; on AWS it is a presigned one."""
    assert ask(port, scope_of(AWS, awaited, "PUT"), b'{"Status": "SUCCESS"}').status == 200
    assert emulator.bodies == [b'{"Status": "SUCCESS"}']


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "put"])
def test_it_sends_a_put_and_nothing_else(port: AwsPort, emulator: Recorded, awaited: str, method: str) -> None:
    assert ask(port, scope_of(AWS, awaited, method)).status == 403
    assert emulator.scopes == []


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "null"},
        {"origin": URL},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "cross-site"},
        {"host": "evil.example:8081"},
    ],
    ids=str,
)
def test_no_page_reports_in_its_place(port: AwsPort, emulator: Recorded, awaited: str, headers: dict[str, str]) -> None:
    assert ask(port, scope_of(AWS, awaited, "PUT", headers=headers), b"{}").status == 403
    assert emulator.scopes == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path[:-1],
        lambda path: path + "/",
        lambda path: path + "/../../reset",
        lambda path: path.replace("cfn-response/", "cfn-response//"),
        lambda path: path.replace("cfn-response", "cfn-signal"),
        lambda path: path.upper(),
        lambda path: path.removeprefix(CALLBACK),
        lambda path: CALLBACK,
        lambda path: "/" + path,
        lambda path: "/_ministack/reset",
    ],
    ids=range(10),
)
def test_nor_does_it_report_anywhere_else(
    port: AwsPort, emulator: Recorded, awaited: str, spoil: Callable[[str], str]
) -> None:
    assert ask(port, scope_of(AWS, spoil(awaited), "PUT"), b"{}").status == 403
    assert emulator.scopes == []


def test_it_reports_once_and_only_while_it_is_awaited(port: AwsPort, emulator: Recorded, awaited: str) -> None:
    custom_resource.deliver_response(awaited.removeprefix(CALLBACK), {"Status": "SUCCESS"})
    assert ask(port, scope_of(AWS, awaited, "PUT"), b'{"Status": "FAILED"}').status == 403
    custom_resource.reset()
    assert ask(port, scope_of(AWS, awaited, "PUT"), b"{}").status == 403
    assert emulator.scopes == []


def test_its_report_is_as_short_as_on_aws(port: AwsPort, emulator: Recorded, awaited: str) -> None:
    assert ask(port, scope_of(AWS, awaited, "PUT"), b"a" * (LARGEST + 1)).status == 403
    assert emulator.scopes == []


def read_by_client(service: str, answer: Answer) -> Mapping[str, str]:
    """The error as boto3 reads it."""
    model = botocore.session.get_session().get_service_model(service)
    response = {"body": answer.text.encode(), "headers": answer.headers, "status_code": answer.status}
    parser = create_parser(model.resolved_protocol)
    shape: Any = None  # of a successful answer
    parsed = parser.parse(response, shape)
    error: Mapping[str, str] = parsed["Error"]
    return error


@pytest.mark.parametrize("service", ["dynamodb", "sqs", "lambda", "s3", "sns", "cloudformation", "sts"])
def test_each_client_can_read_why(port: AwsPort, service: str) -> None:
    form = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
    headers = form if service in ("sns", "cloudformation", "sts") else {}
    scope = f"test/20261122/us-east-1/{service}/aws4_request"
    authorization = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=x"
    signed = {**headers, "authorization": authorization, "x-amz-date": "20200101T000000Z"}
    error = read_by_client(service, ask(port, scope_of(AWS, "/", headers=signed)))
    assert error["Code"] == "RequestExpired"
    assert "aws.env" in error["Message"]


def test_each_port_has_its_own_application(emulator: Recorded) -> None:
    api, aws = Recorded(), Recorded()
    ports = Ports(API, api, aws, emulator)
    ask(ports, scope_of(API))
    ask(ports, scope_of(AWS))
    assert (len(api.scopes), len(aws.scopes), len(emulator.scopes)) == (1, 1, 0)
    messages_of(ports, {"type": "lifespan"})
    assert [scope["type"] for scope in emulator.scopes] == ["lifespan"]


@pytest.mark.parametrize("port", [API, AWS])
def test_a_web_page_opens_no_websocket(emulator: Recorded, port: int) -> None:
    """The rules of browsers for requests do not apply to them: any page may open one to any address."""
    ports = Ports(API, Recorded(), Recorded(), emulator)
    scope = {**scope_of(port, headers={"origin": "https://evil.example"}), "type": "websocket"}
    assert [message["type"] for message in messages_of(ports, scope)] == ["websocket.close"]
    assert emulator.scopes == []
