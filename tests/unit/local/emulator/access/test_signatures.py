"""What boto3 signs gets in; changed, foreign, old or unsigned requests do not."""

import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from attrs import evolve
from botocore.config import Config

from delayer.http.web_pages import headers_by_name
from local.emulator.access.claims import Received, Refused, date_in
from local.emulator.access.signatures import Signatures
from local.key_pair import KeyPair

PAIR = KeyPair(access_key_id="AKIARUN", secret_access_key="of this run")
SESSION = KeyPair(access_key_id="ASIAROLE", secret_access_key="of a function")
TOKEN = "of/its session+="


def secret_of(access_key_id: str, token: str) -> str | None:
    issued = {(PAIR.access_key_id, ""): PAIR, (SESSION.access_key_id, TOKEN): SESSION}
    pair = issued.get((access_key_id, token))
    return pair.secret_access_key if pair else None


SIGNATURES = Signatures(secret_of)


def client(service: str, pair: KeyPair = PAIR, token: str | None = None) -> Any:
    make_client: Any = boto3.client  # its types know the services by literal names only
    return make_client(
        service,
        endpoint_url="http://127.0.0.1:8081",
        region_name="us-east-1",
        aws_access_key_id=pair.access_key_id,
        aws_secret_access_key=pair.secret_access_key,
        aws_session_token=token,
        config=Config(signature_version="s3v4" if service == "s3" else None),
    )


class Sent(Exception):
    """The request is on its way; nothing else is needed."""


def sent_by(service: str, call: Callable[[Any], Any], pair: KeyPair = PAIR, token: str | None = None) -> Received:
    """The request that boto3 sends for a call, as a server receives it."""
    sent: list[Received] = []
    made = client(service, pair, token)

    def instead_of_sending(request: Any, **_: Any) -> None:
        sent.append(received(request.method, request.url, request.headers.items(), request.body))
        raise Sent

    made.meta.events.register("before-send", instead_of_sending)
    with pytest.raises(Sent):
        call(made)
    return sent[0]


def received(method: str, url: str, headers: Any = (), body: Any = b"") -> Received:
    address = urlsplit(url)
    text = [(name, value if isinstance(value, str) else value.decode()) for name, value in headers]
    content = body.read() if hasattr(body, "read") else body or b""
    content = content.encode() if isinstance(content, str) else content
    by_name = {"host": address.netloc, **headers_by_name(text)}
    return Received(method=method, path=address.path or "/", query=address.query, headers=by_name, body=content)


CALLS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "dynamodb": ("dynamodb", lambda it: it.put_item(TableName="t", Item={"k": {"S": "\u00e4"}})),
    "sqs": ("sqs", lambda it: it.send_message(QueueUrl="http://127.0.0.1:8081/0/q", MessageBody="a b")),
    "sns, a form": ("sns", lambda it: it.create_topic(Name="t")),
    "lambda, a path": ("lambda", lambda it: it.invoke(FunctionName="arn:aws:lambda:x:0:function:f", Payload=b"{}")),
    "lambda, a query": ("lambda", lambda it: it.list_functions(MaxItems=2, Marker="a/b c")),
    "s3, a body": (
        "s3",
        lambda it: it.put_object(Bucket="b", Key="a b/\u00e4~+.txt", Body=b"xyz", Metadata={"m": "1"}),
    ),
    "s3, a stream": ("s3", lambda it: it.upload_fileobj(io.BytesIO(b"xyz"), "b", "k")),
    "s3, a query": ("s3", lambda it: it.list_objects_v2(Bucket="b", Prefix="a b/", Delimiter="/")),
}


@cache
def call(name: str) -> Received:
    return sent_by(*CALLS[name])


def check(request: Received, code: str) -> None:
    with pytest.raises(Refused) as caught:
        SIGNATURES.check(request)
    assert caught.value.code == code


each_call = pytest.mark.parametrize("name", CALLS)


@each_call
def test_what_boto3_signs_gets_in(name: str) -> None:
    SIGNATURES.check(call(name))


@each_call
def test_a_changed_request_does_not(name: str) -> None:
    request = call(name)
    check(evolve(request, path=request.path + "x"), "SignatureDoesNotMatch")
    check(evolve(request, query=f"{request.query}&x=1"), "SignatureDoesNotMatch")
    check(evolve(request, method="PATCH"), "SignatureDoesNotMatch")
    check(evolve(request, headers={**request.headers, "host": "localhost:9999"}), "SignatureDoesNotMatch")
    with pytest.raises(Refused):
        SIGNATURES.check(evolve(request, body=request.body + b" "))


def test_other_secrets_and_other_keys_do_not() -> None:
    call = CALLS["dynamodb"]
    check(sent_by(*call, pair=evolve(PAIR, secret_access_key="guessed")), "SignatureDoesNotMatch")
    for access_key_id in ("test", "000000000000", "AKIAOTHER"):
        check(sent_by(*call, pair=evolve(PAIR, access_key_id=access_key_id)), "InvalidClientTokenId")


def test_a_session_needs_its_token() -> None:
    call = CALLS["dynamodb"]
    SIGNATURES.check(sent_by(*call, pair=SESSION, token=TOKEN))
    for token in (None, "another"):
        check(sent_by(*call, pair=SESSION, token=token), "InvalidClientTokenId")
    check(sent_by(*call, pair=PAIR, token="mine"), "InvalidClientTokenId")


