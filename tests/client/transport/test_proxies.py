"""What is for this machine goes through no proxy, whoever sends it; and a proxy that cannot be used is named."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest
from attrs import define, field

from delayer_client import AsyncDelayer, Delayer, NoAnswer, Retrying, Token, WrongArgument
from delayer_client.cli.session import Surroundings
from delayer_client.console import place_of
from delayer_client.eventbridge.reading.account import read_account
from delayer_client.operator.doctor.gather import api as doctor
from delayer_client.transport.proxies import is_here, proxy_of
from tests.client.cli.conftest import Cli

NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
TOKEN = Token("a-secret-token")
ONCE = Retrying(times=0)


@define
class Listener:
    """A server on this machine that keeps the path and the headers of what comes."""

    port: int = 0
    came: list[tuple[str, dict[str, str]]] = field(factory=list)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"


@contextmanager
def listening(status: int = 200) -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            listener.came.append((self.path, dict(self.headers.items())))
            body = json.dumps({"schedules": [], "Schedules": [], "Rules": [], "EventBuses": []}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_CONNECT = do_GET  # noqa: N815 - as http.server asks for them

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        listener.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield listener
        server.shutdown()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's own."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Listener, Listener]]:
    """An API of this machine, and a proxy that the environment names for all there is."""
    with ExitStack() as stack:
        api, proxy = (stack.enter_context(listening()) for _ in range(2))
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        yield api, proxy


def by_the_library(url: str) -> None:
    with Delayer(url, credentials=TOKEN, retrying=ONCE) as delayer:
        assert list(delayer.list()) == []


def by_asyncio(url: str) -> None:
    async def run() -> None:
        async with AsyncDelayer(url, credentials=TOKEN, retrying=ONCE) as delayer:
            assert [one async for one in delayer.list()] == []

    asyncio.run(run())


def by_the_console(url: str) -> None:
    async def run() -> None:
        async with place_of(url, credentials=TOKEN).of("") as client:
            assert [one async for one in client.list()] == []

    asyncio.run(run())


def by_the_command_line(url: str) -> None:
    done = Cli(surroundings=Surroundings(), fake=None)("list", "--url", url, "--token", TOKEN.value)  # type: ignore[arg-type]
    assert (done.status, done.err) == (0, "There are none yet, or none any more.\n")


def by_the_doctor(url: str) -> None:
    assert doctor.look(url, None, str(TOKEN.value), "").answer.status == 200


@pytest.mark.parametrize(
    "asks",
    [by_the_library, by_asyncio, by_the_console, by_the_command_line, by_the_doctor],
    ids=lambda one: one.__name__,
)
def test_what_is_for_this_machine_goes_through_no_proxy(
    asks: Callable[[str], None], proxied: tuple[Listener, Listener], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELAYER_CONFIG", str(tmp_path / "config.toml"))
    api, proxy = proxied
    asks(api.url)
    assert proxy.came == []
    assert api.came
    for path, headers in api.came:
        assert path.startswith(("/schedules", "/connections"))
        assert headers["Authorization"] == "Bearer a-secret-token"


def test_operators_tools_ask_this_machine_through_no_proxy(
    proxied: tuple[Listener, Listener], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after `. .local/8080/aws.env`: boto3 would send it to the proxy."""
    api, proxy = proxied
    for name, value in (("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b"), ("DEFAULT_REGION", "us-east-1")):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", api.url)
    Cli(surroundings=Surroundings(), fake=None)("flow", "list", "--by-name")  # type: ignore[arg-type]
    read_account(boto3.Session(), groups=["default"])
    assert proxy.came == []
    assert len(api.came) >= 2


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8080",
        "http://LocalHost.:8080",
        "https://delayer.localhost",
        "http://127.0.0.1",
        "http://127.1.2.3:80/prod",
        "http://[::1]:8080",
        "http://0.0.0.0:8080",
        "http://[::]:1",
        "http://127.1:8080",
        "http://0:8080",
        "http://0x7f.1",
        "http://2130706433",
        "http://[::ffff:127.0.0.1]:1",
        "http://[::ffff:0.0.0.0]:1",
    ],
)
def test_this_machine(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example.com:3128")
    assert is_here(url)
    assert proxy_of(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost.example.com",
        "http://128.0.0.1",
        "http://128.1",
        "http://[::2]:8080",
        "http://[::ffff:128.0.0.1]:8080",
        "https://127.0.0.1.example.com",
    ],
)
def test_another_machine(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example.com:3128")
    assert not is_here(url)
    assert str(proxy_of(url)) == "http://proxy.example.com:3128 (of the variable ALL_PROXY)"


@pytest.mark.parametrize(
    ("environment", "url", "named"),
    [
        ({}, "https://api.example.com", "None"),
        ({"HTTPS_PROXY": "http://p:1"}, "https://api.example.com", "http://p:1 (of the variable HTTPS_PROXY)"),
        ({"HTTPS_PROXY": "http://p:1"}, "http://api.example.com", "None"),
        ({"https_proxy": "p:1", "ALL_PROXY": "http://q:1"}, "https://a.example", "p:1 (of the variable HTTPS_PROXY)"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "example.com"}, "https://api.example.com", "None"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "example.com"}, "https://u:p@api.example.com:8443", "None"),
        ({"ALL_PROXY": "http://me:secret@p:1"}, "https://a.example", "http://p:1 (of the variable ALL_PROXY)"),
        ({"ALL_PROXY": "me:secret@p:1"}, "https://a.example", "p:1 (of the variable ALL_PROXY)"),
    ],
)
def test_the_proxy_of_another_machine_is_that_of_the_environment(
    environment: dict[str, str], url: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its password is never shown."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert str(proxy_of(url)) == named


@pytest.mark.parametrize(
    ("proxy", "why"),
    [
        ("socks5://me:secret@127.0.0.1:1080", "it needs the package socksio"),
        ("gopher://127.0.0.1:70", "it is like http://proxy.example.com:3128"),
        ("http://127.0.0.1:notaport", "it is like http://proxy.example.com:3128"),
        ("http://", "it is like http://proxy.example.com:3128"),
    ],
)
@pytest.mark.parametrize("make", [Delayer, AsyncDelayer])
def test_a_proxy_that_cannot_be_used_is_a_sentence(
    make: Any, proxy: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("delayer_client.transport.proxies.find_spec", lambda _name: None)
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(WrongArgument, match=r"of the variable ALL_PROXY\) cannot be used") as raised:
        make("https://delayer.example.com")
    assert why in str(raised.value)
    assert "secret" not in str(raised.value)
    make("http://localhost:8080")  # it needs none


def test_the_command_line_says_which_proxy_and_exits_as_for_a_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DELAYER_CONFIG", str(tmp_path / "config.toml"))
    run = Cli(surroundings=Surroundings(sleep=lambda _seconds: None), fake=None)  # type: ignore[arg-type]
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:70")
    done = run("list", "--url", "https://delayer.example.com")
    assert done.status == 2
    assert "The proxy gopher://127.0.0.1:70 (of the variable ALL_PROXY) cannot be used" in done.err
    with listening(407) as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        done = run("cancel", "--name", "a", "--url", "https://delayer.example.com")
    assert done.status == 5
    assert f"It was asked through the proxy {proxy.url} (of the variable ALL_PROXY)" in done.err
    assert "nothing was changed" in done.err


def test_what_a_proxy_has_refused_was_not_carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(403) as proxy, Delayer(url := "https://delayer.example.com") as _:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        with Delayer(url, retrying=ONCE) as delayer, pytest.raises(NoAnswer) as raised:
            delayer.cancel_named("a")
    assert not raised.value.may_be_applied
