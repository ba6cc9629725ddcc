"""Secrets on SQLite: clear nowhere, of one key each, and in the place of nothing else."""

import pytest

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.secrets import SECRETS, KeyRing, KeySeal, SqliteSecrets, keys_of_values

OLD, NEW = b"o" * 32, b"n" * 32
VALUE = "k-0123456789"


@pytest.fixture
def database() -> Database:
    return Database(layout=SECRETS)


def kept(database: Database, *keys: bytes) -> SqliteSecrets:
    return SqliteSecrets(database=database, keys=KeyRing(keys=keys))


def test_no_row_shows_a_value(database: Database) -> None:
    secrets = kept(database, OLD)
    secrets.create("owner", "s1", VALUE)
    assert secrets.read("owner", "s1") == VALUE
    [(sealed,)] = database.read("SELECT sealed FROM secrets", ())
    assert VALUE.encode() not in sealed
    assert OLD.decode() not in repr(secrets)


@pytest.mark.parametrize("other", [("owner", "s2"), ("another", "s1"), ("owners", "1")])
def test_a_row_in_the_place_of_another_is_not_read(database: Database, other: tuple[str, str]) -> None:
    """Whoever may write the file cannot give an owner the secret of another one."""
    secrets = kept(database, OLD)
    secrets.create("owner", "s1", VALUE)
    database.write("UPDATE secrets SET owner = ?, name = ?", other)
    with pytest.raises(Unavailable) as raised:
        secrets.read(*other)
    assert VALUE not in str(raised.value)


def test_the_newest_key_encrypts_and_the_older_ones_still_decrypt(database: Database) -> None:
    kept(database, OLD).create("owner", "s1", VALUE)
    both = kept(database, OLD, NEW)
    both.create("owner", "s2", VALUE)
    assert both.read("owner", "s1") == both.read("owner", "s2") == VALUE
    assert keys_of_values(database) == both.keys.ids
    assert kept(database, NEW).read("owner", "s2") == VALUE
    with pytest.raises(Unavailable, match="is not there"):
        kept(database, NEW).read("owner", "s1")


def test_a_key_that_no_row_needs_can_go(database: Database) -> None:
    kept(database, OLD).create("owner", "s1", VALUE)
    both = kept(database, OLD, NEW)
    assert both.renew() == 1
    assert both.renew() == 0
    only_new = kept(database, NEW)
    assert keys_of_values(database) == {only_new.keys.newest}
    assert only_new.read("owner", "s1") == VALUE


def test_a_token_is_opened_by_its_key_and_is_no_secret(database: Database) -> None:
    """Of two things with the same words about them, neither passes for the other."""
    seal = KeySeal(keys=KeyRing(keys=(OLD,)))
    sealed = seal.sealed(VALUE, "owner\ncrm\ns1")
    assert KeySeal(keys=KeyRing(keys=(OLD, NEW))).opened(sealed, "owner\ncrm\ns1") == VALUE
    assert KeySeal(keys=KeyRing(keys=(NEW,))).opened(sealed, "owner\ncrm\ns1") is None
    secrets = kept(database, OLD)
    secrets.create("owner", "s1", VALUE)
    [(encrypted,)] = database.read("SELECT sealed FROM secrets", ())
    assert secrets.keys.decrypted(secrets.keys.newest, encrypted, b"secret\n5\nowners1") == VALUE
    assert secrets.keys.decrypted(secrets.keys.newest, encrypted, b"token\n5\nowners1") is None


@pytest.mark.parametrize("keys", [(), (b"short",), (OLD, b"l" * 33)])
def test_a_key_has_32_bytes(keys: tuple[bytes, ...]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the text is that of attrs
        KeyRing(keys=keys)
