"""Where an engine may listen, who is the caller there, and which private targets it reaches."""

from ipaddress import IPv4Network, ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from delayer.http.requests import is_loopback
from delayer.serve.door.address import Admitted, Listening, admitted, caller_address
from delayer.serve.refusal import Refusal
from delayer.targets.public_addresses import public_address

FILE = Path("tokens")
TOKENS: dict[str, Any] = {"tokens": FILE}
TLS: dict[str, Any] = {"certificate": Path("cert.pem"), "key": Path("key.pem")}
PROXY: dict[str, Any] = {"behind_proxy": True}


def admit(host: str = "127.0.0.1", **asked: Any) -> Admitted:
    return admitted(Listening(host=host, **asked))


def refusal(host: str = "127.0.0.1", **asked: Any) -> str:
    with pytest.raises(Refusal) as caught:
        admit(host, **asked)
    assert caught.value.status == 2, "it does not pass by itself"
    return str(caught.value)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        *((one, "127.0.0.1") for one in ("127.0.0.1", "localhost", "LOCALHOST", "::ffff:127.0.0.1")),
        *((one, "::1") for one in ("::1", "[::1]", "0:0:0:0:0:0:0:1")),
    ],
)
def test_programs_of_this_machine_need_no_token(host: str, address: str) -> None:
    found = admit(host)
    assert (found.host, found.is_own, found.allow_private, found.private) == (address, True, True, ())


def test_an_address_that_no_caller_may_name_is_refused() -> None:
    """The header Host would be refused, so that a page whose name leads here calls nothing."""
    assert "Nobody could call 127.9.9.9" in refusal("127.9.9.9")
    assert "Nobody could call 127.9.9.9" in refusal("127.9.9.9", **TOKENS)
    assert not admit("127.9.9.9", **TOKENS, **PROXY).is_own


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "192.0.2.1", "fe80::1", "2001:db8::1"])
def test_any_other_address_needs_tokens_and_a_way_that_nobody_reads(host: str) -> None:
    assert "--tokens" in refusal(host)
    assert "--tokens" in refusal(host, **TLS)
    assert "--tokens" in refusal(host, **PROXY)
    text = refusal(host, **TOKENS)
    assert "clear text" in text
    assert "--tls-cert" in text
    assert "--behind-proxy" in text
    for way in (TLS, PROXY, {**TLS, **PROXY}):
        found = admit(host, **TOKENS, **way)
        assert (found.is_own, found.allow_private) == (False, False)


def test_a_proxy_on_this_machine_brings_callers_from_elsewhere() -> None:
    assert "the proxy in front of 127.0.0.1" in refusal(**PROXY)
    assert admit(**PROXY, **TOKENS) == admit(**PROXY, **TOKENS, **TLS)
    assert not admit(**PROXY, **TOKENS).is_own


@pytest.mark.parametrize("host", ["", "example.org", "localhost.", "1.2.3", "127.1", "0x7f000001", "127.0.0.1:80", "*"])
def test_a_name_may_lead_anywhere(host: str) -> None:
    assert "no IP address" in refusal(host, **TOKENS, **TLS)


def test_half_of_tls_and_no_port() -> None:
    assert "--tls-key" in refusal(certificate=Path("x"))
    assert "--tls-cert" in refusal(key=Path("x"))
    assert "--port" in refusal(port=65_536)
    assert "--port" in refusal(port=-1)
    assert admit(port=0).port == 0


def test_private_targets_are_those_that_are_named() -> None:
    asked = {**TOKENS, **TLS, "private_targets": " 10.0.0.0/8, fd00::/8 ,192.168.1.7"}
    found = admit("0.0.0.0", **asked)
    assert found.private == tuple(map(ip_network, ("10.0.0.0/8", "fd00::/8", "192.168.1.7/32")))
    assert not found.allow_private
    assert not admit(private_targets="10.0.0.0/8").allow_private, "who names some means these, also here"
    assert admit(private_targets=" , ").allow_private


