"""The guard of the unit tests guards."""

import socket

import pytest


def test_unit_tests_cannot_leave_this_machine() -> None:
    with socket.socket() as one, pytest.raises(AssertionError, match=r"192\.0\.2\.1"):
        one.connect(("192.0.2.1", 80))
    with pytest.raises(AssertionError, match="example"):
        socket.getaddrinfo("example.org", 80)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, pytest.raises(AssertionError):
        one.sendto(b"", ("192.0.2.1", 53))


def test_unit_tests_can_reach_this_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as one:
        assert one.getpeername() == server.getsockname()
