"""The control row that says by which claim owners are named."""

from typing import Any

import pytest

from delayer.aws.owners.owner_claim import KEY, DynamoOwnerClaim
from delayer.core.owners.claim import OwnerClaim
from delayer.fakes import MemoryOwnerClaim
from delayer.ports.owner_claim import KeepsOwnerClaim
from delayer.ports.unavailable import Unavailable
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.samples import NOW

ADAPTER = DynamoOwnerClaim


def adapter(dynamodb: Any) -> DynamoOwnerClaim:
    return DynamoOwnerClaim(dynamodb=dynamodb, table=create_table(dynamodb, "name"))


@pytest.fixture
def claims(dynamodb_or_fake: Any) -> KeepsOwnerClaim:
    return MemoryOwnerClaim() if dynamodb_or_fake is None else adapter(dynamodb_or_fake)


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
    failing = DynamoOwnerClaim(dynamodb=Failing(ERRORS[error]), table="t")
    with pytest.raises(Unavailable):
        failing.owner_claim()
    with pytest.raises(Unavailable):
        failing.write_owner_claim(OwnerClaim(claim="sub"))


def test_a_row_of_a_newer_version_decides_nothing(dynamodb: Any) -> None:
    port = adapter(dynamodb)
    dynamodb.put_item(TableName=port.table, Item={**KEY, "v": {"N": "2"}})
    with pytest.raises(Unavailable):
        port.owner_claim()
