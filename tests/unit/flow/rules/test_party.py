"""Whom a block is about."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.actions.rules.addresses import usual_resource
from delayer.flow.rules.block import EVERY, Party, host_in, party_of, target_in
from tests.samples import OWNER, a_schedule

FUNCTION = "arn:aws:lambda:eu-west-1:123456789012:function:report"
MACHINE = "arn:aws:states:eu-west-1:123456789012:stateMachine:report"
PARTIES = st.builds(Party, owner=st.text(max_size=8), target=st.text(max_size=8))


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.example.com/hook?x=1", "api.example.com"),
        ("HTTPS://API.Example.COM./", "api.example.com"),
        ("https://api.example.com:443/", "api.example.com"),
        ("http://api.example.com:80", "api.example.com"),
        ("http://api.example.com:443", "api.example.com:443"),
        ("https://api.example.com:0443/", "api.example.com"),
        ("http://api.example.com:0008080/", "api.example.com:8080"),
        ("http://api.example.com:0/", "api.example.com:0"),
        ("http://api.example.com:8080/a", "api.example.com:8080"),
        ("http://user:secret@api.example.com/", "api.example.com"),
        ("http://[::1]:9000/a", "[::1]:9000"),
        ("http://10.0.0.1/", "10.0.0.1"),
        ("https://b\u00fccher.example/", "xn--bcher-kva.example"),
        ("ftp://api.example.com", ""),
        ("", ""),
    ],
)
def test_the_host_of_a_url(url: str, host: str) -> None:
    assert host_in(url) == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0X7F.0.0.1", "017700000001"])
def test_an_address_is_one_target_however_it_is_spelled(host: str) -> None:
    """Else each spelling would have a circuit and a share of its own."""
    assert host_in(f"http://{host}:8080/") == "127.0.0.1:8080"


@pytest.mark.parametrize("host", ["2001:db8::1", "2001:DB8:0:0::1", "2001:0db8:0000:0000:0000:0000:0000:0001"])
def test_so_is_an_address_of_ipv6(host: str) -> None:
    assert host_in(f"https://[{host}]/") == "[2001:db8::1]"


def test_an_address_of_ipv4_within_ipv6_is_that_of_ipv4() -> None:
    assert host_in("http://[::ffff:10.0.0.1]/") == host_in("http://[::FFFF:a00:1]/") == "10.0.0.1"


@pytest.mark.parametrize("host", ["256.1.1.1.1", "1.2.3.4.5", "4294967296", "08", "a.1", "1..1", "[::g]"])
def test_what_is_no_address_stays_as_it_is(host: str) -> None:
    assert host_in(f"http://{host}/") == host


@pytest.mark.parametrize(
    "url",
    [
        "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs",
        "https://sqs-fips.eu-west-1.amazonaws.com/123456789012/jobs",
        "https://sqs.eu-west-1.api.aws/123456789012/jobs",
        "https://sqs-fips.eu-west-1.api.aws/123456789012/jobs",
        "https://eu-west-1.queue.amazonaws.com/123456789012/jobs",
        "arn:aws:sqs:eu-west-1:123456789012:jobs",
    ],
)
def test_a_queue_is_one_target_by_whichever_url(url: str) -> None:
    action = json.dumps({"type": "sqs-send", "queueUrl": url})
    assert target_in(action, "queueUrl") == "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs"


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (f"{FUNCTION}:live", FUNCTION),
        (f"{FUNCTION}:7", FUNCTION),
        (f"{FUNCTION}:$LATEST", FUNCTION),
        (FUNCTION, FUNCTION),
        (f"{MACHINE}:live", MACHINE),
        (MACHINE, MACHINE),
        ("arn:aws:sqs:cn-north-1:123456789012:q", "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/q"),
        ("http://127.0.0.1:4566/123456789012/q", "http://localhost:4566/123456789012/q"),
        ("http://localhost:4566/123456789012/q", "http://localhost:4566/123456789012/q"),
        ("arn:aws:sns:eu-west-1:123456789012:news", "arn:aws:sns:eu-west-1:123456789012:news"),
        ("https://hooks.example.com/a", "https://hooks.example.com/a"),
        ("", ""),
    ],
)
def test_a_version_or_an_alias_is_no_target_of_its_own(text: str, target: str) -> None:
    """AWS limits all of a function together, and an operator who suspends it means all of it."""
    assert target_in(json.dumps({"named": text}), "named") == target == usual_resource(target)


def test_the_names_below_a_domain_are_targets_of_their_own() -> None:
    """A circuit is about one host; what bounds an owner over all its hosts is its share of slots."""
    assert host_in("https://a.example.com") != host_in("https://b.example.com")


def test_the_party_of_a_schedule() -> None:
    schedule = a_schedule(action=json.dumps({"type": "http-request", "url": "https://api.example.com/x"}))
    assert party_of(schedule, "host:url") == Party(owner=OWNER, target="http-request api.example.com")
    assert party_of(schedule, "url") == Party(owner=OWNER, target="http-request https://api.example.com/x")
    assert party_of(schedule, "") == Party(owner=OWNER, target="http-request")


@pytest.mark.parametrize("action", ["", "[]", "{", '{"url": 3}', '{"url": null}', '{"other": "x"}'])
def test_an_action_that_names_no_target(action: str) -> None:
    assert target_in(action, "host:url") == target_in(action, "url") == ""


@given(PARTIES, PARTIES)
def test_no_two_parties_share_a_key(one: Party, other: Party) -> None:
    assert (one.key == other.key) == (one == other)


@given(PARTIES)
def test_what_is_said_of_all_is_said_of_each(party: Party) -> None:
    assert party.covers(party)
    assert Party(owner=EVERY, target=party.target).covers(party)
    assert Party(owner=party.owner, target=EVERY).covers(party)
    assert not Party(owner=party.owner + "x", target=EVERY).covers(party)
    assert not Party(owner=EVERY, target=party.target + "x").covers(party)