@pytest.mark.parametrize("text", ["10.0.0.1/8", "10.0.0.0/33", "example.org", "10.0.0.0/8;10.0.0.0/8", "/8", "10/8"])
def test_what_is_no_network_is_named(text: str) -> None:
    found = refusal(private_targets=f"fd00::/8,{text}")
    assert found.startswith(f"{text} is no network (--private-targets). ")
    assert ("Write 10.0.0.0/8" in found) == (text == "10.0.0.1/8")


addresses = st.ip_addresses().map(str)


@settings(max_examples=50, deadline=None)
@given(
    host=addresses | st.sampled_from(["127.0.0.1", "::1", "localhost"]),
    tokens=st.none() | st.just(FILE),
    tls=st.booleans(),
    behind_proxy=st.booleans(),
)
def test_nobody_from_elsewhere_calls_without_a_token_and_no_token_goes_in_clear_text(
    host: str, tokens: Path | None, tls: bool, behind_proxy: bool
) -> None:
    try:
        found = admit(host, tokens=tokens, behind_proxy=behind_proxy, **(TLS if tls else {}))
    except Refusal:
        assert tokens is None or not (tls or behind_proxy) or is_loopback(host)
        return
    is_reached = behind_proxy or not is_loopback(found.host)
    assert found.is_own != is_reached
    assert found.allow_private != is_reached
    assert not is_reached or (tokens and (tls or behind_proxy))


# ------------------------------------------------------------ who calls


def of(forwarded: str | None, peer: str = "10.0.0.9") -> str:
    headers = {} if forwarded is None else {"x-forwarded-for": forwarded}
    return caller_address(peer, headers, behind_proxy=True)


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("127.0.0.1, 203.0.113.7", "203.0.113.7"),
        ("127.0.0.1,203.0.113.7:4711", "203.0.113.7"),
        ("2001:db8::1", "2001:db8::1"),
        ("x, [2001:db8::1]:443", "2001:db8::1"),
        ("203.0.113.7,", ""),
        ("unknown", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_a_proxy_says_who_calls_in_the_last_entry(forwarded: str | None, expected: str) -> None:
    assert of(forwarded) == expected


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40) | st.lists(addresses, min_size=1).map(", ".join))
@example("[")
@example("]:,[::1")
def test_whatever_a_client_writes_in_front_is_not_read(text: str) -> None:
    assert of(f"{text},203.0.113.7") == "203.0.113.7"
    found = of(text)
    assert not found or ip_address(found)
    assert caller_address("10.0.0.9", {"x-forwarded-for": text}, behind_proxy=False) == "10.0.0.9"


# ------------------------------------------------------------ which targets


PRIVATE = tuple(map(ip_network, ("10.0.0.0/8", "127.0.0.0/8", "fd00::/8")))


@pytest.mark.parametrize(
    ("address", "reached"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("127.0.0.1", "127.0.0.1"),
        ("fd12::1", "fd12::1"),
        ("8.8.8.8", "8.8.8.8"),
        *(
            (one, None)
            for one in ("192.168.0.1", "169.254.169.254", "::1", "fe80::1", "::10.1.2.3", "64:ff9b::a01:203")
        ),
        ("10.0.0.0/8", None),
    ],
)
def test_private_addresses_of_these_networks_are_targets(address: str, reached: str | None) -> None:
    assert public_address(address, PRIVATE) == reached


@settings(max_examples=50, deadline=None)
@given(st.ip_addresses(), st.lists(st.ip_addresses(v=4), max_size=3))
def test_a_network_opens_itself_and_nothing_else(address: Any, of_networks: list[Any]) -> None:
    networks = [IPv4Network(f"{one}/16", strict=False) for one in of_networks]
    unwrapped = getattr(address, "ipv4_mapped", None) or address
    inside = any(unwrapped in network for network in networks)
    expected = str(unwrapped) if inside else public_address(str(address))
    assert public_address(str(address), networks) == expected
