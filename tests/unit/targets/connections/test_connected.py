"""An attempt with a connection, against a real server on this machine: what is sent, and what becomes of a 401."""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, quote

import pytest
from attrs import define, evolve

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.connections.credentials import APART, KEPT, AccessTokens, Credentials
from delayer.connections.model import Connection, replaced
from delayer.connections.model import ConnectionType as Kind
from delayer.connections.repository import StoredConnections, StoredTokens
from delayer.connections.rules import Header, TokenRow, Values, basic, bearer, secret_text
from delayer.engines.memory import ManualClock, MemoryObserver, MemorySeal, MemorySecrets
from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.store import SqliteStore
from delayer.owners.known import FRESH_FOR, KnownOwnerPolicies, Reach
from delayer.owners.model import OwnerPolicy, StoredOwnerPolicy
from delayer.owners.repository import StoredOwnerPolicies
from delayer.schedule.instants import MINUTE
from delayer.targets.connected import ConnectedTarget, TokenEndpoint
from delayer.targets.http_request import HttpTarget, Request, to_keep
from tests.fakes.faults import FaultPlan, faulty
from tests.looking import all_items, all_rows, empty, put_row
from tests.samples import NOW, OWNER
from tests.tables import on_sqlite
from tests.unit.targets.server import Answer, Handler, Server, raw, status

SECRET = "S3CR3T-0123456789"
HOOK, TOKEN = "/hook", "/token"
URL = "http://crm.example/"


@define
class Stand:
    """One execution environment, and all that others share with it."""

    clock: ManualClock
    connections: StoredConnections
    secrets: MemorySecrets
    tokens: StoredTokens
    seal: MemorySeal
    observer: MemoryObserver
    policies: StoredOwnerPolicies
    server: Server
    made: int = 0

    def environment(self, *, allow_private: bool = True) -> ConnectedTarget:
        http = HttpTarget(allow_private=allow_private, resolve=lambda host, port: ["127.0.0.1"])
        tokens = AccessTokens(
            clock=self.clock,
            token_rows=self.tokens,
            seal=self.seal,
            ask=TokenEndpoint(target=http),
            reach=Reach(owner_policies=KnownOwnerPolicies(clock=self.clock, owner_policy_rows=self.policies)),
            observer=self.observer,
        )
        credentials = Credentials(clock=self.clock, connections=self.connections, secrets=self.secrets, tokens=tokens)
        return ConnectedTarget(target=http, credentials=credentials)

    def put(self, kind: Kind, **fields: str) -> None:
        """As a PUT, but for the order."""
        self.made += 1
        secret, over = f"s{self.made}", self.connections.read(OWNER, "crm")
        self.secrets.create(OWNER, secret, secret_text(OWNER, "crm", Values(type=kind, fields=fields)))
        header = fields.get("headerName", "Authorization")
        row = Connection(owner=OWNER, name="crm", type=kind, secret=secret, header=header, changed_at=self.clock.now())
        put_row(self.connections, replaced(over, row) if over else row)
        if over:
            self.secrets.delete(OWNER, over.secret)

    def put_oauth(self, **fields: str) -> None:
        url = f"http://idp.example:{self.server.server_port}{TOKEN}"
        given = {"tokenUrl": url, "clientId": "a b", "clientSecret": SECRET, **fields}
        self.put(Kind.OAUTH2, **given)

    def attempt(
        self, target: ConnectedTarget | None = None, timeout: float = 5, keep: Any = None, **headers: str
    ) -> Result:
        url = f"http://crm.example:{self.server.server_port}{HOOK}"
        request = Request(url=url, method="POST", headers=headers, timeout=timeout, keep=keep)
        message: Any = Message(action=None, payload="{}", schedule_id="id", owner=OWNER, point_in_time=NOW, attempt=1)
        return (target or self.environment()).send(request, message, "crm")

    def sent(self, path: str = HOOK) -> list[dict[str, str]]:
        """The headers of what arrived there."""
        return [headers for _, at, headers, _ in self.server.requests if at == path]


from delayer.actions.rules.model import Message  # noqa: E402 - a name that the class above only annotates


