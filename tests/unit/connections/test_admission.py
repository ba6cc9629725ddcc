"""Bodies of calls about connections: what is accepted, what is shown, and that no value is in an error."""

import json
from typing import Any

import pytest
from attrs import evolve

from delayer.connections.admission import (
    admit_connection,
    admit_connection_listing,
    admit_force,
    admit_test,
    cursor_of,
    hints_for,
)
from delayer.connections.model import Connection, ConnectionType, wrong_host
from delayer.connections.rules import NotItsOwn, Values, basic, header_name, header_of, secret_text, values_in
from delayer.http.problem import FieldError, Invalid, NotJson, TooLarge
from tests.samples import OWNER

SECRET = "S3CR3T-0123456789"
KEY = {"type": "api-key", "headerName": "X-Api-Key", "value": SECRET}
BASIC = {"type": "basic", "username": "jö", "password": SECRET}
BEARER = {"type": "bearer", "token": SECRET}
OAUTH = {
    "type": "oauth2-client-credentials",
    "tokenUrl": f"https://idp.example/token?key={SECRET}",
    "clientId": "delayer",
    "clientSecret": SECRET,
    "scope": "a b",
}
ALL = [KEY, BASIC, BEARER, OAUTH]


@pytest.mark.parametrize("body", ALL, ids=lambda body: body["type"])
def test_what_is_shown_of_a_connection_has_no_secret(body: dict[str, str]) -> None:
    request = admit_connection(json.dumps(body).encode())
    assert SECRET not in request.shown
    assert SECRET not in repr(request)
    assert request.values.fields == {name: value for name, value in body.items() if name != "type"}
    text = secret_text(OWNER, "crm", request.values)
    assert values_in(text, OWNER, "crm") == request.values


@pytest.mark.parametrize("body", ALL, ids=lambda body: body["type"])
def test_each_may_name_its_hosts_which_are_no_part_of_its_values(body: dict[str, Any]) -> None:
    hosts = ["api.example.com", "*.example.org:8443", "[2001:db8::1]:*"]
    request = admit_connection(json.dumps({**body, "hosts": hosts}).encode())
    assert request.hosts == tuple(hosts)
    assert request.values == admit_connection(json.dumps(body).encode()).values


URLS = [  # what the executor would connect to decides, and not what a text looks like
    ("https://api.example.com/x?y", ""),
    ("https://API.example.com.:443/", ""),
    ("https://api.example.com:8443/", "api.example.com:8443"),
    ("https://a.example.org/", "a.example.org"),
    ("https://a.example.org:8443/", ""),
    ("https://example.org:8443/", "example.org:8443"),
    ("https://evil.example/api.example.com", "evil.example"),
    ("https://api.example.com@evil.example/", "no host that can be told"),
    ("https://api.example.com.evil.example/", "api.example.com.evil.example"),
    ("https://2130706433/", "no host that can be told"),
]


@pytest.mark.parametrize(("url", "wrong"), URLS)
def test_it_is_for_its_hosts_and_for_no_other(url: str, wrong: str) -> None:
    row = Connection(owner=OWNER, name="crm", type=ConnectionType.BEARER, secret="s", header="Authorization")
    assert wrong_host(row, url) == ""
    assert wrong_host(evolve(row, hosts=("api.example.com", "*.example.org:8443")), url) == wrong
    assert wrong_host(evolve(row, hosts=("https://no-pattern/",)), url) != ""


def test_the_headers_that_they_set() -> None:
    made = [admit_connection(json.dumps(one).encode()).values for one in ALL]
    assert [header_name(one) for one in made] == ["X-Api-Key", "Authorization", "Authorization", "Authorization"]
    headers = [header_of(one) for one in made[:3]]
    assert [one.value for one in headers] == [SECRET, basic("jö", SECRET), f"Bearer {SECRET}"]
    assert not any(SECRET in repr(one) for one in headers)


@pytest.mark.parametrize(("owner", "name"), [("another", "crm"), (OWNER, "erp")])
def test_the_secret_of_another_is_refused(owner: str, name: str) -> None:
    """A row that somebody has changed leads nowhere."""
    values: Values = admit_connection(json.dumps(KEY).encode()).values
    with pytest.raises(NotItsOwn):
        values_in(secret_text(owner, name, values), OWNER, "crm")


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"v":2}', '{"v":1,"owner":1}', "\ud800"])
def test_what_is_no_secret_of_ours_is_refused(text: str) -> None:
    with pytest.raises(NotItsOwn):
        values_in(text, OWNER, "crm")


