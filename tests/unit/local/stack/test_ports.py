"""A port that cannot be used is named in one sentence."""

import socket

import pytest

from local.errors import EmulatorError
from local.stack.ports import free_ports, refuse_used


def test_a_used_port_is_named_with_a_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(EmulatorError, match=rf"Port {port} cannot be used .*PORT=9090"):
            refuse_used(port)


def test_an_impossible_port_is_named() -> None:
    with pytest.raises(EmulatorError, match="no port 70000"):
        refuse_used(70000)


def test_free_ports_can_be_used() -> None:
    for port in free_ports():
        refuse_used(port)