@pytest.fixture
def stand(server: Server) -> Iterator[Stand]:
    items = SqliteStore()
    made = Stand(
        clock=ManualClock(NOW),
        connections=on_sqlite(StoredConnections, items),
        secrets=MemorySecrets(),
        tokens=on_sqlite(StoredTokens, items),
        seal=MemorySeal(),
        observer=MemoryObserver(),
        policies=on_sqlite(StoredOwnerPolicies),
        server=server,
    )
    yield made
    written = repr((made.observer, all_items(made.connections), all_items(made.tokens)))
    assert SECRET not in written
    assert "t-1" not in written


def kept(stand: Stand) -> TokenRow:
    """The token of the connection, as others find it."""
    row = stand.tokens.read(OWNER, "crm")
    assert row
    return row


def for_hosts(stand: Stand, *hosts: str) -> None:
    put_row(stand.connections, evolve(all_rows(stand.connections)[OWNER, "crm"], hosts=hosts))


@pytest.mark.parametrize("hosts", [("another.example",), ("crm.example",), ("*.crm.example:*",)], ids=str)
def test_nothing_is_sent_to_a_host_that_the_connection_is_not_for(stand: Stand, hosts: tuple[str, ...]) -> None:
    """The port is another one than that of the scheme, too. No token is fetched."""
    for kind in (Kind.BEARER, Kind.OAUTH2):
        if kind is Kind.OAUTH2:
            stand.put_oauth()
        else:
            stand.put(kind, token=SECRET)
        for_hosts(stand, *hosts)
        result = stand.attempt()
        assert isinstance(result, Refused)
        host = f"crm.example:{stand.server.server_port}"
        assert result.detail == f"the connection crm is not for this host: {host}"
        assert not result.reached
    assert stand.server.requests == []


def test_a_connection_without_hosts_goes_on(stand: Stand) -> None:
    stand.put(Kind.BEARER, token=SECRET)
    assert isinstance(stand.attempt(), Done)
    for_hosts(stand, "crm.example:*")
    assert isinstance(stand.attempt(), Done)


def test_hosts_that_are_put_meanwhile_hold_for_the_new_value(stand: Stand) -> None:
    """The secret is replaced, with other hosts, between the read of the row and that of the value."""
    stand.put(Kind.BEARER, token="t-old")

    class Replaced(MemorySecrets):
        def read(self, owner: str, secret: str) -> str | None:
            if stand.made == 1:
                stand.put(Kind.BEARER, token=SECRET)
                for_hosts(stand, "another.example")
            return super().read(owner, secret)

    target = stand.environment()
    secrets = Replaced(stand.secrets.texts)
    result = stand.attempt(evolve(target, credentials=evolve(target.credentials, secrets=secrets)))
    assert isinstance(result, Refused)
    assert stand.sent() == []


def test_a_target_that_redirects_to_another_host_sends_the_value_nowhere(stand: Stand) -> None:
    stand.put(Kind.BEARER, token=SECRET)
    for_hosts(stand, "crm.example:*")
    there = f"http://another.example:{stand.server.server_port}/there"
    stand.server.reply = raw(f"HTTP/1.1 307 There\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n".encode())
    assert isinstance(stand.attempt(), Refused)
    assert [path for _, path, _, _ in stand.server.requests] == [HOOK]


def both(hook: Answer, token: Answer) -> Answer:
    """A server that is target and token endpoint."""

    def reply(handler: Handler) -> None:
        (token if handler.path == TOKEN else hook)(handler)

    return reply


def issuing(**fields: Any) -> Answer:
    """A token endpoint: t-1, t-2 …"""
    issued = [0]

    def reply(handler: Handler) -> None:
        issued[0] += 1
        body = json.dumps({"access_token": f"t-{issued[0]}", "token_type": "bearer", "expires_in": 3600, **fields})
        raw(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())(handler)

    return reply


def only(value: str) -> Answer:
    """A target that takes this header alone."""

    def reply(handler: Handler) -> None:
        status(204 if handler.headers.get("Authorization") == value else 401)(handler)

    return reply


# ------------------------------------------------------------ values


