"""What was accepted as a URL is sent byte for byte: a target that signs its URLs checks each byte (ADR 0148)."""

import json
import os
import re
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.accept.rules.admission import admit
from delayer.actions.rules.foreign import built_in
from delayer.connections.model import ConnectionType
from delayer.connections.rules import Values
from delayer.engines.memory import MemoryObserver
from delayer.extension.harness import HarnessPorts, clock_at
from delayer.http.problem import Invalid
from delayer.targets.connected import TokenEndpoint
from delayer.targets.http_fields import Url
from delayer.targets.http_request import URL, request_target
from tests.samples import NOW
from tests.unit.targets.apps import app_of
from tests.unit.targets.server import Server, http_target, message, to_this_machine

AS_WRITTEN = [
    "/min?discount=100%25&name=J%C3%BCrgen",
    "/x?sig=%2f%2F%7e",
    "/?x[]=1&y={z}|^`'\"<>\\",
    "/a/../b/./c//d",
    "/%2e%2e/%41",
    "//twice?a?b",
    "/a;b=c:d@e!$&'()*+,",
]
HOST = "http://target.example"
STRAY = re.compile("%(?![0-9A-Fa-f]{2})")
target = http_target(allow_private=True, resolve=to_this_machine)


@pytest.mark.parametrize("written", AS_WRITTEN)
def test_each_byte_arrives_as_it_was_accepted(server: Server, written: str) -> None:
    base = f"{HOST}:{server.server_port}"
    admit(
        json.dumps({"delaySeconds": 1, "action": {"type": "http-request", "url": base + written}}).encode(),
        NOW,
        built_in(),
    )
    target(message(server, url=base + written))
    assert server.lines == [f"POST {written} HTTP/1.1"]


@pytest.mark.parametrize("written", AS_WRITTEN)
def test_so_it_does_at_a_token_endpoint(server: Server, written: str) -> None:
    fields = {"tokenUrl": f"{HOST}:{server.server_port}{written}", "clientId": "a", "clientSecret": "b"}
    values = Values(type=ConnectionType("oauth2-client-credentials"), fields=fields)
    TokenEndpoint(target=target.http)(values, 5)
    assert server.lines == [f"POST {written} HTTP/1.1"]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("", "/"),
        ("?a=b", "/?a=b"),
        ("#f", "/"),
        ("/a?b#c%", "/a?b"),
        ("/a%?b=100%&c=%C3%bc", "/a%25?b=100%25&c=%C3%bc"),  # a stray % that an earlier version has accepted
        ("?discount=100%", "/?discount=100%25"),
        ("/%%41%4%zz%25", "/%25%41%254%25zz%25"),
        ("/ü b", "/%C3%BC%20b"),  # what none has, since there is a pattern
        ("\\a", "/\\a"),
    ],
)
def test_what_is_sent_of_a_url(written: str, sent: str) -> None:
    assert request_target(HOST + written) == sent


@pytest.mark.parametrize("stray", ["/%", "/?a=100%&b", "/%zz", "/%4", "/#%"])
def test_a_stray_percent_is_refused_at_the_door_only(server: Server, stray: str) -> None:
    """Which byte its client means by it, nobody knows. What is stored with one goes on."""
    body = {"delaySeconds": 1, "action": {"type": "http-request", "url": HOST + stray}}
    with pytest.raises(Invalid) as refused:
        admit(json.dumps(body).encode(), NOW, built_in())
    [error] = refused.value.errors
    assert error.field == "action.url"
    assert "two hexadecimal digits" in error.allowed
    assert msgspec.json.decode(json.dumps(HOST + stray), type=Url) == HOST + stray
    target(message(server, url=f"{HOST}:{server.server_port}{stray}"))
    path = stray.partition("#")[0]
    assert server.lines == [f"POST {STRAY.sub('%25', path)} HTTP/1.1"]


visible = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=30)


@given(st.sampled_from("/?"), visible)
def test_whatever_is_accepted_is_sent_unchanged(first: str, rest: str) -> None:
    url = f"{HOST}{first}{rest}"
    is_accepted = re.search(URL, url) is not None
    assert is_accepted == (re.search("%(?![0-9A-Fa-f]{2})", rest) is None)
    wanted = STRAY.sub("%25", f"{first}{rest}".partition("#")[0])
    assert not is_accepted or wanted == f"{first}{rest}".partition("#")[0]
    assert request_target(url) == (wanted if first == "/" else f"/{wanted}")


@pytest.mark.parametrize(
    ("written", "sent", "counted"),
    [("/a%?b=100%&c=%C3%BC", "/a%25?b=100%25&c=%C3%BC", 1), ("/?c=%C3%BC", "/?c=%C3%BC", 0), ("/?c#%", "/?c", 0)],
)
def test_an_operator_hears_of_a_stray_percent(server: Server, written: str, sent: str, counted: int) -> None:
    """The doctor reads the metric, and the log names the schedule."""
    handler = app_of("http-request").handler
    observer = MemoryObserver()
    given_to_it = {"ports": HarnessPorts(clock=clock_at(), observer=observer), "sign": lambda _: {}}
    vars(handler).update(given_to_it)
    with patch.dict(os.environ, {"ALLOW_PRIVATE_TARGETS": "true"}):
        handler.target(message(url=f"http://127.0.0.1:{server.server_port}{written}"))
    assert server.lines == [f"POST {sent} HTTP/1.1"]
    assert observer.counts["StrayPercents"] == len(observer.warnings) == counted
