"""The receiver records what arrives, and fails as it was set up to."""

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


def test_the_first_requests_fail_as_set_up() -> None:
    with Receiver() as receiver:
        receiver.fail_first("/flaky", 2, 503)
        receiver.answer("/teapot", 418)
        assert [post(f"{receiver.url}/flaky") for _ in range(3)] == [503, 503, 200]
        assert post(f"{receiver.url}/teapot") == 418
        assert len(receiver.of("/flaky")) == 3


def test_waiting_ends_with_a_timeout() -> None:
    with Receiver() as receiver, pytest.raises(TimeoutError, match="0 of 1 requests"):
        receiver.wait_for(1, seconds=0.05)
