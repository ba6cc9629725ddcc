"""The control rows of signatures: the stack's keys, and the rotations of owners."""

import json
from typing import Any

import pytest

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.expressions import from_attributes
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Item, Put, row_key
from delayer.engines.store.store import Store
from delayer.schedule.instants import DAY
from delayer.schedule.schedule import MAX_OWNER
from delayer.signing import rules as of_owner
from delayer.signing.ports import SigningRows
from delayer.signing.repository import StoredSigningRows, keys_from, keys_item, rotation_from, rotation_item
from delayer.signing.rules import Rotation, SigningKeys
from tests.cfn import ROOT
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.samples import KEY, NOW

FIRST = of_owner.first_keys(KEY, NOW)
SECOND = of_owner.rotated_keys(FIRST, bytes(range(224, 256)), NOW)
ONCE = of_owner.rotated(Rotation(), NOW)
OWNERS = ["arn:aws:iam::123456789012:user/é \U0001f600", "https://issuer.example/ sub#ject", "x" * MAX_OWNER]

ADAPTER = StoredSigningRows


@pytest.fixture
def rows(store: Store) -> StoredSigningRows:
    return StoredSigningRows(store=store, table=create_table(store, "name"))


def test_a_new_stack_has_none(rows: SigningRows) -> None:
    assert rows.signing_keys() == SigningKeys()
    assert rows.rotation("anybody") == Rotation()


def test_of_two_first_keys_one_stays(rows: SigningRows) -> None:
    assert rows.write_signing_keys(FIRST, SigningKeys())
    assert not rows.write_signing_keys(of_owner.first_keys(bytes(32), NOW), SigningKeys())
    assert rows.signing_keys() == FIRST


def test_a_rotation_of_the_key_goes_over_what_was_read(rows: SigningRows) -> None:
    rows.write_signing_keys(FIRST, SigningKeys())
    assert rows.write_signing_keys(SECOND, FIRST)
    assert not rows.write_signing_keys(of_owner.rotated_keys(FIRST, bytes(32), NOW), FIRST)
    assert rows.signing_keys() == SECOND


@pytest.mark.parametrize("owner", OWNERS, ids=["unicode", "hash", "long"])
def test_a_rotation_of_an_owner_goes_over_what_was_read(rows: SigningRows, owner: str) -> None:
    """The first one, too: without a row, one has been read all the same."""
    assert rows.write_rotation(owner, ONCE, Rotation())
    assert not rows.write_rotation(owner, of_owner.rotated(Rotation(), NOW + 1), Rotation())
    assert rows.rotation(owner) == ONCE
    twice = of_owner.rotated(ONCE, NOW + DAY)
    assert rows.write_rotation(owner, twice, ONCE)
    assert rows.rotation(owner) == twice
    assert rows.rotation("another") == Rotation()


def test_a_repeat_finds_its_own(rows: SigningRows) -> None:
    """Its answer was lost, and nobody else has written."""
    for _ in range(2):
        assert rows.write_signing_keys(FIRST, SigningKeys())
        assert rows.write_rotation("a", ONCE, Rotation())
    assert (rows.signing_keys(), rows.rotation("a")) == (FIRST, ONCE)


# ------------------------------------------------------------ the adapter alone


def test_reads_are_strongly_consistent(dynamodb: Any) -> None:
    client = Wrapped(dynamodb)
    rows = StoredSigningRows(store=DynamoStore(client), table=create_table(dynamodb, "name"))
    rows.signing_keys()
    rows.rotation("a")
    assert [arguments["ConsistentRead"] for name, arguments in client.calls if name == "get_item"] == [True, True]


@pytest.mark.parametrize("error", ERRORS)
def test_what_failed_is_unavailable(error: str) -> None:
    rows = StoredSigningRows(store=DynamoStore(Failing(ERRORS[error])), table="t")
    for call in (
        rows.signing_keys,
        lambda: rows.rotation("a"),
        lambda: rows.write_signing_keys(FIRST, SigningKeys()),
        lambda: rows.write_rotation("a", ONCE, Rotation()),
    ):
        with pytest.raises(Unavailable):
            call()


@pytest.mark.parametrize("more", [{}, {"v": 2}, {"v": 1, "newest": 7}], ids=str)
def test_a_row_that_cannot_be_read_is_not_taken_for_none(store: Store, rows: StoredSigningRows, more: Item) -> None:
    """Else an old secret would sign again."""
    for name in ("signing-key", "signing#a"):
        store.write(Put(rows.table, row_key(name), more))
    with pytest.raises(Unavailable, match="signing keys that cannot be read"):
        rows.signing_keys()
    with pytest.raises(Unavailable, match="a rotation that cannot be read"):
        rows.rotation("a")


def golden(kind: str) -> Item:
    """As this version writes it. A later one has to read it."""
    return from_attributes(json.loads((ROOT / f"tests/golden/v1/signing-{kind}.json").read_text()))


def test_the_golden_keys() -> None:
    assert keys_from(golden("key")) == SECOND
    assert keys_item(SECOND) == golden("key"), "the format changed: give it a new version"


def test_keys_of_a_later_version_sign_nothing() -> None:
    """They are read by the code that has written them."""
    with pytest.raises(Unavailable, match="signing keys that cannot be read"):
        keys_from(golden("key") | {"v": 2})


def test_the_golden_rotation() -> None:
    """It holds no secret."""
    assert rotation_from(golden("rotation")) == ONCE
    assert rotation_item("a", ONCE) == golden("rotation"), "the format changed: give it a new version"
