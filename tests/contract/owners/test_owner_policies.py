"""The owner policies: a row for the default, one for each owner that has its own, and a list of those."""

import json
from typing import Any

import pytest
from attrs import evolve

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.expressions import from_attributes
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Item, Put, row_key
from delayer.engines.store.store import Store
from delayer.owners.model import OwnerPolicy, StoredOwnerPolicy
from delayer.owners.ports import DEFAULT, OwnerPolicies
from delayer.owners.repository import PARTS, StoredOwnerPolicies, names_of, row_of
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.samples import GOLDEN, NOW

ADAPTER = StoredOwnerPolicies
RULES: dict[str, Any] = {"actions": ("http-request",), "hosts": ("*.example.com",), "series": None, "payloadBytes": 0}
POLICY = StoredOwnerPolicy(policy=OwnerPolicy(rules=RULES), revision=7, changed_at=NOW, by="alice")
LATER = evolve(POLICY, policy=OwnerPolicy(rules={"queues": ()}), revision=8)
OWNER = "https://issuer.example/ client-17"
LONGEST = "\u20ac" * 330 + "x"  # MAX_OWNER bytes


@pytest.fixture
def policies(store: Store) -> StoredOwnerPolicies:
    return StoredOwnerPolicies(store=store, table=create_table(store, "name"))


def row(policies: StoredOwnerPolicies) -> Item:
    """Of the owner, after a policy was written."""
    policies.write_owner_policy(OWNER, POLICY, 0)
    item = policies.store.get(policies.table, row_key(row_of(OWNER)))
    assert item is not None
    return item


def test_a_new_stack_has_none(policies: OwnerPolicies) -> None:
    assert policies.owner_policy(DEFAULT) is None
    assert policies.owner_policy(OWNER) is None
    assert list(policies.owners_with_policy()) == []


@pytest.mark.parametrize("owner", [DEFAULT, OWNER, LONGEST, "#", "anonymous"], ids=len)
def test_what_is_written_is_read(policies: OwnerPolicies, owner: str) -> None:
    assert policies.write_owner_policy(owner, POLICY, 0)
    assert policies.owner_policy(owner) == POLICY
    assert policies.write_owner_policy(owner, LATER, 7)
    assert policies.owner_policy(owner) == LATER


@pytest.mark.parametrize("owner", [DEFAULT, OWNER], ids=len)
def test_of_two_operators_the_second_is_refused(policies: OwnerPolicies, owner: str) -> None:
    assert policies.write_owner_policy(owner, POLICY, 0)
    assert not policies.write_owner_policy(owner, LATER, 0)
    assert not policies.write_owner_policy(owner, LATER, 6)
    assert not policies.remove_owner_policy(owner, 6)
    assert policies.owner_policy(owner) == POLICY


def test_the_default_says_that_owners_have_their_own(policies: OwnerPolicies) -> None:
    """It goes on to say so: what was read a moment ago must not hide a policy that is there."""
    policies.write_owner_policy(OWNER, POLICY, 0)
    assert policies.owner_policy(DEFAULT) == StoredOwnerPolicy(policy=None, has_owners=True)
    assert policies.write_owner_policy(DEFAULT, LATER, 0)
    assert policies.owner_policy(DEFAULT) == evolve(LATER, has_owners=True)
    assert policies.remove_owner_policy(DEFAULT, 8)
    assert policies.remove_owner_policy(OWNER, 7)
    assert policies.owner_policy(DEFAULT) == StoredOwnerPolicy(policy=None, has_owners=True)


@pytest.mark.parametrize("owner", [DEFAULT, OWNER], ids=len)
def test_what_was_removed_can_be_written_again(policies: OwnerPolicies, owner: str) -> None:
    policies.write_owner_policy(owner, POLICY, 0)
    assert policies.remove_owner_policy(owner, 7)
    assert not policies.remove_owner_policy(owner, 7)
    found = policies.owner_policy(owner)
    assert found is None or found.policy is None
    assert policies.write_owner_policy(owner, LATER, 0)


def test_nothing_is_removed_where_nothing_is(policies: OwnerPolicies) -> None:
    assert not policies.remove_owner_policy(OWNER, 0)
    assert policies.owner_policy(OWNER) is None


def test_the_owners_are_listed(policies: OwnerPolicies) -> None:
    """One in each part of the list, and in one of them another."""
    by_part = {names_of(owner): owner for owner in (f"owner-{number:02d}" for number in range(200))}
    assert len(by_part) == len(PARTS)
    owners = [*by_part.values(), LONGEST]
    for owner in owners:
        policies.write_owner_policy(owner, POLICY, 0)
    policies.write_owner_policy(DEFAULT, POLICY, 0)
    assert list(policies.owners_with_policy()) == sorted(owners)


@pytest.mark.parametrize("error", ERRORS)
def test_aws_fails(error: str) -> None:
    failing = StoredOwnerPolicies(store=DynamoStore(Failing(ERRORS[error])), table="t")
    with pytest.raises(Unavailable):
        failing.owner_policy(OWNER)
    with pytest.raises(Unavailable):
        failing.write_owner_policy(OWNER, POLICY, 0)
    with pytest.raises(Unavailable):
        failing.owners_with_policy()


@pytest.mark.parametrize(
    "damage",
    [{"v": 2}, {"v": "x"}, {"document": "[]"}, {"document": '{"hosts": 5}'}],
    ids=str,
)
def test_a_row_that_cannot_be_read_allows_nothing(store: Store, policies: StoredOwnerPolicies, damage: Item) -> None:
    """Nobody can tell what it says, so nothing is done."""
    store.write(Put(policies.table, row_key(row_of(OWNER)), {**row(policies), **damage}))
    with pytest.raises(Unavailable):
        policies.owner_policy(OWNER)


def test_a_rule_of_a_newer_version_is_left_out(store: Store, policies: StoredOwnerPolicies) -> None:
    item = row(policies)
    document = {**json.loads(item["document"]), "limits": [{"host": "x"}]}
    store.write(Put(policies.table, row_key(row_of(OWNER)), {**item, "document": json.dumps(document)}))
    assert policies.owner_policy(OWNER) == POLICY


def test_the_golden_row(policies: StoredOwnerPolicies) -> None:
    golden = from_attributes(json.loads((GOLDEN / "owner-policy-item.json").read_text()))
    assert row(policies) == golden, "the format changed: give it a new version"


def test_the_lists_of_owners_are_spread() -> None:
    assert len({names_of(f"owner-{number}") for number in range(500)}) == 16