def presigned(method: str = "get_object", seconds: int = 60, pair: KeyPair = PAIR, token: str | None = None) -> str:
    url: str = client("s3", pair, token).generate_presigned_url(
        method, Params={"Bucket": "b", "Key": "a b/\u00e4"}, ExpiresIn=seconds
    )
    return url


def test_presigned_addresses_get_in() -> None:
    SIGNATURES.check(received("GET", presigned()))
    SIGNATURES.check(received("GET", presigned(pair=SESSION, token=TOKEN)))
    SIGNATURES.check(received("PUT", presigned("put_object"), body=b"any"))
    check(received("PUT", presigned()), "SignatureDoesNotMatch")
    check(received("GET", presigned().replace("Expires=60", "Expires=61")), "SignatureDoesNotMatch")
    check(received("GET", presigned(pair=evolve(PAIR, secret_access_key="guessed"))), "SignatureDoesNotMatch")


def test_an_address_that_anybody_could_make_does_not() -> None:
    """An <img> sends one GET, without headers of its own: what a page can forge is the query."""
    check(received("GET", "http://127.0.0.1:8081/?Action=CreateStack&StackName=x"), "MissingAuthenticationToken")
    check(received("GET", "http://127.0.0.1:8081/_ministack/health"), "MissingAuthenticationToken")
    old = "http://127.0.0.1:8081/b/k?AWSAccessKeyId=test&Signature=x&Expires=9999999999"
    check(received("GET", old), "MissingAuthenticationToken")
    other_kind = {"authorization": "Bearer x"}
    check(received("GET", "http://127.0.0.1:8081/", other_kind.items()), "MissingAuthenticationToken")


def later(**delta: float) -> Signatures:
    return Signatures(secret_of, lambda: datetime.now(UTC) + timedelta(**delta))


def test_an_old_signature_does_not() -> None:
    request = sent_by(*CALLS["dynamodb"])
    later(minutes=14).check(request)
    for minutes in (16, -16):
        with pytest.raises(Refused, match="clock"):
            later(minutes=minutes).check(request)
    address = received("GET", presigned(seconds=3600))
    later(minutes=59).check(address)
    with pytest.raises(Refused, match="too old"):
        later(minutes=61).check(address)
    with pytest.raises(Refused, match="too old"):
        later(days=8).check(received("GET", presigned(seconds=700_000)))


def test_a_signature_for_another_body_does_not() -> None:
    """Only S3 may sign a word in place of the hash of its body."""
    request = call("dynamodb")
    headers = {**request.headers, "x-amz-content-sha256": "UNSIGNED-PAYLOAD"}
    check(evolve(request, headers=headers), "XAmzContentSHA256Mismatch")
    check(evolve(call("s3, a body"), body=b"abc"), "XAmzContentSHA256Mismatch")


@pytest.mark.parametrize(
    "authorization",
    [
        "AWS4-HMAC-SHA256 ",
        "AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=y",
        "AWS4-HMAC-SHA256 Credential=AKIARUN/1/r/s/aws4_request, SignedHeaders=, Signature=y",
        "AWS4-HMAC-SHA256 Credential=AKIARUN/1/r/s/aws4_request, SignedHeaders=host, Signature=\u00e4",
        "AWS4-HMAC-SHA256 Credential=AKIARUN/1/r/s/aws4_request, SignedHeaders=host, Signature=y",
    ],
)
def test_half_a_signature_is_named(authorization: str) -> None:
    check(received("GET", "http://127.0.0.1:8081/", [("Authorization", authorization)]), "IncompleteSignature")


@pytest.mark.parametrize("query", ["", "&X-Amz-Expires=1e9", "&X-Amz-Expires=-1", "&X-Amz-Expires=9999999"])
def test_an_address_without_an_end_is_refused(query: str) -> None:
    request = received("GET", f"http://127.0.0.1:8081/?X-Amz-Algorithm=AWS4-HMAC-SHA256{query}")
    check(request, "AuthorizationQueryParametersError")


def test_two_signatures_are_refused() -> None:
    """ministack might believe the one that was not checked."""
    request = call("s3, a query")
    check(evolve(request, query=urlsplit(presigned()).query), "InvalidRequest")
    check(
        evolve(request, query=f"{request.query}&X-Amz-Credential=test/1/us-east-1/iam/aws4_request"), "InvalidRequest"
    )


def test_a_second_key_in_a_request_is_refused() -> None:
    """A function could sign with its own, and name the root user's in a place where ministack looks first."""
    for key in ("x-amz-credential", "X-Amz-Credential", "AWSAccessKeyId"):
        url = f"{presigned(pair=SESSION, token=TOKEN)}&{key}=test/1/us-east-1/s3/aws4_request"
        with pytest.raises(Refused) as caught:
            SIGNATURES.check(received("GET", url))
        assert caught.value.code in ("InvalidRequest", "MissingAuthenticationToken")
    request = call("dynamodb")
    first = "AWS4-HMAC-SHA256 Credential=test/1/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=x"
    twice = {**request.headers, "authorization": f"{first},{request.headers['authorization']}"}
    check(evolve(request, headers=twice), "InvalidRequest")


@pytest.mark.parametrize("path", ["*", "http://127.0.0.1/", "[", ""])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(Refused):
        SIGNATURES.check(evolve(call("dynamodb"), path=path))


@pytest.mark.parametrize(
    "date", ["Mon, 23 Nov 2026 12:00:00 GMT", "Mon, 23 Nov 2026 14:00:00 +0200", "Mon Nov 23 12:00:00 2026"]
)
def test_the_date_of_a_header_is_read_in_gmt(date: str) -> None:
    assert date_in({"date": date}) == "20261123T120000Z"