def errors(body: Any) -> list[FieldError]:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(Invalid) as raised:
        admit_connection(text)
    return list(raised.value.errors)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no type": ({"value": SECRET}, "type"),
    "another type": ({**KEY, "type": "digest"}, "type"),
    "a type that is none": ({**KEY, "type": [SECRET]}, "type"),
    "no value": ({"type": "api-key", "headerName": "X-Api-Key"}, "value"),
    "an unknown field": ({**KEY, "token": SECRET}, "token"),
    "a line feed": ({**KEY, "value": f"{SECRET}\n"}, "value"),
    "a header behind it": ({**KEY, "value": f"{SECRET}\r\nX-Admin: 1"}, "value"),
    "a value that is not ASCII": ({**KEY, "value": f"{SECRET}ö"}, "value"),
    "a long value": ({**KEY, "value": SECRET * 300}, "value"),
    "a value that is none": ({**KEY, "value": [SECRET]}, "value"),
    "a name with a colon": ({**KEY, "headerName": "X-Key:"}, "headerName"),
    "the name of a header of ours": ({**KEY, "headerName": "Delayer-Attempt"}, "headerName"),
    "the name of the host": ({**KEY, "headerName": "host"}, "headerName"),
    "a user name with a colon": ({**BASIC, "username": "a:b"}, "username"),
    "a password with a zero": ({**BASIC, "password": f"{SECRET}\0"}, "password"),
    "a token with a space": ({**BEARER, "token": f"{SECRET} x"}, "token"),
    "a file": ({**OAUTH, "tokenUrl": "file:///etc/passwd"}, "tokenUrl"),
    "a user in a URL": ({**OAUTH, "tokenUrl": f"https://u:{SECRET}@idp.example/"}, "tokenUrl"),
    "two spaces": ({**OAUTH, "scope": "a  b"}, "scope"),
    "a URL in place of a host": ({**KEY, "hosts": ["https://api.example.com/"]}, "hosts[0]"),
    "a pattern for all hosts": ({**KEY, "hosts": ["api.example.com", "*"]}, "hosts[1]"),
    "a port that there is not": ({**BEARER, "hosts": ["api.example.com:65536"]}, "hosts[0]"),
    "hosts that are none": ({**OAUTH, "hosts": []}, "hosts"),
    "hosts that are a text": ({**BASIC, "hosts": "api.example.com"}, "hosts"),
    "a way that there is not": ({**OAUTH, "clientAuthentication": "mtls"}, "clientAuthentication"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_and_no_secret_is_shown(case: str) -> None:
    body, field = WRONG[case]
    found = errors(body)
    assert [one.field for one in found] == [field]
    assert SECRET not in repr(found)


@pytest.mark.parametrize("half", [rb"\ud800", rb"\udc00 and more"])
def test_half_a_character_is_refused(half: bytes) -> None:
    """It can be sent to nobody."""
    with pytest.raises((Invalid, NotJson)) as raised:
        admit_connection(b'{"type": "basic", "username": "a", "password": "' + SECRET.encode() + half + b'"}')
    assert SECRET not in repr(raised.value)


def test_what_is_no_body_of_a_connection() -> None:
    with pytest.raises(NotJson):
        admit_connection(SECRET.encode())
    with pytest.raises(TooLarge):
        admit_connection(b" " * 40_000)


def test_a_test_takes_a_url_alone() -> None:
    assert admit_test(b'{"url": "https://crm.example/"}') == "https://crm.example/"
    for body in (b"{}", b'{"url": "ftp://x/"}', b'{"url": "https://x/", "method": "POST"}'):
        with pytest.raises(Invalid):
            admit_test(body)


def test_a_page_goes_on_after_a_name() -> None:
    assert admit_connection_listing({}).limit == 50
    assert admit_connection_listing({"cursor": cursor_of("crm"), "limit": "7"}).after == "crm"


@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "x"}, {"cursor": "x"}, {"cursor": "é"}, {"page": "1"}])
def test_a_query_that_is_not_understood(query: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        admit_connection_listing(query)


def test_force_is_said_in_one_word() -> None:
    assert [admit_force(one) for one in ({}, {"force": "false"}, {"force": "true"})] == [False, False, True]
    for query in ({"force": "1"}, {"force": ""}, {"Force": "true"}):
        with pytest.raises(Invalid):
            admit_force(query)


# ------------------------------------------------------------ hints


def body_with(**headers: str) -> bytes:
    return json.dumps({"action": {"type": "http-request", "url": "http://x/", "headers": headers}}).encode()


@pytest.mark.parametrize("name", ["Authorization", "cookie", "X-Api-Key", "X-Auth-Token", "x-signature"])
def test_a_secret_by_hand_brings_a_hint_without_it(name: str) -> None:
    [hint] = hints_for(body_with(**{name: SECRET, "X-Colour": "red"}))
    assert name in hint
    assert "connection" in hint
    assert SECRET not in hint


@pytest.mark.parametrize(
    "body",
    [
        body_with(Accept="text/plain"),
        b'{"action": {"type": "http-request"}}',
        b'{"action": {"type": "sqs-send", "headers": {"Authorization": "x"}}}',
        b'{"action": 1, "headers": {}}',
        b"headers",
        b'{"action": {"type": "http-request", "headers": ["Authorization"]}}',
    ],
)
def test_all_else_brings_none(body: bytes) -> None:
    assert hints_for(body) == []


def test_a_name_that_is_escaped_is_seen() -> None:
    assert hints_for(body_with(Authorization=SECRET).replace(b"headers", rb"h\u0065aders")) != []
