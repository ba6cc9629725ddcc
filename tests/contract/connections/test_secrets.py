"""Secrets: made once, read, and gone at once."""

from collections.abc import Callable
from typing import Any

import pytest

from delayer.engines.aws.secrets import SecretsManager, owner_hash
from delayer.engines.memory import MemorySecrets
from delayer.engines.ports import Secrets, Unavailable
from delayer.engines.sqlite.secrets import SECRETS, KeyRing, SqliteSecrets
from tests.clients import ERRORS, Failing
from tests.contract.conftest import Aws
from tests.contract.engines import OnSqlite
from tests.samples import OWNER

ADAPTER = SecretsManager
VALUE = "k-0123456789"
KEYS = KeyRing(keys=(b"k" * 32,))


@pytest.fixture
def secrets(engine: Aws | OnSqlite | None, request: pytest.FixtureRequest) -> Secrets:
    if isinstance(engine, OnSqlite):
        return SqliteSecrets(database=engine.database(SECRETS), keys=KEYS)
    if engine is None:
        return MemorySecrets()
    prefix = f"{request.node.name.partition('[')[0]}/connections"
    return SecretsManager(secretsmanager=engine("secretsmanager"), prefix=prefix)


def test_what_was_made_is_read(secrets: Secrets) -> None:
    assert secrets.read(OWNER, "s1") is None
    secrets.create(OWNER, "s1", VALUE)
    assert secrets.read(OWNER, "s1") == VALUE
    assert secrets.read("another", "s1") is None


def test_to_make_it_again_changes_nothing(secrets: Secrets) -> None:
    secrets.create(OWNER, "s1", VALUE)
    secrets.create(OWNER, "s1", "another")
    assert secrets.read(OWNER, "s1") == VALUE


def test_what_is_deleted_is_gone_and_to_delete_it_again_is_no_error(secrets: Secrets) -> None:
    secrets.create(OWNER, "s1", VALUE)
    secrets.delete(OWNER, "s1")
    assert secrets.read(OWNER, "s1") is None
    secrets.delete(OWNER, "s1")
    secrets.delete(OWNER, "never there")


def test_what_is_marked_for_deletion_by_an_operator_is_not_there(aws: Aws) -> None:
    client = aws("secretsmanager")
    secrets = SecretsManager(secretsmanager=client, prefix="marked/connections")
    secrets.create(OWNER, "s1", VALUE)
    client.delete_secret(SecretId=f"marked/connections/{owner_hash(OWNER)}/s1", RecoveryWindowInDays=7)
    assert secrets.read(OWNER, "s1") is None


@pytest.mark.parametrize("error", sorted(set(ERRORS) - {"ResourceNotFoundException"}))
def test_what_fails_says_so_without_a_word_of_the_value(error: str) -> None:
    secrets = SecretsManager(secretsmanager=Failing(ERRORS[error]), prefix="stack/connections")
    calls: list[Callable[[], object]] = [
        lambda: secrets.create(OWNER, "s1", VALUE),
        lambda: secrets.read(OWNER, "s1"),
        lambda: secrets.delete(OWNER, "s1"),
    ]
    for call in calls:
        with pytest.raises(Unavailable) as raised:
            call()
        assert VALUE not in repr(raised.value)
        assert raised.value.__cause__ is None


def test_no_name_of_a_secret_has_the_name_of_an_owner() -> None:
    asked: list[Any] = []

    class Noting:
        def create_secret(self, **arguments: Any) -> None:
            asked.append(arguments)

    SecretsManager(secretsmanager=Noting(), prefix="stack/connections").create(OWNER, "s1", VALUE)  # type: ignore[arg-type] # one call of it
    [made] = asked
    assert made["Name"] == f"stack/connections/{owner_hash(OWNER)}/s1"
    assert "somebody" not in made["Name"]
    assert made["Tags"] == [{"Key": "delayer:connection", "Value": "stack"}]