@pytest.mark.parametrize(
    ("kind", "fields", "header", "value"),
    [
        (Kind.API_KEY, {"headerName": "X-Api-Key", "value": SECRET}, "x-api-key", SECRET),
        (
            Kind.BASIC,
            {"username": "a", "password": "b"},
            "authorization",
            "Basic YTpi",
        ),
        (Kind.BEARER, {"token": SECRET}, "authorization", f"Bearer {SECRET}"),
    ],
)
def test_each_type_sets_its_header(stand: Stand, kind: Kind, fields: dict[str, str], header: str, value: str) -> None:
    stand.put(kind, **fields)
    assert stand.attempt(Accept="text/plain") == Done("HTTP 204")
    [sent] = stand.sent()
    assert (sent[header], sent["accept"]) == (value, "text/plain")


def test_the_connection_wins_over_a_header_by_hand(stand: Stand) -> None:
    """It is refused when the schedule is accepted; but the connection may have been another one then."""
    stand.put(Kind.BEARER, token="b")
    assert stand.attempt(AUTHORIZATION="by hand") == Done("HTTP 204")
    assert stand.sent()[0]["authorization"] == "Bearer b"


def test_a_deleted_connection_is_the_end(stand: Stand) -> None:
    assert stand.attempt() == Refused("the connection crm was deleted", reached=False)
    assert stand.sent() == []


def test_a_replaced_value_is_sent_from_then_on(stand: Stand) -> None:
    """The row is read for each attempt; values are kept by their secret, which never changes."""
    target = stand.environment()
    for number in ("1", "2"):
        stand.put(Kind.BEARER, token=number)
        assert stand.attempt(target) == Done("HTTP 204")
    assert [sent["authorization"] for sent in stand.sent()] == ["Bearer 1", "Bearer 2"]


def test_a_value_is_read_once_in_minutes(stand: Stand) -> None:
    """From before it was asked for on: who answers slowly answers with a value of that time."""
    read: list[str] = []

    class Counting(MemorySecrets):
        def read(self, owner: str, secret: str) -> str | None:
            read.append(secret)
            text = super().read(owner, secret)
            stand.clock.sleep_until(NOW + MINUTE)
            return text

    stand.put(Kind.BEARER, token="b")
    stand.secrets = Counting(stand.secrets.texts)
    target = stand.environment()
    for _ in range(3):
        stand.attempt(target)
    assert read == ["s1"]
    stand.clock.sleep_until(NOW + 5 * MINUTE)
    stand.attempt(target)
    assert read == ["s1", "s1"]


def test_what_is_kept_is_bounded(stand: Stand) -> None:
    credentials = stand.environment().credentials
    for number in range(KEPT + 50):
        name = f"c{number}"
        values = Values(type=Kind.BEARER, fields={"token": "b"})
        stand.secrets.create(OWNER, name, secret_text(OWNER, name, values))
        row = Connection(owner=OWNER, name=name, type=Kind.BEARER, secret=name, header="Authorization")
        put_row(stand.connections, row)
        credentials.of(OWNER, name, URL, lambda: 1.0)
    stand.secrets.texts.clear()
    newest, oldest = (credentials.of(OWNER, one, URL, lambda: 1.0) for one in (f"c{KEPT + 49}", "c0"))
    assert type(newest) is not type(oldest)
    assert isinstance(oldest, Retry), "it is read again, and is gone"


def rotate(stand: Stand, token: str) -> None:
    """In Secrets Manager itself."""
    stand.secrets.texts[OWNER, "s1"] = secret_text(OWNER, "crm", Values(type=Kind.BEARER, fields={"token": token}))


def test_a_value_that_an_operator_has_changed_is_read_anew_after_a_401(stand: Stand) -> None:
    """In the same attempt, though it was read a moment ago."""
    stand.put(Kind.BEARER, token="old")
    target = stand.environment()
    assert stand.attempt(target) == Done("HTTP 204")
    stand.server.reply = only("Bearer new")
    rotate(stand, "new")
    assert [stand.attempt(target) for _ in range(2)] == [Done("HTTP 204")] * 2
    assert [sent["authorization"] for sent in stand.sent()] == ["Bearer old"] * 2 + ["Bearer new"] * 2


