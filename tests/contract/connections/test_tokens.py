"""The row of a token: whoever writes it first, fetches."""

from typing import Any

import pytest
from attrs import evolve

from delayer.aws.connections.tokens import DynamoTokens, token_item
from delayer.core.connections.tokens import TokenRow
from delayer.fakes import MemoryTokens
from delayer.ports.tokens import TokenRows
from delayer.ports.unavailable import Unavailable
from tests.contract.conftest import create_table
from tests.samples import NOW, OWNER

ADAPTER = DynamoTokens
FIRST = TokenRow(owner=OWNER, name="crm", secret="s1", fetched_at=NOW)
HELD = evolve(FIRST, sealed="c2VhbGVk", fresh_until=NOW + 1, expires_at=NOW + 2, revision=2)


@pytest.fixture
def rows(dynamodb_or_fake: Any) -> TokenRows:
    if dynamodb_or_fake is None:
        return MemoryTokens()
    return DynamoTokens(dynamodb=dynamodb_or_fake, table=create_table(dynamodb_or_fake, "list", "entry"))


def test_one_of_two_writes_it_and_the_other_knows(rows: TokenRows) -> None:
    assert rows.read(OWNER, "crm") is None
    assert rows.write(FIRST, None)
    assert not rows.write(evolve(FIRST, fetched_at=NOW + 1), None)
    assert rows.read(OWNER, "crm") == FIRST
    assert rows.write(HELD, FIRST)
    assert not rows.write(evolve(FIRST, failure="HTTP 500", revision=2), FIRST)
    assert rows.read(OWNER, "crm") == HELD


def test_a_repeated_write_is_done(rows: TokenRows) -> None:
    assert rows.write(FIRST, None)
    assert rows.write(FIRST, None)


@pytest.mark.parametrize("other", [{"secret": "s2"}, {"fetched_at": NOW + 1}], ids=["values", "fetch"])
def test_a_row_of_the_same_revision_may_be_another(rows: TokenRows, other: dict[str, Any]) -> None:
    """The connection was removed, with its token, and was made again, while somebody fetched for the old one."""
    again = evolve(FIRST, **other)
    assert rows.write(again, None)
    assert not rows.write(HELD, FIRST)
    assert rows.read(OWNER, "crm") == again
    assert rows.write(evolve(again, revision=2), again)


def test_each_owner_has_a_row_of_its_own(rows: TokenRows) -> None:
    assert rows.write(FIRST, None)
    assert rows.read("another", "crm") is None


def test_what_fails_says_so(dynamodb: Any) -> None:
    missing = DynamoTokens(dynamodb=dynamodb, table="no-such-table")
    with pytest.raises(Unavailable):
        missing.read(OWNER, "crm")
    with pytest.raises(Unavailable):
        missing.write(FIRST, None)


def test_a_row_of_a_later_version_is_written_over_when_its_minute_is_over(dynamodb: Any) -> None:
    rows = DynamoTokens(dynamodb=dynamodb, table=create_table(dynamodb, "list", "entry"))
    dynamodb.put_item(TableName=rows.table, Item=token_item(HELD) | {"v": {"N": "2"}})
    found = rows.read(OWNER, "crm")
    assert found == TokenRow(owner=OWNER, name="crm", secret="", fetched_at=NOW, revision=2)
    assert rows.write(evolve(HELD, revision=3), found)
