"""Clients with the rights of a role: each owner's own, for a while; and calls that are not repeated."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import Factory, define
from hypothesis import given
from hypothesis import strategies as st

from delayer.engines.aws import target_clients
from delayer.engines.aws.start import shared_session
from delayer.engines.aws.target_clients import (
    EARLIER,
    MOST_ROLES,
    NoExternalId,
    RoleCredentials,
    Roles,
    external_id,
    kept_target_client,
    target_client,
)

ROLE = "arn:aws:iam::210987654321:role/orders"
HOUR = 3600


@define
class Sts:
    """Gives credentials for an hour, and notes for whom."""

    now: float = 1_000_000.0
    asked: list[dict[str, str]] = Factory(list)

    def assume_role(self, **arguments: str) -> dict[str, Any]:
        self.asked.append(arguments)
        number = len(self.asked)
        return {
            "Credentials": {
                "AccessKeyId": f"AKIA{number}",
                "SecretAccessKey": f"secret {number}",
                "SessionToken": f"token {number}",
                "Expiration": datetime.fromtimestamp(self.now + HOUR, UTC),
            }
        }


def roles_at(sts: Sts) -> Roles:
    return Roles(sts=lambda: sts, clock=lambda: sts.now)


def test_a_role_is_assumed_with_the_owner_as_its_external_id() -> None:
    sts = Sts()
    roles_at(sts).assume(ROLE, "arn:aws:iam::123456789012:user/somebody", "delayer-prod")
    assert sts.asked == [
        {
            "RoleArn": ROLE,
            "RoleSessionName": "delayer-prod",
            "ExternalId": "arn:aws:iam::123456789012:user/somebody",
        }
    ]


def test_it_is_assumed_again_five_minutes_before_its_credentials_expire() -> None:
    sts = Sts()
    roles = roles_at(sts)
    first = roles.assume(ROLE, "somebody", "s")
    sts.now += HOUR - EARLIER - 1
    assert roles.assume(ROLE, "somebody", "s") == first
    sts.now += 1
    assert roles.assume(ROLE, "somebody", "s") != first
    assert (EARLIER, len(sts.asked)) == (300, 2)


owners = st.text(min_size=1, max_size=40) | st.sampled_from(["a b", "a=20b", "a=3D20b", "https://issuer/ sub|1"])


@given(st.lists(st.tuples(st.sampled_from([ROLE, f"{ROLE}-2"]), owners), max_size=20))
def test_no_owner_gets_the_credentials_of_another(calls: list[tuple[str, str]]) -> None:
    """In whatever order they come."""
    sts, given_to = Sts(), dict[str, tuple[str, str]]()
    roles = roles_at(sts)
    for role, owner in calls:
        try:
            key = roles.assume(role, owner, "s").access_key
        except NoExternalId:
            continue
        assert given_to.setdefault(key, (role, owner)) == (role, owner)


@given(owners, owners)
def test_no_two_owners_have_the_same_external_id(one: str, other: str) -> None:
    found = []
    for owner in {one, other}:
        try:
            found.append(external_id(owner))
        except (NoExternalId, UnicodeEncodeError):
            continue
        assert re.fullmatch(r"[\w+=,.@:/-]{2,1224}", found[-1], re.ASCII), "as STS has it"
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        ("arn:aws:iam::123456789012:role/a/b+c,d.e@f_g-h", "arn:aws:iam::123456789012:role/a/b+c,d.e@f_g-h"),
        ("https://issuer.example/ auth0|17", "https://issuer.example/=20auth0=7C17"),
        ("a=b", "a=3Db"),
        ("\u00e4", "=C3=A4"),
    ],
)
def test_the_owner_is_written_as_sts_takes_it(owner: str, expected: str) -> None:
    assert external_id(owner) == expected


@pytest.mark.parametrize("owner", ["a", "a" * 1225, " " * 409])
def test_an_owner_that_sts_does_not_take_has_no_external_id(owner: str) -> None:
    sts = Sts()
    with pytest.raises(NoExternalId, match="from 2 to 1,224 are allowed"):
        roles_at(sts).assume(ROLE, owner, "s")
    assert sts.asked == []


def test_the_credentials_of_many_owners_are_not_all_kept() -> None:
    """Those that were used last are."""
    sts = Sts()
    roles = roles_at(sts)
    for number in range(MOST_ROLES + 1):
        roles.assume(ROLE, f"owner-{number}", "s")
        roles.assume(ROLE, "owner-0", "s")
    assert len(sts.asked) == MOST_ROLES + 1
    roles.assume(ROLE, "owner-1", "s")
    assert len(sts.asked) == MOST_ROLES + 2


def test_a_secret_is_in_no_repr() -> None:
    assert "secret" not in repr(roles_at(Sts()).assume(ROLE, "somebody", "s"))


@pytest.fixture
def made_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    shared_session.cache_clear()  # one that other tests have made has their credentials
    kept_target_client.cache_clear()
    yield
    kept_target_client.cache_clear()


def signed_with(client: Any) -> tuple[str, str]:
    """The access key and the token in a signed URL."""
    url = client.generate_presigned_url("list_topics")
    given = parse_qs(urlsplit(url).query)
    key, token = given.get("X-Amz-Credential"), given.get("X-Amz-Security-Token", [""])
    return key[0].partition("/")[0] if key else "", token[0]


@pytest.mark.usefixtures("made_here")
def test_a_client_has_the_credentials_of_its_role_and_of_no_other() -> None:
    one, other = (
        RoleCredentials(access_key=key, secret_key="s", token=f"of {key}", expires=0) for key in ("one", "other")
    )
    clients = [target_client("sns", "eu-west-1", role=role) for role in (one, other, None, one)]
    expected = [("one", "of one"), ("other", "of other"), ("test", ""), ("one", "of one")]
    assert [signed_with(client) for client in clients] == expected
    assert clients[0] is clients[3]


@pytest.mark.usefixtures("made_here")
def test_a_client_that_waits_calls_once() -> None:
    config = target_client("lambda", "us-east-2", once=("Invoke",), seconds=25).meta.config
    assert (config.read_timeout, config.retries["total_max_attempts"], config.region_name) == (25, 1, "us-east-2")
    other = target_client("lambda", "us-east-2", once=("Invoke",)).meta.config
    assert (other.read_timeout, other.retries["total_max_attempts"]) == (2, 3)


@pytest.mark.usefixtures("made_here")
def test_what_a_role_needs_leaves_time_for_the_attempt() -> None:
    """An attempt has 30 seconds: STS, and 25 for a function; or STS, a question about the target, and the call."""
    sts = target_clients.sts_client().meta.config
    once = sts.connect_timeout + sts.read_timeout
    thrice = 3 * once + 1 + 2
    assert sts.retries["total_max_attempts"] == 1
    assert once + sts.connect_timeout + 25 <= 30
    assert once + thrice + thrice <= 30