def counted(stand: Stand, takes: float = 0) -> list[str]:
    """The secrets that are read from now on, each in so many seconds."""
    read: list[str] = []

    class Counting(MemorySecrets):
        def read(self, owner: str, secret: str) -> str | None:
            read.append(secret)
            time.sleep(takes)
            return super().read(owner, secret)

    stand.secrets = Counting(stand.secrets.texts)
    return read


def test_a_401_that_stays_costs_no_second_request_and_a_read_in_ten_seconds(stand: Stand) -> None:
    stand.put(Kind.BEARER, token="old")
    read = counted(stand)
    stand.server.reply = status(401)
    target = stand.environment()
    assert [stand.attempt(target) for _ in range(5)] == [Refused("HTTP 401")] * 5
    assert (len(read), len(stand.sent())) == (2, 5), "the first read, and one after a 401"
    rotate(stand, "new")
    stand.server.reply = only("Bearer new")
    assert stand.attempt(target) == Refused("HTTP 401"), "read a moment ago because of a 401"
    stand.clock.sleep_until(NOW + APART)
    assert stand.attempt(target) == Done("HTTP 204")
    assert len(read) == 3


def test_of_many_attempts_that_are_refused_at_the_same_time_one_reads_and_all_have_the_new_value(stand: Stand) -> None:
    stand.put(Kind.BEARER, token="old")
    target = stand.environment()
    assert stand.attempt(target) == Done("HTTP 204")
    rotate(stand, "new")
    together, read = threading.Barrier(5), counted(stand, takes=0.04)
    target = evolve(target, credentials=evolve(target.credentials, secrets=stand.secrets))
    target.credentials.of(OWNER, "crm", URL, lambda: 1.0)
    rotate(stand, "newer")

    def reply(handler: Handler) -> None:
        if handler.headers.get("Authorization") == "Bearer new":
            together.wait(5)
        only("Bearer newer")(handler)

    stand.server.reply = reply
    results: list[Result] = []
    attempts = [threading.Thread(target=lambda: results.append(stand.attempt(target))) for _ in range(5)]
    for one in attempts:
        one.start()
    for one in attempts:
        one.join()
    assert (results, len(read)) == ([Done("HTTP 204")] * 5, 2)


def test_nobody_waits_for_the_value_of_another_owner(stand: Stand) -> None:
    """A read that hangs holds up only the attempts with the very same value."""
    stand.put(Kind.BEARER, token="old")
    connection, secrets = all_rows(stand.connections)[OWNER, "crm"], stand.secrets
    put_row(stand.connections, evolve(connection, owner="another", secret="s-other"))
    secrets.create("another", "s-other", secret_text("another", "crm", Values(type=Kind.BEARER, fields={"token": "b"})))
    reading, go_on = threading.Event(), threading.Event()

    class Slow:
        def read(self, owner: str, secret: str) -> str | None:
            if owner == OWNER:
                reading.set()
                go_on.wait(5)
            return secrets.read(owner, secret)

    credentials = evolve(stand.environment().credentials, secrets=Slow())  # type: ignore[arg-type] # it has what is called
    rejected = Header(name="Authorization", value="Bearer older")
    first = threading.Thread(target=lambda: credentials.again(OWNER, "crm", URL, rejected, lambda: 5.0))
    first.start()
    assert reading.wait(5)
    try:
        assert credentials.again("another", "crm", URL, rejected, lambda: 0.0) == bearer("b")
        assert credentials.again(OWNER, "crm", URL, rejected, lambda: 0.0) is None, "its value is being read"
    finally:
        go_on.set()
        first.join()


def test_a_put_during_the_attempt_is_seen_after_a_401(stand: Stand) -> None:
    stand.put(Kind.BEARER, token="old")

    def reply(handler: Handler) -> None:
        if stand.made == 1:
            stand.put(Kind.BEARER, token="new")
        only("Bearer new")(handler)

    stand.server.reply = reply
    assert stand.attempt() == Done("HTTP 204")


def test_a_deleted_connection_after_a_401_is_a_401(stand: Stand) -> None:
    stand.put(Kind.BEARER, token="old")

    def reply(handler: Handler) -> None:
        empty(stand.connections)
        status(401)(handler)

    stand.server.reply = reply
    assert stand.attempt() == Refused("HTTP 401")


