"""The control row that says by which claim owners are named."""

import pytest

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Put
from delayer.engines.store.store import Store
from delayer.owners.admission import OwnerClaim
from delayer.owners.ports import KeepsOwnerClaim
from delayer.owners.repository import KEY, StoredOwnerClaim
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.samples import NOW

ADAPTER = StoredOwnerClaim


@pytest.fixture
def claims(store: Store) -> StoredOwnerClaim:
    return StoredOwnerClaim(store=store, table=create_table(store, "name"))


def test_a_new_stack_has_none(claims: KeepsOwnerClaim) -> None:
    assert claims.owner_claim() is None


def test_what_is_written_is_read(claims: KeepsOwnerClaim) -> None:
    for one in (
        OwnerClaim(claim=""),
        OwnerClaim(claim="org", issuer="i", before="sub", issuer_before="j", changed_at=NOW),
    ):
        claims.write_owner_claim(one)
        assert claims.owner_claim() == one


@pytest.mark.parametrize("error", ERRORS)
def test_aws_fails(error: str) -> None:
    failing = StoredOwnerClaim(store=DynamoStore(Failing(ERRORS[error])), table="t")
    with pytest.raises(Unavailable):
        failing.owner_claim()
    with pytest.raises(Unavailable):
        failing.write_owner_claim(OwnerClaim(claim="sub"))


def test_a_row_of_a_newer_version_decides_nothing(store: Store, claims: StoredOwnerClaim) -> None:
    store.write(Put(claims.table, KEY, {"v": 2}))
    with pytest.raises(Unavailable):
        claims.owner_claim()


def test_the_row_says_all_and_is_read_without_it(store: Store, claims: StoredOwnerClaim) -> None:
    """What is empty is stored, too; what is missing is empty."""
    claims.write_owner_claim(OwnerClaim(claim=""))
    empty = {"claim": "", "issuer": "", "before": "", "issuerBefore": "", "changedAt": 0}
    assert store.get(claims.table, KEY) == {**KEY, "v": 1, **empty}
    store.write(Put(claims.table, KEY, {"v": 1}))
    assert claims.owner_claim() == OwnerClaim(claim="")
