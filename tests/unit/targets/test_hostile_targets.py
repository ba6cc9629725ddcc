"""Nothing inside the account is reached, whatever a client, a name server or a target says: no socket is connected."""

import socket
from itertools import cycle
from typing import Any

import pytest
from attrs import Factory, define

from delayer.actions.rules.model import Done, Refused, Result
from tests.unit.targets.hostile import NAMES, addresses, locations, urls
from tests.unit.targets.server import Server, http_target, message, raw, status

PUBLIC = "93.184.215.14"
REDIRECTS = (300, 301, 302, 303, 305, 306, 307, 308, 399)
GETADDRINFO = socket.getaddrinfo  # as it is outside these tests


@define
class Sockets:
    """What is connected to, and what the system is asked about."""

    reached: list[Any] = Factory(list)
    to: tuple[str, int] | None = None  # where a connection to anything leads; without it, it is refused


def numeric(host: str, port: int, *hints: int, **flags: int) -> Any:
    """As the system's resolver for what is an address, in every spelling. Raises OSError for a name."""
    return GETADDRINFO(host, port, *hints, **{**flags, "flags": socket.AI_NUMERICHOST})


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> Sockets:
    noted, connect = Sockets(), socket.socket.connect

    def note(self: socket.socket, address: Any) -> None:
        noted.reached.append(address)
        if not noted.to:
            raise ConnectionRefusedError
        connect(self, noted.to)

    monkeypatch.setattr(socket.socket, "connect", note)
    monkeypatch.setattr(socket.socket, "connect_ex", note)
    monkeypatch.setattr(socket.socket, "sendto", note)
    monkeypatch.setattr(socket, "getaddrinfo", numeric)  # `create_connection` asks it about an address, and no name
    return noted


def system(host: str, port: int) -> list[str]:
    """As the system's resolver: it reads every spelling of an address, and knows what the name servers say."""
    if host in NAMES:
        return NAMES[host]
    return [str(info[4][0]) for info in numeric(host, port, type=socket.SOCK_STREAM)]


def attempt(url: str, answers: list[str] | None = None) -> Result:
    resolve = (lambda host, port: answers) if answers is not None else system
    return http_target(allow_private=False, resolve=resolve)(message(url=url))


def test_the_tables_are_large() -> None:
    """Else what follows would be easily passed."""
    assert len(addresses()) > 250
    assert len(urls()) > 500
    assert len(locations()) > 50
    assert {len(table) - len(set(table)) for table in (addresses(), urls(), locations())} == {0}


@pytest.mark.parametrize(
    "others", [[([], [])], [([PUBLIC], []), ([], ["2606:4700:4700::1111"]), (["1.1.1.1", PUBLIC], [PUBLIC])]]
)
def test_no_answer_of_a_name_server_leads_inside(sockets: Sockets, others: list[tuple[list[str], list[str]]]) -> None:
    """Alone, and by turns before, behind and among public ones: one is enough, wherever it stands."""
    detail = "not a public address, and the operator has allowed no other: target.example"
    results = {
        text: attempt("http://target.example/", [*before, text, *behind])
        for text, (before, behind) in zip(addresses(), cycle(others), strict=False)
    }
    assert sockets.reached == []
    assert {text: result for text, result in results.items() if result != Refused(detail, reached=False)} == {}


def test_no_url_leads_inside(sockets: Sockets) -> None:
    """In whatever spelling. None of them is tried again for ever."""
    reached = {}
    for url in urls():
        attempt(url)
        if sockets.reached:
            reached[url] = sockets.reached.copy()
            sockets.reached.clear()
    assert reached == {}


@pytest.mark.parametrize(
    ("answer", "address"),
    [
        (PUBLIC, PUBLIC),
        ("1.1.1.1", "1.1.1.1"),
        ("9.255.255.255", "9.255.255.255"),
        ("11.0.0.0", "11.0.0.0"),
        ("100.63.255.255", "100.63.255.255"),
        ("100.128.0.0", "100.128.0.0"),
        ("126.255.255.255", "126.255.255.255"),
        ("128.0.0.0", "128.0.0.0"),
        ("169.253.255.255", "169.253.255.255"),
        ("172.32.0.0", "172.32.0.0"),
        ("192.0.1.0", "192.0.1.0"),
        ("198.17.255.255", "198.17.255.255"),
        ("223.255.255.255", "223.255.255.255"),
        ("::ffff:8.8.8.8", "8.8.8.8"),
        ("2606:4700:4700::1111", "2606:4700:4700::1111"),
        ("2001:200::1", "2001:200::1"),
        ("2001:4860:4860::8888", "2001:4860:4860::8888"),
        ("2003::1", "2003::1"),
        ("2A00:1450:4001:0::1", "2a00:1450:4001::1"),
        ("3ffd::1", "3ffd::1"),
    ],
)
def test_public_addresses_are_reached(sockets: Sockets, answer: str, address: str) -> None:
    """The networks end where they end; and what is connected to is the address that was checked."""
    attempt("https://target.example:8443/", [answer])
    assert [(one[0], one[1]) for one in sockets.reached] == [(address, 8443)]