@pytest.mark.parametrize("broken", ["connections", "secrets"])
def test_without_aws_no_attempt_is_made(stand: Stand, broken: str) -> None:
    stand.put(Kind.BEARER, token="b")

    class Down:
        def read(self, owner: str, name: str) -> None:
            raise Unavailable("read")

    changed: Any = {broken: Down()}
    credentials = evolve(stand.environment().credentials, **changed)
    with pytest.raises(NotAttempted):
        stand.attempt(evolve(stand.environment(), credentials=credentials))
    assert stand.sent() == []


def test_a_secret_that_is_not_there_yet_is_waited_for_and_one_that_is_gone_is_said(stand: Stand) -> None:
    stand.put(Kind.BEARER, token="b")
    stand.secrets.texts.clear()
    with pytest.raises(NotAttempted):
        stand.attempt()
    stand.clock.sleep_until(NOW + MINUTE)
    gone = "the connection crm has no value any more: PUT it again"
    assert stand.attempt() == Retry(detail=gone, reached=False)


def test_a_row_that_leads_to_the_secret_of_another_leads_nowhere(stand: Stand) -> None:
    stand.put(Kind.BEARER, token="b")
    values = Values(type=Kind.BEARER, fields={"token": SECRET})
    stand.secrets.texts[OWNER, "s1"] = secret_text("another", "crm", values)
    assert isinstance(stand.attempt(), Retry)
    assert stand.sent() == []


# ------------------------------------------------------------ what a target sends back

ECHOED = {
    "api-key": (Kind.API_KEY, {"headerName": "X-Api-Key", "value": SECRET}, SECRET),
    "bearer": (Kind.BEARER, {"token": SECRET}, f"Bearer {SECRET}"),
    "bearer alone": (Kind.BEARER, {"token": SECRET}, SECRET),
    "basic": (Kind.BASIC, {"username": "joe", "password": SECRET}, basic("joe", SECRET)),
    "the base64 alone": (Kind.BASIC, {"username": "joe", "password": SECRET}, basic("joe", SECRET)[6:]),
    "a password": (Kind.BASIC, {"username": "joe", "password": SECRET}, f"joe:{SECRET}"),
    "as JSON": (Kind.BEARER, {"token": f'{SECRET}"/'}, json.dumps(f'{SECRET}"/').replace("/", "\\/")),
    "in a URL": (Kind.BEARER, {"token": f"{SECRET}+/="}, quote(f"{SECRET}+/=", safe="")),
}


@pytest.mark.parametrize("before", [0, 1_000, 1_015])
@pytest.mark.parametrize("case", ECHOED)
def test_a_target_that_sends_back_what_it_got_leaves_nothing_of_it_in_the_history(
    stand: Stand, case: str, before: int
) -> None:
    """Nor half of it, where what is kept is cut."""
    kind, fields, echo = ECHOED[case]
    stand.put(kind, **fields)
    body = f"{'-' * before} {echo} {'-' * 2_000}"
    head = f"HTTP/1.1 200 OK\r\nX-Request-Id: got {echo}\r\nContent-Length: {len(body)}\r\n\r\n"
    stand.server.reply = raw(f"{head}{body}".encode())
    result = stand.attempt(keep=to_keep([]))
    shown = json.loads(result.answer)
    assert shown["headers"]["x-request-id"].strip('"') in ("got ***", 'got "***')
    assert (shown["body"][:before], shown["bodyCut"]) == ("-" * before, True)
    texts = {echo, SECRET, basic("joe", SECRET)[6:]}
    assert not [one for text in texts for at in range(len(text) - 3) if (one := text[at : at + 4]) in result.answer]


def test_after_a_401_the_value_before_is_not_kept_either(stand: Stand) -> None:
    stand.put(Kind.BEARER, token=SECRET)

    def reply(handler: Handler) -> None:
        if stand.made == 1:
            stand.put(Kind.BEARER, token="new-value")
            status(401)(handler)
        else:
            raw(f"HTTP/1.1 200 OK\r\n\r\n{SECRET} new-value".encode())(handler)

    stand.server.reply = reply
    assert json.loads(stand.attempt(keep=to_keep([])).answer)["body"] == "*** ***"


