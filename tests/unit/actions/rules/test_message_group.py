"""One slow target or one busy owner must not hold up the others: both make a message group, and a few of each owner."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.actions.rules.message_group import AT_MOST, message_group_of
from tests.samples import NOW, a_schedule

QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012"


def group_of(action: str, owner: str = "a") -> str:
    return message_group_of(a_schedule(NOW, owner=owner, action=action))


def http(url: str, **more: object) -> str:
    return json.dumps({"type": "http-request", **more, "url": url})


def sqs(queue: str) -> str:
    return json.dumps({"type": "sqs-send", "queueUrl": f"{QUEUE}/{queue}"})


@pytest.mark.parametrize(
    "other",
    [
        "https://target.example/other?x=1",
        "http://target.example:8080",
        "https://TARGET.Example/",
        "https://target.example./",
        "https://one.target.example/",
        "https://two.of.many.target.example/",
        "https://user:password@target.example/",
        "https://target.example?@other.example/",
        "https://target.example#.other.example",
        "\\u0068ttps://target.example/",
    ],
)
def test_one_site_is_one_message_group_however_it_is_written(other: str) -> None:
    one = group_of(http("https://target.example/hook"))
    assert group_of(http(other).replace("\\\\u", "\\u")) == one


def test_a_name_in_other_letters_is_the_same_name() -> None:
    assert group_of(http("https://b\u00fccher.example/")) == group_of(http("https://xn--bcher-kva.example/"))


SITES = [f"https://target-{at}.example/" for at in range(100)]


def test_only_the_url_of_the_action_itself_counts() -> None:
    """A header named `url` before it made any number of groups for one target."""
    real = group_of(http("https://target.example/"))
    for other in SITES:
        assert group_of(http("https://target.example/", headers={"url": other, "queueUrl": other})) == real
        assert group_of(http("https://target.example/", method='"url":"' + other)) == real


def test_targets_are_spread_over_a_few_groups_of_their_owner() -> None:
    """However many names, addresses and queues an owner uses: it cannot be more than so many neighbours."""
    names = {group_of(http(url)) for url in SITES}
    queues = {group_of(sqs(f"delayer-target-{at}")) for at in range(100)}
    addresses = {group_of(http(f"http://10.0.{at}.1/")) for at in range(100)}
    assert len(names) == len(queues) == len(addresses) == AT_MOST
    others = {group_of(json.dumps({"type": "ours", "topic": at})) for at in range(100)}
    assert len(others) == 1
    assert len(names | queues | addresses | others) == AT_MOST


def test_owners_are_message_groups_of_their_own() -> None:
    groups = [{group_of(http(url), owner) for url in SITES} for owner in ("a", "b")]
    assert not groups[0] & groups[1]


@given(st.text(), st.text(), st.text())
def test_whatever_the_action_is_it_has_a_message_group_that_sqs_takes(action: str, url: str, owner: str) -> None:
    for text in (action, http(url), json.dumps({"url": [url]}), json.dumps([url]), http(f"http://{url}/")):
        group = group_of(text, owner or "a")
        assert group.isalnum()
        assert len(group) == 32
