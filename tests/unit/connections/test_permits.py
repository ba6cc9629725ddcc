"""An owner policy and the quotas of an owner are asked by the calls about connections, too."""

import json
from typing import Any

import pytest

from delayer.actions.ports import NotAttempted
from delayer.connections.admission import admit_connection
from delayer.connections.credentials import PermitTest
from delayer.connections.put_and_delete import ConnectionPut
from delayer.engines.ports import Unavailable
from delayer.flow.rules.block import EVERY, Party, opened
from delayer.flow.words import suspended
from delayer.http.problem import Invalid
from delayer.owners.model import NotAllowed
from delayer.owners.rules import OverQuota, Quotas
from delayer.wiring.build import build
from delayer.wiring.use_cases import put_connection
from tests.looking import all_notes, all_rows
from tests.samples import OWNER
from tests.unit.owners.test_policies_at_work import set_policy
from tests.world import World

BEARER: dict[str, Any] = {"type": "bearer", "token": "t"}
HOSTS = ("api.example.com", "idp.example.com")


def oauth(url: str) -> dict[str, str]:
    return {"type": "oauth2-client-credentials", "tokenUrl": url, "clientId": "c", "clientSecret": "s"}


def put(world: World, fields: dict[str, Any], owner: str = OWNER) -> Any:
    return put_connection(world.ports("put"))(admit_connection(json.dumps(fields).encode()), owner, "crm")


def tried(world: World, url: str = "https://api.example.com/", owner: str = OWNER) -> bool:
    return build(PermitTest, world.ports("test"))(owner, "crm", url)


def refused(call: Any) -> tuple[str, str]:
    with pytest.raises(NotAllowed) as caught:
        call()
    return caught.value.forbidden.rule, caught.value.forbidden.field


@pytest.mark.parametrize(
    ("rules", "url", "expected"),
    [
        ({"hosts": HOSTS}, "https://idp.example.org/token", ("hosts", "tokenUrl")),
        ({"hosts": HOSTS}, "https://idp.example.com:8443/token", ("hosts", "tokenUrl")),
        ({"hosts": HOSTS}, "https://2130706433/token", ("hosts", "tokenUrl")),
        ({"hosts": ()}, "https://idp.example.com/token", ("hosts", "tokenUrl")),
        ({"actions": ("sqs-send",)}, "https://idp.example.com/token", ("actions", "tokenUrl")),
    ],
)
def test_a_put_of_a_forbidden_token_url_is_refused_and_leaves_nothing(
    rules: dict[str, Any], url: str, expected: tuple[str, str]
) -> None:
    world = World()
    set_policy(world, OWNER, **rules)
    assert refused(lambda: put(world, oauth(url))) == expected
    assert (all_rows(world.connections), all_notes(world.connections), world.secrets.texts) == ({}, [], {})
    assert isinstance(put(world, oauth(url), "another"), ConnectionPut), "another owner is not concerned"


def test_a_put_of_an_allowed_token_url_or_of_none_is_taken() -> None:
    world = World()
    set_policy(world, hosts=HOSTS)
    assert isinstance(put(world, oauth("https://idp.example.com/token?k=v")), ConnectionPut)
    assert isinstance(put(world, BEARER), ConnectionPut)


def test_a_test_reaches_what_a_schedule_of_the_owner_may_reach() -> None:
    world = World()
    put(world, BEARER)
    assert tried(world, "https://api.example.org/")
    set_policy(world, OWNER, hosts=HOSTS)
    assert refused(lambda: tried(world, "https://api.example.org/")) == ("hosts", "url")
    assert refused(lambda: tried(world, "https://api.example.com@api.example.org/")) == ("hosts", "url")
    assert tried(world)
    set_policy(world, OWNER, actions=("sqs-send",), hosts=HOSTS)
    assert refused(lambda: tried(world)) == ("actions", "url")


def test_a_test_asks_about_the_token_url_again() -> None:
    """Also if the query of the URL, which is not shown, has another host in it."""
    world = World()
    put(world, oauth("https://idp.example.org/token?k=https://idp.example.com/"))
    set_policy(world, hosts=HOSTS)
    assert refused(lambda: tried(world)) == ("hosts", "tokenUrl")


def test_without_a_connection_nothing_is_spent() -> None:
    world = World(limits=Quotas(creates_per_minute=1))
    assert not tried(world)
    put(world, BEARER)
    assert tried(world)


@pytest.mark.parametrize("of", ["stack", "policy"])
def test_a_test_counts_as_a_creation(of: str) -> None:
    world = World(limits=Quotas(creates_per_minute=2 if of == "stack" else 100))
    put(world, BEARER)
    if of == "policy":
        set_policy(world, OWNER, createsPerMinute=2)
    assert tried(world)
    action = {"type": "http-request", "url": "https://api.example.com/"}
    world.accept(json.dumps({"delaySeconds": 60, "action": action}).encode(), OWNER)
    with pytest.raises(OverQuota):
        tried(world)


def test_a_test_for_another_host_is_refused_and_spends_nothing() -> None:
    world = World(limits=Quotas(creates_per_minute=1))
    put(world, {**BEARER, "hosts": ["api.example.com"]})
    for _ in range(3):
        with pytest.raises(Invalid) as raised:
            tried(world, "https://api.example.org/")
        assert [error.field for error in raised.value.errors] == ["url"]
    assert tried(world)


def test_what_is_refused_spends_nothing() -> None:
    world = World()
    put(world, BEARER)
    set_policy(world, OWNER, hosts=HOSTS, createsPerMinute=1)
    for _ in range(3):
        refused(lambda: tried(world, "https://api.example.org/"))
    assert tried(world)


@pytest.mark.parametrize(
    ("owner", "target", "is_tried"),
    [
        (OWNER, EVERY, False),
        (EVERY, "http-request api.example.com", False),
        (EVERY, "http-request idp.example.com:8443", False),
        (OWNER, "http-request idp.example.com:8443", False),
        ("another", EVERY, True),
        ("another", "http-request api.example.com", True),
        (EVERY, "http-request api.example.org", True),
    ],
)
def test_what_is_suspended_is_not_tested(owner: str, target: str, is_tried: bool) -> None:
    """Neither the URL nor the token URL is reached, and nothing is spent."""
    world = World(limits=Quotas(creates_per_minute=1))
    put(world, oauth("https://idp.example.com:8443/token"))
    block = suspended(Party(owner=owner, target=target), world.clock.now(), "maintenance", "ann")
    assert world.blocks.change(block)
    if is_tried:
        assert tried(world)
        return
    for _ in range(2):
        with pytest.raises(NotAttempted, match="maintenance"):
            tried(world)
    assert world.blocks.remove(block)
    assert tried(world)


def test_an_open_circuit_stops_no_test() -> None:
    """A test says why a target does not answer."""
    world = World()
    put(world, BEARER)
    party = Party(owner=OWNER, target="http-request api.example.com")
    assert world.blocks.change(opened(party, world.clock.now(), "HTTP 503"))
    assert tried(world)


def test_a_policy_that_cannot_be_read_allows_nothing() -> None:
    world = World()
    put(world, BEARER)

    class Down:
        def of(self, owner: str) -> None:
            raise Unavailable("read owner policy")

    world.owner_policies = Down()  # type: ignore[assignment]
    with pytest.raises(Unavailable):
        put(world, oauth("https://idp.example.com/"))
    with pytest.raises(Unavailable):
        tried(world)
