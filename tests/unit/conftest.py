"""Unit tests reach nothing but this machine, and find no AWS account by chance."""

import ipaddress
import os
import socket
from collections.abc import Callable
from typing import Any

import pytest

from tests.running.waiting import pytest_runtest_call, pytest_runtest_protocol

__all__ = ["pytest_runtest_call", "pytest_runtest_protocol"]  # nobody sleeps under a clock that is moved by hand

_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex
_sendto = socket.socket.sendto
_getaddrinfo = socket.getaddrinfo


class ReachedTheNetwork(AssertionError):
    """A unit test tried to leave this machine."""


def _is_local(host: str) -> bool:
    """Also in the old spellings of an IPv4 address, `127.1`; and what is no name at all reaches nobody."""
    if host.lower() == "localhost":
        return True
    try:
        host.encode("idna")
        address = ipaddress.ip_address(host.partition("%")[0] if ":" in host else socket.inet_aton(host))
        return (getattr(address, "ipv4_mapped", None) or address).is_loopback
    except UnicodeError:
        return True
    except (OSError, ValueError):
        return False


def _check(host: object) -> None:
    text = host.decode() if isinstance(host, bytes) else str(host)
    if not _is_local(text):
        raise ReachedTheNetwork(f"a unit test reached for {text}: inject a fake, or move it to tests/e2e")


def _guarded(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: socket.socket, *arguments: Any) -> Any:
        address = arguments[-1]
        if self.family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple):
            _check(address[0])
        return original(self, *arguments)

    return call


def _resolve(host: Any, *arguments: Any, **options: Any) -> Any:
    if host is not None:
        _check(host)
    return _getaddrinfo(host, *arguments, **options)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _guarded(_connect))
    monkeypatch.setattr(socket.socket, "connect_ex", _guarded(_connect_ex))
    monkeypatch.setattr(socket.socket, "sendto", _guarded(_sendto))
    monkeypatch.setattr(socket, "getaddrinfo", _resolve)


@pytest.fixture(autouse=True)
def _no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
