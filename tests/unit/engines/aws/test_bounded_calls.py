"""Each step of a call of AWS ends in time: the name, the connection, the encryption, the request, the answer."""

import datetime
import logging
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import (
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ReadTimeoutError,
    SSLError,
)
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from delayer.engines.aws.bounded_calls import DEADLINE, NoTimeLeft, bounded
from delayer.engines.aws.clients import CONFIG
from tests.deadlines.endpoints import BEGUN, PAUSE, TRICKLING, Hung, nobody

SECONDS = 1.0  # of an invocation; a call gets less than half of it


class Context:
    """Lambda's."""

    def get_remaining_time_in_millis(self) -> int:
        return int(SECONDS * 1000)


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")


@contextmanager
def invocation() -> Iterator[None]:
    """Ends in time, however it ends."""
    began = time.monotonic()
    DEADLINE.begin(None, Context())
    try:
        yield
    finally:
        DEADLINE.begin(None, None)
        assert time.monotonic() - began < SECONDS


def a_client(service: Any, url: str) -> Any:
    return bounded(boto3.client(service, region_name="eu-west-1", endpoint_url=url, config=CONFIG, verify=False))


def a_call(url: str) -> None:
    """A whole invocation, of a function that is warm."""
    made = a_client("dynamodb", url)
    with invocation():
        made.get_item(TableName="t", Key={})


def test_what_never_answers_is_left_in_time() -> None:
    with Hung() as endpoint, pytest.raises(ReadTimeoutError):
        a_call(endpoint.url)


def test_a_body_that_is_read_later_is_part_of_the_call() -> None:
    with Hung(mode=TRICKLING) as endpoint:
        made = a_client("s3", endpoint.url)
        with invocation():
            body = made.get_object(Bucket="b", Key="k")["Body"]
            with pytest.raises(ReadTimeoutError):
                body.read()


def test_the_body_of_an_object_waits_for_nothing() -> None:
    """botocore would send the headers, and give S3 a second to say that it wants the body."""
    with Hung() as endpoint:
        made = a_client("s3", endpoint.url)
        with pytest.raises(ReadTimeoutError), invocation():
            made.put_object(Bucket="b", Key="k", Body=b"x")


# ------------------------------------------------------------ the authorities


class OnceEach(BaseHTTPRequestHandler):
    """By HTTP 1.0, each answer is the last of its connection."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def certified(certificate: Path) -> Iterator[str]:
    """The address of one that answers each connection once, and closes it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with HTTPServer(("127.0.0.1", 0), OnceEach) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"https://localhost:{server.server_port}"
        server.shutdown()


def a_trusting_client(service: Any, url: str, authorities: Path) -> Any:
    return bounded(
        boto3.client(service, region_name="eu-west-1", endpoint_url=url, config=CONFIG, verify=str(authorities))
    )


def test_the_authorities_are_read_once_for_all_connections_of_all_clients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """botocore reads their file for each connection anew: 35 ms of processor time, at full speed."""
    read: list[Any] = []
    load = ssl.SSLContext.load_verify_locations

    def counted(self: ssl.SSLContext, *arguments: Any, **named: Any) -> None:
        read.append(named or arguments)
        load(self, *arguments, **named)

    certificate = a_certificate(tmp_path, "localhost")
    with certified(certificate) as url:
        monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", counted)
        for service in ("dynamodb", "sqs"):
            made = a_trusting_client(service, url, certificate)
            for _ in range(3):
                made.list_tables() if service == "dynamodb" else made.list_queues()
    assert read == [{"cafile": str(certificate)}]


@pytest.mark.parametrize(("name", "is_trusted"), [("localhost", False), ("other.example", True)])
def test_a_certificate_of_another_authority_or_for_another_name_is_refused(
    name: str, is_trusted: bool, tmp_path: Path
) -> None:
    """One context for all is no less strict."""
    (other := tmp_path / "other").mkdir()
    certificate, stranger = a_certificate(tmp_path, name), a_certificate(other, name)
    with certified(certificate) as url, pytest.raises(SSLError):
        a_trusting_client("dynamodb", url, certificate if is_trusted else stranger).list_tables()


