"""A port that cannot be used is named in one sentence."""

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from local.errors import EmulatorError
from local.stack.ports import CHOSEN, NEIGHBOURS, OF_A_PROCESS, free_port, refuse_used
from tests.cfn import ROOT


def test_a_used_port_is_named_with_a_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(EmulatorError, match=rf"Port {port} cannot be used .*PORT=9090"):
            refuse_used(port)


def test_an_impossible_port_is_named() -> None:
    with pytest.raises(EmulatorError, match="no port 70000"):
        refuse_used(70000)


def test_three_in_a_row_can_be_used() -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port + 2)):
        for used in (port, port + 1):
            refuse_used(used)


def test_one_in_use_is_not_chosen() -> None:
    """Not even after all those of this process."""
    port = free_port()
    with socket.create_server(("127.0.0.1", port + 1)):
        assert port not in {free_port() for _ in range(OF_A_PROCESS)}
    assert port in {free_port() for _ in range(OF_A_PROCESS)}


def test_no_two_processes_choose_the_same() -> None:
    """While both live: what one has chosen, it may use later."""
    code = "import sys; from local.stack.ports import free_port; print(free_port(), flush=True); sys.stdin.read()"
    piped: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    others = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, **piped) for _ in range(5)]
    chosen = [free_port(), *(int(other.stdout.readline()) for other in others if other.stdout)]
    assert len(chosen) == 6
    for other in others:
        other.communicate()
    assert len({port // OF_A_PROCESS for port in chosen}) == len(chosen)


def test_no_system_gives_them_to_connections_that_go_out() -> None:
    """Such a connection would take one between its choice and its use."""
    file = Path("/proc/sys/net/ipv4/ip_local_port_range")
    first = int(file.read_text().split()[0]) if file.exists() else 49_152
    assert max(CHOSEN) + NEIGHBOURS < first
