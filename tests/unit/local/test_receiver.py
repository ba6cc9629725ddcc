"""The receiver records what arrives, and fails as it was set up to."""

import http.client
import socket
import urllib.error
import urllib.request

import pytest

from local.receiver import Receiver


def post(url: str, body: bytes = b"{}") -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, method="POST"), timeout=5) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_request_is_recorded_whole() -> None:
    with Receiver() as receiver:
        assert post(f"{receiver.url}/hook", b'{"a": 1}') == 200
        (request,) = receiver.wait_for(1, "/hook")
    assert (request.method, request.path, request.body) == ("POST", "/hook", b'{"a": 1}')
    assert request.headers["content-length"] == "8"


def test_a_request_that_breaks_off_did_not_arrive() -> None:
    """An executor that is killed in the middle of it makes the attempt again."""
    with Receiver() as receiver:
        with socket.create_connection(("127.0.0.1", receiver.server.server_port), timeout=5) as connection:
            connection.sendall(b"POST /hook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\n")
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == b""
        assert receiver.requests == []


def test_the_first_requests_fail_as_set_up() -> None:
    with Receiver() as receiver:
        receiver.fail_first("/flaky", 2, 503)
        receiver.answer("/teapot", 418)
        assert [post(f"{receiver.url}/flaky") for _ in range(3)] == [503, 503, 200]
        assert post(f"{receiver.url}/teapot") == 418
        assert len(receiver.of("/flaky")) == 3


def test_one_response_asks_for_a_delay() -> None:
    with Receiver() as receiver:
        receiver.ask_for_delay("/busy", 7)
        connection = http.client.HTTPConnection("127.0.0.1", receiver.server.server_port)
        asked = []
        for _ in range(2):
            connection.request("GET", "/busy")
            response = connection.getresponse()
            response.read()
            asked.append(response.getheader("Retry-After"))
        connection.close()
    assert asked == ["7", None]


def test_waiting_ends_with_a_timeout() -> None:
    with Receiver() as receiver, pytest.raises(TimeoutError, match="0 of 1 requests"):
        receiver.wait_for(1, seconds=0.05)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Content-Length": "-1"}, 400),
        ({"Content-Length": "\u0662"}, 400),
        ({"Content-Length": "1048577"}, 413),
        ({"Content-Length": "9" * 5000}, 413),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_web_page_leaves_nothing_behind(headers: dict[str, str], status: int) -> None:
    """It can neither fill the memory, nor print lines, nor pretend that a schedule was executed."""
    with Receiver() as receiver:
        connection = http.client.HTTPConnection("127.0.0.1", receiver.server.server_port, timeout=5)
        connection.putrequest("POST", "/hello", skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value.encode())
        connection.endheaders()
        assert connection.getresponse().status == status
        connection.close()
        assert receiver.requests == []