def test_the_secrets_of_a_request_are_not_printed() -> None:
    assert SECRET not in repr(Request(url="", method="", headers={}, timeout=1, secrets={SECRET}))


# ------------------------------------------------------------ tokens


@pytest.mark.parametrize("way", ["basic", "body"])
def test_a_token_is_asked_for_as_the_rfc_says(stand: Stand, way: str) -> None:
    stand.put_oauth(scope="a b", audience="https://crm", clientAuthentication=way)
    stand.server.reply = both(only("Bearer t-1"), issuing())
    assert stand.attempt() == Done("HTTP 204")
    [(method, _, headers, body)] = [one for one in stand.server.requests if one[1] == TOKEN]
    form = {name: value for name, [value] in parse_qs(body.decode()).items()}
    assert (method, headers["content-type"]) == ("POST", "application/x-www-form-urlencoded")
    assert (form["grant_type"], form["scope"], form["audience"]) == ("client_credentials", "a b", "https://crm")
    assert form.get("client_secret") == (SECRET if way == "body" else None)
    assert headers.get("authorization", "").startswith("Basic ") == (way == "basic")


def test_one_token_serves_all_environments(stand: Stand) -> None:
    stand.put_oauth()
    stand.server.reply = both(only("Bearer t-1"), issuing())
    assert [stand.attempt(stand.environment()) for _ in range(5)] == [Done("HTTP 204")] * 5
    assert len(stand.sent(TOKEN)) == 1


def test_a_token_that_is_refused_is_renewed_once_a_minute(stand: Stand) -> None:
    stand.put_oauth()
    stand.server.reply = both(only("Bearer t-2"), issuing())
    assert stand.attempt() == Refused("HTTP 401"), "it was fetched a moment ago"
    assert len(stand.sent(TOKEN)) == 1
    stand.clock.sleep_until(NOW + MINUTE)
    assert stand.attempt() == Done("HTTP 204")
    assert len(stand.sent(TOKEN)) == 2


def set_policy(stand: Stand, **rules: Any) -> None:
    """Of the owner; and ten seconds pass."""
    stored = stand.policies.owner_policy(OWNER)
    over = stored.revision if stored else 0
    new = StoredOwnerPolicy(policy=OwnerPolicy(rules=rules), revision=over + 1)
    assert stand.policies.write_owner_policy(OWNER, new, over)
    stand.clock.sleep_until(stand.clock.now() + FRESH_FOR)


def test_a_token_url_that_the_owner_policy_forbids_by_now_is_not_reached(stand: Stand) -> None:
    """Nor is the token used that it has issued before."""
    stand.put_oauth()
    stand.server.reply = both(status(204), issuing())
    target = stand.environment()
    set_policy(stand, hosts=("crm.example:*",))
    refused = stand.attempt(target)
    assert isinstance(refused, Refused)
    assert refused.detail == (
        "the token URL of the connection crm: the owner policy forbids it, by its rule hosts: "
        f"idp.example:{stand.server.server_port}"
    )
    assert stand.server.requests == []
    set_policy(stand, hosts=("crm.example:*", "idp.example:*"))
    assert stand.attempt(target) == Done("HTTP 204")
    set_policy(stand, hosts=("crm.example:*",))
    assert isinstance(stand.attempt(target), Refused)
    assert (len(stand.sent(TOKEN)), len(stand.sent())) == (1, 1)


def test_a_connection_without_tokens_asks_no_policy(stand: Stand) -> None:
    plan = FaultPlan()
    stand.policies = faulty(stand.policies, plan)
    stand.put(Kind.BEARER, token="b")
    stand.attempt()
    assert plan.seen == []


