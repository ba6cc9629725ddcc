"""What is kept of an answer for those who ask: bounded and masked, and never at the expense of the attempt."""

import contextlib
import gzip
import json
import threading
import time
from typing import Any

import pytest

from delayer.actions.rules.model import Done, Message, Refused, Result, Retry
from delayer.masking.anyhow import LARGEST, MOST_BODY
from delayer.masking.anyhow import kept as as_kept
from delayer.targets.http_request import HttpTarget, Request
from tests.unit.patterns.lines import lines_of
from tests.unit.targets.server import Answer, Handler, Server, raw

SECRET = "s3cr3t-Value"
GZIPPED = gzip.compress(b"hello" * 9, mtime=0)
NAMES = {"content-type", "content-encoding", "set-cookie", "x-request-id", "x-api-key", "content-length"}


def attempt(server: Server, reply: Answer, timeout: float = 5, keep: Any = NAMES) -> Result:
    server.reply = reply
    target = HttpTarget(allow_private=True, resolve=lambda host, port: ["127.0.0.1"])
    url = f"http://target.example:{server.server_port}/hook"
    request = Request(url=url, method="POST", headers={}, timeout=timeout, keep=keep)
    message = Message[None](action=None, payload="1", schedule_id="id", owner="o", point_in_time=0, attempt=1)
    return target.send(request, message)


def kept(server: Server, reply: Answer, timeout: float = 5) -> dict[str, Any]:
    result = attempt(server, reply, timeout)
    assert len(result.answer.encode()) <= LARGEST
    content: dict[str, Any] = json.loads(result.answer)
    return content


def answered(body: bytes, *headers: str, status: str = "200 OK", length: bool = True) -> Answer:
    lines = [f"HTTP/1.1 {status}", *headers, *([f"Content-Length: {len(body)}"] if length else [])]
    return raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def test_nothing_is_kept_for_those_who_do_not_ask(server: Server) -> None:
    assert attempt(server, answered(b"hello"), keep=None) == Done("HTTP 200")


@pytest.mark.parametrize(("status", "kind"), [("200 OK", Done), ("503 Busy", Retry), ("404 Not Found", Refused)])
def test_the_answer_to_each_attempt_is_kept(server: Server, status: str, kind: type) -> None:
    result = attempt(server, answered(b'{"id": 17}', "Content-Type: application/json", "X-Other: x", status=status))
    assert isinstance(result, kind)
    found = json.loads(result.answer)
    assert 0 <= found.pop("durationMs") < 5_000
    assert found == {
        "status": int(status[:3]),
        "headers": {"content-type": "application/json", "content-length": "10"},
        "body": '{"id": 17}',
    }


def test_a_chunked_body_is_put_together(server: Server) -> None:
    found = kept(
        server, answered(b"3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n", "Transfer-Encoding: chunked", length=False)
    )
    assert (found["body"], "bodyCut" in found) == ("abcdefg", False)


@pytest.mark.parametrize("framing", ["length", "chunked", "none"])
def test_of_a_large_body_the_first_kb_is_kept(server: Server, framing: str) -> None:
    """The target says that ten gigabytes follow, or just goes on."""
    stopped = threading.Event()

    def pour(handler: Handler) -> None:
        heads = {"length": "Content-Length: 10000000000\r\n", "chunked": "Transfer-Encoding: chunked\r\n", "none": ""}
        handler.wfile.write(f"HTTP/1.1 200 OK\r\n{heads[framing]}\r\n".encode())
        part = b"10000\r\n" + b"x" * 65_536 + b"\r\n" if framing == "chunked" else b"x" * 65_536
        with contextlib.suppress(OSError):
            while not stopped.is_set():
                handler.wfile.write(part)
        handler.close_connection = True

    began = time.monotonic()
    found = kept(server, pour)
    stopped.set()
    assert (found["body"], found["bodyCut"]) == ("x" * MOST_BODY, True)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("head", [b"", b"Content-Length: 500\r\n", b"Transfer-Encoding: chunked\r\n"])