@pytest.mark.parametrize(
    ("answers", "reached"),
    [
        (["10.1.2.3"], ["10.1.2.3"]),
        (["::ffff:10.1.2.3"], ["10.1.2.3"]),
        ([PUBLIC], [PUBLIC]),
        (["10.1.2.3", PUBLIC], ["10.1.2.3"]),
        (["10.1.2.3", "192.168.0.1"], []),
        (["127.0.0.1"], []),
        (["169.254.169.254"], []),
        (["fd00::1"], []),
    ],
)
def test_a_private_network_that_is_named_opens_itself_alone(
    sockets: Sockets, answers: list[str], reached: list[str]
) -> None:
    target = http_target(allow_private=False, resolve=lambda host, port: answers, private="10.0.0.0/8 172.16.0.0/12")
    target(message(url="http://target.example/"))
    assert [one[0] for one in sockets.reached] == reached


def test_a_name_that_changes_after_the_check_reaches_nothing_else(sockets: Sockets) -> None:
    answers = iter([[PUBLIC], ["127.0.0.1"], ["169.254.169.254"]])
    http_target(allow_private=False, resolve=lambda host, port: next(answers))(message(url="http://target.example/"))
    assert sockets.reached == [(PUBLIC, 80)]
    assert next(answers) == ["127.0.0.1"], "it was asked once"


def test_no_redirect_is_followed(sockets: Sockets, server: Server) -> None:
    """Whatever it says, the target was reached once, and nobody else."""
    sockets.to = ("127.0.0.1", server.server_port)
    for code, location in zip(cycle(REDIRECTS), locations(), strict=False):
        server.reply = status(code, Location=location, Refresh=f"0; url={location}", Content_Location=location)
        assert attempt("http://target.example/", [PUBLIC]) == Refused(f"HTTP {code}: redirects are not followed")
    assert sockets.reached == [(PUBLIC, 80)] * len(locations())
    assert len(server.requests) == len(locations())


def test_no_other_answer_leads_anywhere(sockets: Sockets, server: Server) -> None:
    """Not that of a proxy, of another service or protocol, nor one with several answers in it."""
    sockets.to = ("127.0.0.1", server.server_port)
    inside = b"http://169.254.169.254/"
    answers = {
        b'HTTP/1.1 200 OK\r\nLocation: %b\r\nAlt-Svc: h2="169.254.169.254:80"\r\n\r\n' % inside: Done("HTTP 200"),
        b"HTTP/1.1 101 Upgrade\r\nUpgrade: h2c\r\nLocation: %b\r\n\r\n" % inside: Refused("HTTP 101"),
        b"HTTP/1.1 103 Hints\r\nLink: <%b>\r\n\r\nHTTP/1.1 204 x\r\n\r\n" % inside: Done("HTTP 204"),
        b"HTTP/1.1 401 x\r\nWWW-Authenticate: Negotiate %b\r\n\r\n" % inside: Refused("HTTP 401"),
        b"HTTP/1.1 407 x\r\nProxy-Authenticate: Basic realm=%b\r\n\r\n" % inside: Refused("HTTP 407"),
        b"HTTP/1.1 426 x\r\nUpgrade: TLS/1.2\r\n\r\n": Refused("HTTP 426"),
        b"HTTP/1.1 204 x\r\n\r\nHTTP/1.1 302 x\r\nLocation: %b\r\n\r\n" % inside: Done("HTTP 204"),
    }
    for answer, expected in answers.items():
        server.reply = raw(answer)
        assert attempt("http://target.example/", [PUBLIC]) == expected
    assert sockets.reached == [(PUBLIC, 80)] * len(answers)


def test_what_the_proxies_of_the_environment_say_is_ignored(sockets: Sockets, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:3128")
    attempt("http://target.example/", [PUBLIC])
    assert sockets.reached == [(PUBLIC, 80)]