def test_who_comes_while_it_is_fetched_waits_for_it(stand: Stand) -> None:
    stand.put_oauth()
    begun, waits = threading.Event(), threading.Event()

    def slow(handler: Handler) -> None:
        begun.set()
        waits.wait(20)
        issuing()(handler)

    stand.server.reply = both(only("Bearer t-1"), slow)
    results: list[Result] = []
    first = threading.Thread(target=lambda: results.append(stand.attempt()))
    first.start()
    assert begun.wait(20)

    class Waiting(ManualClock):
        def sleep_until(self, instant: int) -> None:
            waits.set()
            first.join(20)

    stand.clock = Waiting(NOW)
    results.append(stand.attempt())
    first.join()
    assert results == [Done("HTTP 204")] * 2
    assert len(stand.sent(TOKEN)) == 1


def test_whose_fetcher_died_comes_again(stand: Stand) -> None:
    """And no target is told of it: the message waits."""
    stand.put_oauth()
    put_row(stand.tokens, TokenRow(owner=OWNER, name="crm", secret="s1", fetched_at=NOW))
    with pytest.raises(NotAttempted):
        stand.attempt(timeout=20)
    stand.clock.sleep_until(NOW + MINUTE)
    stand.server.reply = both(only("Bearer t-1"), issuing())
    assert stand.attempt(timeout=20) == Done("HTTP 204")


def test_a_token_that_another_key_has_sealed_is_fetched_anew(stand: Stand) -> None:
    stand.put_oauth()
    stand.server.reply = both(status(204), issuing())
    assert stand.attempt() == Done("HTTP 204")
    stand.seal.key = "2"
    with pytest.raises(NotAttempted):
        stand.attempt()
    stand.clock.sleep_until(NOW + MINUTE)
    assert stand.attempt() == Done("HTTP 204")
    assert [sent["authorization"] for sent in stand.sent()] == ["Bearer t-1", "Bearer t-2"]


def endless(handler: Handler) -> None:
    """Ten gigabytes, if somebody reads them."""
    with contextlib.suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
        for _ in range(100_000):
            handler.wfile.write(b"x" * 100_000)
    handler.close_connection = True


def hanging(handler: Handler) -> None:
    """Until the other side has given up."""
    handler.connection.settimeout(20)
    with contextlib.suppress(OSError):
        handler.connection.recv(1)
    handler.close_connection = True


def dripping(handler: Handler) -> None:
    with contextlib.suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        for _ in range(30):
            handler.wfile.write(b"x")
            time.sleep(0.05)
    handler.close_connection = True