def test_a_body_that_drips_harms_nothing(server: Server, head: bytes) -> None:
    """The status has decided; what has come of the body in the time that there is, is kept: a second, here."""
    stopped = threading.Event()

    def drip(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 201 Created\r\n" + head + b"\r\n" + (b"1f4\r\n" if b"chunked" in head else b""))
        with contextlib.suppress(OSError):
            while not stopped.wait(0.05):
                handler.wfile.write(b"x")
        handler.close_connection = True

    began = time.monotonic()
    result = attempt(server, drip, timeout=1)
    stopped.set()
    assert isinstance(result, Done)
    assert result.detail == "HTTP 201"
    found = json.loads(result.answer)
    assert set(found["body"]) <= {"x"}
    assert found["bodyCut"]
    assert time.monotonic() - began < 2


def test_a_body_that_never_comes_is_waited_for_two_seconds(server: Server) -> None:
    """And no longer, whatever time the attempt has: it takes these two seconds."""
    stopped = threading.Event()

    def stay(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        stopped.wait(10)

    began = time.monotonic()
    assert kept(server, stay, timeout=9)["bodyCut"]
    stopped.set()
    assert time.monotonic() - began < 4


@pytest.mark.parametrize(
    ("body", "headers", "shown"),
    [
        (b"", (), {"body": ""}),
        (GZIPPED, ("Content-Encoding: gzip",), {"bodyOmitted": "not a text: gzip"}),
        (GZIPPED, (), {"bodyOmitted": "not a text: identity"}),
        (bytes(range(256)) * 9, (), {"bodyOmitted": "not a text: identity"}),
        (
            "die ganze lange Stra\u00dfe".encode("latin-1"),
            (),
            {"body": "die ganze lange Stra\ufffde"},
        ),
        ("\u20ac".encode() * 500, (), {"body": "\u20ac" * 341, "bodyCut": True}),
        (b'{"a": "\x1b[31m"}', (), {"body": '{"a": "\x1b[31m"}'}),
    ],
    ids=ascii,
)
def test_bytes_of_all_kinds(server: Server, body: bytes, headers: tuple[str, ...], shown: dict[str, Any]) -> None:
    found = kept(server, answered(body, *headers))
    assert {name: found[name] for name in found if name.startswith("body")} == shown


PAIRS = [("key", "value"), ("Key", "Value"), ("name", "value"), ("field", "value"), ("Header", "Values")]
BODIES = [
    f'{{"token": "{SECRET}"}}',
    f'{{"user": {{"apiKey": "{SECRET}"}}}}',
    f'{{"list": [{{"password": "{SECRET}"}}]}}',
    f'{{"secret": ["{SECRET}"]}}',
    f'{{"inner": "{{\\"token\\": \\"{SECRET}\\"}}"}}',
    f'{{"next": "https://api.example/x?token={SECRET}"}}',
    f'{{"next": "https://user:{SECRET}@api.example/x"}}',
    f'{{"token": "{SECRET}',
    f'{{"a": 1, "access_token" : "{SECRET}", "b": "' + "x" * 2_000,
    f'{{"a": 1, "secret": {{"deep": "{SECRET}", "b": "' + "x" * 2_000,
    f'{{"a": 1, "credentials": ["{SECRET}", "b"' + " " * 2_000,
    "{'token': '" + SECRET + "'}",
    f"token={SECRET}&a=1",
    f"a=1&access_token={SECRET}",
    f"password: {SECRET}\nname: x",
    f"Authorization: Bearer {SECRET}",
    f"<a href='https://x.example/?sig={SECRET}'>",
    f"session_id = {SECRET}; path=/",
    f"Bearer {SECRET}",
    "eyJhbGciOiJIUzI1NiJ9." + SECRET.replace("-", "_"),
    f"key={SECRET}",
    f"set apiKey: '{SECRET}' now",
    # XML and HTML
    f"<password>{SECRET}</password>",
    f"<ns:AccessToken xsi:type='x'>{SECRET}</ns:AccessToken>",
    f"<secret><![CDATA[{SECRET}]]></secret>",
    f"<credentials><user>joe</user><word>{SECRET}</word></credentials>",
    f"<a><token>{SECRET}",
    f"&lt;token&gt;{SECRET}&lt;/token&gt;",
    f'{{"xml": "\\u003ctoken\\u003e{SECRET}\\u003c/token\\u003e", "b": "' + "x" * 2_000,
    f'<user password="{SECRET}"/>',
    f'<input type="hidden" name="csrf_token" value="{SECRET}">',
    f'<input value="{SECRET}" name=csrf_token>',
    f'<meta name="csrf-token" content="{SECRET}">',
    f'<add key="ApiToken" value="{SECRET}" />',
    f'<param name="password">{SECRET}</param>',
    f'<input name="token" value="{SECRET}',
    f"<dict><key>password</key><string>{SECRET}</string></dict>",
    f"<Parameter><Name>password</Name><Value>{SECRET}</Value></Parameter>",
    f"<table><tr><th>API key</th><td><code>{SECRET}</code></td></tr></table>",
    f"<div data-x='{{&quot;token&quot;:&quot;{SECRET}&quot;}}'>",
    # headers
    f"Cookie: a=1; b={SECRET}; c=2",
    f'Set-Cookie: "a"; b={SECRET}',
    f"Cookie: a=1;\r\n b={SECRET}\r\nHost: x",
    f'Authorization: Digest username="joe", realm="x", response="{SECRET}"',
    f'Digest username="joe", realm="x", response="{SECRET}"',
    f"AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Other={SECRET}",
    f"Negotiate {SECRET}",
    # YAML
    f"password: |\n  first\n\n  {SECRET}\nname: x",
    f"credentials:\n  user: joe\n  word: {SECRET}\nname: x",
    f"tokens:\n- a\n- {SECRET}\nname: x",
    f"list:\n  - token: >-\n      {SECRET}\n  - name: x",
    f"token:\n{SECRET}",
    f"password: 'it''s {SECRET}'",
    f"keys: a, {SECRET}",
    f"password=a;{SECRET}",
    f'token = """\na {SECRET}\n"""',
    f"-----BEGIN EC PRIVATE KEY-----\n{SECRET}\n-----END EC PRIVATE KEY-----",
    # names with others in them, and far from their values
    f"auth[password]={SECRET}",
    f"a=1&user%5Bpassword%5D={SECRET}&b=2",
    f"user%5bpassword%5d={SECRET}",
    f"token[]={SECRET}",
    f"a[0][token][b]={SECRET}",
    f'$cfg["password"]="{SECRET}"',
    f"$cfg['db']['password'] = '{SECRET}';",
    f"password{' ' * 300}={' ' * 300}{SECRET}",
    f'{{"password"{" " * 90}:{" " * 90}"{SECRET}"',
    f'password: "a" + "{SECRET}"',
    f'password = "a" & "{SECRET}"',
    f'password: "a"\n  + "{SECRET}"',
    # labels and lists
    *(json.dumps({label: "DB_PASSWORD", content: SECRET}) for label, content in PAIRS),
    *(json.dumps([{label: "DB_PASSWORD", content: SECRET}, "x" * 2_000]) for label, content in PAIRS),
    json.dumps({"headers": [["Authorization", SECRET], ["Accept", "x"]]}),
    json.dumps({"headers": [["Authorization", SECRET], "x" * 2_000]}),
    json.dumps({"headers": [["Authorization", [SECRET]], "x" * 2_000]}),
    f"[('X-Auth', '{SECRET}'), ('Accept', 'x')]",
    f'{{"headers":[{{"name":"X-Custom-Auth","value":"{SECRET}"}},"' + "x" * 2_000,
    f"env:\n  - name: DB_PASSWORD\n    value: {SECRET}\n  - name: OTHER\n    value: x",
    f"- name: DB_PASSWORD\n  value: {SECRET}",
    f"name=password&value={SECRET}",
    # a form in several parts
    f'--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n{SECRET}\r\n--b--',
    f"--b\nContent-Disposition: form-data; name=password; x=y\nContent-Type: text/plain\n\na\n{SECRET}\n--b--",
    json.dumps({"sent": f'Content-Disposition: form-data; name="password"\r\n\r\n{SECRET}\r\n--b--'}),
    # a name twice
    f'{{"password": "{SECRET}", "password": null}}',
    f'{{"a": [{{"b": 1, "b": {{"token": "{SECRET}"}}, "b": 2}}]}}',
    # texts in JSON
    json.dumps({"message": f"no user for password={SECRET}"}),
    json.dumps({"message": f"<token>{SECRET}</token>"}),
    json.dumps({"log": [f'x\nAuthorization: Digest username="joe", response="{SECRET}"']}),
    json.dumps({"message": json.dumps({"message": f"password: {SECRET}"})}),
    json.dumps(f"password: {SECRET}"),
    json.dumps({"document": f"secrets:\n  - {SECRET}\n"}),
]
HARMLESS = [  # what a reader looks for is still there
    ('{"error": "the order 17 is not known", "code": 4}', '{"error": "the order 17 is not known", "code": 4}'),
    ("<html><title>502 Bad Gateway</title><p>nginx</p></html>",) * 2,
    ("<Error><Code>InvalidToken</Code><Message>It is malformed</Message></Error>",) * 2,
    ("status: failed\n  reason: no such host",) * 2,
    ("password: x\nreason: no such host", "password: ***\nreason: no such host"),
    ("token=x&reason=none", "token=***&reason=none"),
    ('{"tokenCount": 17, "reason": "' + "x" * 1_000, '{"tokenCount": ***, "reason": "x'),
    ('{"message": "token: x", "code": 4}', '{"message":"token: ***","code":4}'),
    ("<token>x</token><reason>none</reason>", "<token>***</token><reason>none</reason>"),
    ("user[name]=x&reason[]=none", "user[name]=x&reason[]=none"),
    ('["order", "17"]', '["order", "17"]'),
    ('[{"name": "Accept", "value": "none"}]',) * 2,
    (
        "- name: PASSWORD\n  value: x\n- name: COLOUR\n  value: red",
        "- name: PASSWORD\n  value: ***\n- name: COLOUR\n  value: red",
    ),
    ('name="password"\r\n\r\nx\r\n--b\r\nreason', 'name="password"\r\n\r\n***\r\n--b\r\nreason'),
    ('name="reason"\r\n\r\nx\r\n--b', 'name="reason"\r\n\r\nx\r\n--b'),
    ('<input name="token" value="x"><p>none</p>', "<input ***><p>none</p>"),
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body[:40])
def test_secrets_in_a_body_are_masked(server: Server, body: str) -> None:
    result = attempt(server, answered(body.encode()))
    assert "***" in result.answer
    assert SECRET not in result.answer
    assert SECRET.replace("-", "_") not in result.answer


@pytest.mark.parametrize(("body", "shown"), HARMLESS, ids=lambda text: text[:30])
def test_what_is_no_secret_is_shown(server: Server, body: str, shown: str) -> None:
    assert kept(server, answered(body.encode()))["body"].startswith(shown)


PIECES = ["<a ", "a:", "<token>", "a=\n ", '"a":"', "&lt;a ", "<td>", "-", "\n-", "Digest a", "<b>key</b>", "token:\n"]
PIECES += ["name=", "name =", "name=a;", "name=a\r\n", "&lt;", "\\u003ca ", "auth:{\n", "auth:'''\n", "</a>", "name:"]
PIECES += ["a[", "a[b]", "a%5B", "a ", " ", '["', "[ ", '["a", ', "name=a\n", "name=key\n", "name: key\n"]


def lines_of_an_answer(text: str) -> int:
    """What the patterns do at each place of a text does not count here: tests/unit/patterns counts it."""
    headers = [(f"x-{number}", text) for number in range(15)]
    return lines_of(lambda: as_kept(200, 1, headers, text.encode(), is_whole=True))


@pytest.mark.parametrize("piece", PIECES, ids=ascii)
def test_no_answer_takes_long(piece: str) -> None:
    """Four times the text takes about four times the lines of code: its square would take sixteen times."""
    short, long = (piece * (length // len(piece)) for length in (256, 1_024))
    assert lines_of_an_answer(long) < 6 * lines_of_an_answer(short)


def test_what_is_not_masked_in_time_is_not_kept() -> None:
    """The time is over after the second of three headers."""
    asked = list[int]()

    def is_over() -> bool:
        asked.append(1)
        return len(asked) > 2

    headers = [("a", "1"), ("b", "2"), ("c", "3")]
    found = json.loads(as_kept(200, 1, headers, b"body", is_whole=True, is_over=is_over))
    assert found["headers"] == {"a": "1", "b": "2"}
    assert (found["bodyOmitted"], "body" in found) == ("no time was left to mask it", False)


def test_secrets_in_headers_are_masked(server: Server) -> None:
    headers = (f"Set-Cookie: id={SECRET}", f"X-Api-Key: {SECRET}", f"X-Request-Id: Bearer {SECRET}")
    named = (f"Content-Type: text/plain; token={SECRET}", f"X-Request-Id: Digest a=1, b={SECRET}")
    assert SECRET not in attempt(server, answered(b"", *named)).answer
    found = kept(server, answered(b"", *headers))
    assert found["headers"] == {
        "set-cookie": "***", "x-api-key": "***", "x-request-id": "***", "content-length": "0"
    }  # fmt: skip


@pytest.mark.parametrize(("more", "is_cut"), [(0, False), (1, True)])
def test_what_has_just_room_is_kept_whole(more: int, is_cut: bool) -> None:
    """A quote takes two bytes as JSON, a letter one: the whole has exactly as many as may be kept, or one more."""
    around = len(as_kept(200, 7, [], b"-", is_whole=True)) - 1
    quotes = LARGEST - around - MOST_BODY + more
    body = b'"' * quotes + b"-" * (MOST_BODY - quotes)
    found = as_kept(200, 7, [], body, is_whole=True)
    assert ("bodyCut" in found) == is_cut
    assert len(found.encode()) <= LARGEST
    assert is_cut or len(found.encode()) == LARGEST


@pytest.mark.parametrize(
    "header", ["X-Request-Id: " + "a" * 60_000, "X-Request-Id: a\r\n" * 5_000, "X: \xff\xfe\x1b[2J"]
)
def test_headers_without_end(server: Server, header: str) -> None:
    reply = raw(b"HTTP/1.1 200 OK\r\n" + header.encode("latin-1") + b"\r\n\r\n")
    result = attempt(server, reply)
    assert isinstance(result, Done)
    assert len(result.answer) < LARGEST


@pytest.mark.parametrize(
    "head",
    ["Content-Length: -1", "Content-Length: 1e9", "Content-Length: " + "9" * 5_000, "Transfer-Encoding: chunked",
     "Transfer-Encoding: gzip, chunked", "Content-Length: 5\r\nTransfer-Encoding: chunked"],
)  # fmt: skip
@pytest.mark.parametrize(
    "body", [b"", b"zz\r\nabc", b"ffffffffffffffffff\r\n", b"5\r\nab", b"-1\r\n", b"\r\n" * 700, b"5" * 3_000]
)
def test_framing_that_lies(server: Server, head: str, body: bytes) -> None:
    result = attempt(server, raw(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode() + body))
    assert isinstance(result, Done)
    assert json.loads(result.answer)["status"] == 200
