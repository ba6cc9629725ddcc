"""The socket that is listened on, TLS, and an end that cuts nothing off."""

import errno
import os
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from delayer.serve.door.server import bound, check_certificate
from delayer.serve.refusal import Refusal
from local.emulator.access.certificate import certificate_in
from local.stack.ports import free_port
from tests.cfn import ROOT
from tests.unit.serve.door.world import LOCAL, SECONDS, Client, get, served


def refusal(host: str, port: int) -> Refusal:
    with pytest.raises(Refusal) as caught:
        bound(evolve(LOCAL, host=host, port=port))
    return caught.value


def test_a_port_in_use_may_be_free_later() -> None:
    port = free_port()
    with bound(evolve(LOCAL, port=port)):
        found = refusal("127.0.0.1", port)
    assert found.status == 1
    assert str(found) == (
        f"Port {port} of 127.0.0.1 is in use by another program. Stop that one, or choose another port with --port."
    )
    bound(evolve(LOCAL, port=port)).close()


def test_an_address_that_is_not_there_may_come_later() -> None:
    found = refusal("192.0.2.1", 0)
    assert (found.status, "no address 192.0.2.1" in str(found)) == (1, True)


@pytest.mark.parametrize(
    ("port", "error", "expected"),
    [
        (80, errno.EACCES, "Choose one from 1024 on"),
        (8080, errno.EACCES, "Choose another with --port"),
        (0, errno.EAFNOSUPPORT, "no IPv6"),
        (0, errno.ENOBUFS, os.strerror(errno.ENOBUFS)),
    ],
)
def test_what_the_system_refuses_is_said(monkeypatch: pytest.MonkeyPatch, port: int, error: int, expected: str) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(socket, "create_server", refuse)
    found = refusal("::1", port)
    assert (found.status, expected in str(found)) == (2, True), str(found)


def test_whoever_connects_before_it_runs_waits() -> None:
    """The socket is there before the engine has read its folder."""
    with bound(LOCAL) as listening, socket.create_connection(listening.getsockname()):
        pass


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_all_addresses_are_those_of_ipv4_too() -> None:
    with bound(evolve(LOCAL, host="::")) as listening:
        for host in ("127.0.0.1", "::1"):
            socket.create_connection((host, listening.getsockname()[1])).close()


def test_its_address_is_known() -> None:
    with served() as found:
        assert found.server.url == f"http://127.0.0.1:{found.port}"


def test_tls(tmp_path: Path) -> None:
    made = certificate_in(tmp_path)
    with served(certificate=made.certificate, key=made.key) as found:
        assert found.server.url.startswith("https://")
        trusted = ssl.create_default_context(cafile=made.certificate)
        with found.connect() as client, trusted.wrap_socket(client.socket, server_hostname="127.0.0.1") as secure:
            secure.sendall(get("/schedules", "Connection: close"))
            assert secure.makefile("rb").read().startswith(b"HTTP/1.1 200")
        with found.connect() as clear:
            clear.send(get("/schedules"))
            assert clear.is_closed()


def test_a_certificate_that_is_none_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    one, other = certificate_in(tmp_path / "a"), certificate_in(tmp_path / "b")
    check_certificate(one.certificate, one.key)
    text = tmp_path / "text"
    text.write_text("x")
    locked = tmp_path / "locked"
    locked.write_bytes(
        load_pem_private_key(one.key.read_bytes(), None).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
        )
    )
    for certificate, key, expected in (
        (one.certificate, other.key, "belong together"),
        (text, one.key, "is no PEM"),
        (one.certificate, text, "is no PEM"),
        (one.certificate, locked, "password"),
        (tmp_path / "none", one.key, "No such file"),
    ):
        with pytest.raises(Refusal, match=expected) as caught:
            check_certificate(certificate, key)
        assert (caught.value.status, str(certificate) in str(caught.value)) == (2, True)


PROGRAM = """
import signal, sys
from delayer.engines.memory import MemoryObserver
from delayer.serve.door.application import Door
from delayer.serve.door.server import DoorServer, bound
from tests.unit.serve.door.world import LOCAL, Engine

server = DoorServer(Door(Engine().came.put, MemoryObserver()), bound(LOCAL))
signal.signal(signal.SIGTERM, lambda *_: (print("told", flush=True), server.stop()))
print(server.url, flush=True)
server.run()
print("ended", flush=True)
"""


def test_a_signal_is_for_whoever_runs_the_engine() -> None:
    """It takes a second: a process is started."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        port = int(process.stdout.readline().rpartition(":")[2])
        with Client(port) as client:
            client.send(get("/schedules"))
            assert client.reply().status == 200
            process.send_signal(signal.SIGTERM)
            assert client.is_closed()
        assert process.wait(SECONDS) == 0
        assert process.stdout.read().split() == ["told", "ended"]