@contextmanager
def encrypted(folder: Path) -> Iterator[str]:
    """The address of one that makes the handshake, begins to answer, and goes on with a byte now and then."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(a_certificate(folder))
    over = threading.Event()

    def serve() -> None:
        with suppress(OSError), context.wrap_socket(server.accept()[0], server_side=True) as connection:
            connection.recv(65536)
            connection.sendall(BEGUN)
            while not over.wait(PAUSE):
                connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield f"https://127.0.0.1:{server.getsockname()[1]}"
        over.set()


def a_certificate(folder: Path, host: str = "") -> Path:
    """Of nobody but itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)] if host else [])
    day, today = datetime.timedelta(days=1), datetime.datetime.now(datetime.UTC)
    asked = x509.CertificateBuilder(name, name, key.public_key(), 1, today - day, today + day)
    if host:
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        asked = asked.add_extension(names, critical=False)
        asked = asked.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    made = asked.sign(key, hashes.SHA256())
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    file = folder / "certificate.pem"
    file.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain) + made.public_bytes(pem))
    return file


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_an_encrypted_answer_is_no_exception(tmp_path: Path) -> None:
    with encrypted(tmp_path) as url, pytest.raises(ReadTimeoutError):
        a_call(url)


def test_a_handshake_that_hangs_ends_too() -> None:
    with Hung() as endpoint, pytest.raises(HTTPClientError):
        a_call(endpoint.url.replace("http:", "https:"))


def test_a_name_that_is_not_found_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's lookup has no timeout."""
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait() and [])
    with pytest.raises(ConnectTimeoutError):
        a_call("http://somewhere.example")
    over.set()


def test_all_addresses_of_a_name_share_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 has eight; each would get a second of its own."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.create_connection(full.getsockname()):
        address = (socket.AF_INET, socket.SOCK_STREAM, 6, "", full.getsockname())
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [address] * 8)
        with pytest.raises(ConnectTimeoutError):
            a_call("http://somewhere.example")


def test_the_next_address_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first refuses, the second takes the call."""
    with nobody() as refused, Hung() as endpoint:
        ports = (refused, int(endpoint.url.rpartition(":")[2]))
        addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)) for port in ports]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
        with pytest.raises(ReadTimeoutError):
            a_call("http://somewhere.example")
        assert endpoint.connections == 1


def test_nobody_there_is_known_at_once() -> None:
    """It surely did not arrive."""
    with nobody() as port, pytest.raises(EndpointConnectionError):
        a_call(f"http://127.0.0.1:{port}")


def test_after_the_deadline_no_call_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    with Hung() as endpoint:
        made = a_client("dynamodb", endpoint.url)
        DEADLINE.begin(None, Context())
        over = time.monotonic() + SECONDS
        monkeypatch.setattr(time, "monotonic", lambda: over)
        with pytest.raises(NoTimeLeft):
            made.get_item(TableName="t", Key={})
        DEADLINE.begin(None, None)
        assert endpoint.connections == 0


def test_without_a_deadline_the_timeouts_of_the_attempts_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the phase in which a function starts: three attempts in all, not four."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    quick = CONFIG.merge(Config(read_timeout=0.05))
    with Hung() as endpoint:
        made = bounded(boto3.client("dynamodb", region_name="eu-west-1", endpoint_url=endpoint.url, config=quick))
        with pytest.raises(ReadTimeoutError):
            made.get_item(TableName="t", Key={})
        assert endpoint.connections == 3


def test_another_botocore_inside_is_no_outage(caplog: pytest.LogCaptureFixture) -> None:
    """Lambda brings its own. Without what the sockets need, calls are made all the same, and a line says so."""
    known = boto3.client("dynamodb", region_name="eu-west-1", config=CONFIG)
    made = SimpleNamespace(meta=known.meta)
    with caplog.at_level(logging.WARNING, "delayer.engines"):
        assert bounded(made) is made
    assert "bounded by the timeouts of their attempts" in caplog.text