HOSTILE: dict[str, tuple[Answer, str]] = {
    "hangs": (hanging, "in time"),
    "drips": (dripping, "in time"),
    "never ends": (endless, "more than 65,536 bytes"),
    "redirects": (status(302, Location="/hook"), "redirects are not followed"),
    "refuses": (status(401), "HTTP 401"),
    "is no JSON": (raw(b"HTTP/1.1 200 OK\r\n\r\n<html>"), "no JSON"),
    "is no HTTP": (raw(b"220 smtp.example ESMTP\r\n"), "not HTTP"),
    "closes": (raw(b""), "closed"),
    "has many headers": (raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n"), "not HTTP"),
    "has a long header": (raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n"), "not HTTP"),
    "lies about its length": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"), "closed"),
    "has bad chunks": (raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "not HTTP"),
    "issues a megabyte": (issuing(access_token="t" * 60_000), "more than 8,192 characters"),
    "issues for ever": (issuing(expires_in=10**12), "expires_in"),
    "issues a header": (issuing(access_token="t-1\r\nX-Admin: 1"), "characters"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_token_endpoint_is_a_failed_attempt_with_a_reason(stand: Stand, case: str) -> None:
    """Others are told the same for a minute, and ask nothing."""
    token, reason = HOSTILE[case]
    stand.put_oauth()
    stand.server.reply = both(status(204), token)
    began = time.monotonic()
    result = stand.attempt(timeout=0.6)
    assert time.monotonic() - began < 1.4
    assert isinstance(result, Retry)
    assert result.detail.startswith("no token for the connection crm: ")
    assert reason in result.detail
    if reason != "in time":
        again = stand.attempt(timeout=0.6)
        assert isinstance(again, Retry)
        assert (again.detail, again.after_seconds) == (result.detail, 60)
    assert (len(stand.sent(TOKEN)), stand.sent()) == (1, [])


def test_a_fetch_that_a_short_attempt_has_cut_off_is_nobody_elses_failure(stand: Stand) -> None:
    """And it counts for the minute. Others, who have more time, wait for the next one."""
    stand.put_oauth()
    stand.server.reply = both(only("Bearer t-1"), hanging)
    assert isinstance(stand.attempt(timeout=0.3), Retry)
    assert kept(stand).failure == ""
    with pytest.raises(NotAttempted):
        stand.attempt(timeout=20)
    assert len(stand.sent(TOKEN)) == 1
    stand.clock.sleep_until(NOW + MINUTE)
    stand.server.reply = both(only("Bearer t-1"), issuing())
    assert stand.attempt(timeout=20) == Done("HTTP 204")


def test_a_token_is_used_though_it_cannot_be_kept(stand: Stand) -> None:
    """Neither the key nor the table answers: what was fetched serves this attempt, and others wait for a minute."""

    class NoKey(MemorySeal):
        def sealed(self, text: str, about: str) -> str:
            raise Unavailable("read the key of tokens")

    class NoSecondWrite(StoredTokens):
        def write(self, row: TokenRow, over: TokenRow | None) -> bool:
            if over is not None and over.fetched_at == row.fetched_at:
                raise Unavailable("write token")
            return super().write(row, over)

    stand.put_oauth()
    stand.server.reply = both(status(204), issuing())
    whole = stand.seal, stand.tokens
    for broken in ((NoKey(), stand.tokens), (stand.seal, on_sqlite(NoSecondWrite, stand.tokens.store))):
        stand.seal, stand.tokens = broken
        assert stand.attempt(timeout=20) == Done("HTTP 204")
        stand.seal, stand.tokens = whole
        with pytest.raises(NotAttempted):
            stand.attempt(timeout=20)
        stand.clock.sleep_until(stand.clock.now() + MINUTE)
    assert stand.observer.warnings == ["token not kept"] * 2
    assert [sent["authorization"] for sent in stand.sent()] == ["Bearer t-1", "Bearer t-2"]


def test_a_failure_that_cannot_be_noted_is_a_failure_all_the_same(stand: Stand) -> None:
    class NoSecondWrite(StoredTokens):
        def write(self, row: TokenRow, over: TokenRow | None) -> bool:
            if row.failure:
                raise Unavailable("write token")
            return super().write(row, over)

    stand.put_oauth()
    stand.server.reply = both(status(204), status(500))
    stand.tokens = on_sqlite(NoSecondWrite)
    result = stand.attempt(timeout=20)
    assert isinstance(result, Retry)
    assert "HTTP 500" in result.detail


def test_who_has_little_time_leaves_it_to_others_to_renew_a_valid_token(stand: Stand) -> None:
    stand.put_oauth()
    stand.server.reply = both(status(204), issuing())
    assert stand.attempt(timeout=5) == Done("HTTP 204")
    stand.clock.sleep_until(kept(stand).fresh_until)
    assert stand.attempt(timeout=5) == Done("HTTP 204")
    assert len(stand.sent(TOKEN)) == 1
    assert stand.attempt(timeout=20) == Done("HTTP 204")
    assert [sent["authorization"] for sent in stand.sent()] == ["Bearer t-1", "Bearer t-1", "Bearer t-2"]


@pytest.mark.parametrize(("left", "fetched"), [(9.4, 1), (9.5, 2)])
def test_nine_and_a_half_seconds_are_enough_to_renew_a_token(stand: Stand, left: float, fetched: int) -> None:
    stand.put_oauth()
    stand.server.reply = both(status(204), issuing())
    credentials = stand.environment().credentials
    credentials.of(OWNER, "crm", URL, lambda: 20.0)
    stand.clock.sleep_until(kept(stand).fresh_until)
    credentials.of(OWNER, "crm", URL, lambda: left)
    assert len(stand.sent(TOKEN)) == fetched


def test_a_token_endpoint_with_a_private_address_is_not_reached(stand: Stand) -> None:
    stand.put_oauth()
    result = stand.attempt(stand.environment(allow_private=False))
    assert isinstance(result, Retry)
    assert "not a public address" in result.detail
    assert stand.server.requests == []
