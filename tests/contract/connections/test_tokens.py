"""The row of a token: whoever writes it first, fetches."""

from typing import Any

import pytest
from attrs import evolve

from delayer.connections.repository import StoredTokens, token_from, token_item, token_key
from delayer.connections.rules import TokenRow
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Put
from delayer.engines.store.store import Store
from delayer.schedule.instants import DAY, SECOND
from tests.contract.conftest import create_table
from tests.samples import NOW, OWNER

ADAPTER = StoredTokens
FIRST = TokenRow(owner=OWNER, name="crm", secret="s1", fetched_at=NOW)
HELD = evolve(FIRST, sealed="c2VhbGVk", fresh_until=NOW + 1, expires_at=NOW + 2, revision=2)


@pytest.fixture
def rows(store: Store) -> StoredTokens:
    return StoredTokens(store=store, table=create_table(store, "list", "entry"))


def test_one_of_two_writes_it_and_the_other_knows(rows: StoredTokens) -> None:
    assert rows.read(OWNER, "crm") is None
    assert rows.write(FIRST, None)
    assert not rows.write(evolve(FIRST, fetched_at=NOW + 1), None)
    assert rows.read(OWNER, "crm") == FIRST
    assert rows.write(HELD, FIRST)
    assert not rows.write(evolve(FIRST, failure="HTTP 500", revision=2), FIRST)
    assert rows.read(OWNER, "crm") == HELD


def test_a_repeated_write_is_done(rows: StoredTokens) -> None:
    assert rows.write(FIRST, None)
    assert rows.write(FIRST, None)


@pytest.mark.parametrize("other", [{"secret": "s2"}, {"fetched_at": NOW + 1}], ids=["values", "fetch"])
def test_a_row_of_the_same_revision_may_be_another(rows: StoredTokens, other: dict[str, Any]) -> None:
    """The connection was removed, with its token, and was made again, while somebody fetched for the old one."""
    again = evolve(FIRST, **other)
    assert rows.write(again, None)
    assert not rows.write(HELD, FIRST)
    assert rows.read(OWNER, "crm") == again
    assert rows.write(evolve(again, revision=2), again)


def test_each_owner_has_a_row_of_its_own(rows: StoredTokens) -> None:
    assert rows.write(FIRST, None)
    assert rows.read("another", "crm") is None


def test_what_fails_says_so(dynamodb: Any) -> None:
    missing = StoredTokens(store=DynamoStore(dynamodb), table="no-such-table")
    with pytest.raises(Unavailable):
        missing.read(OWNER, "crm")
    with pytest.raises(Unavailable):
        missing.write(FIRST, None)


def test_a_row_of_a_later_version_is_written_over_when_its_minute_is_over(rows: StoredTokens) -> None:
    rows.store.write(Put(rows.table, token_key(OWNER, "crm"), token_item(HELD) | {"v": 2}))
    found = rows.read(OWNER, "crm")
    assert found == TokenRow(owner=OWNER, name="crm", secret="", fetched_at=NOW, revision=2)
    assert rows.write(evolve(HELD, revision=3), found)


def test_what_a_later_version_has_made_of_it_need_not_be_a_number(rows: StoredTokens) -> None:
    rows.store.write(Put(rows.table, token_key(OWNER, "crm"), {"v": 2, "fetchedAt": "now"}))
    assert rows.read(OWNER, "crm") == TokenRow(owner=OWNER, name="crm", secret="", fetched_at=0)


def test_all_numbers_are_stored_and_those_of_a_fetch_may_be_missing() -> None:
    item = token_item(FIRST)
    assert item == {
        **token_key(OWNER, "crm"),
        "v": 1,
        "secret": "s1",
        "fetchedAt": NOW,
        "freshUntil": 0,
        "validUntil": 0,
        "revision": 1,
        "expiresAt": (NOW + 2 * DAY) // SECOND,
    }
    few = {name: item[name] for name in ("v", "secret", "revision")}
    assert token_from(OWNER, "crm", few) == evolve(FIRST, fetched_at=0)
    with pytest.raises(Unavailable):
        token_from(OWNER, "crm", {**few, "revision": 0})
