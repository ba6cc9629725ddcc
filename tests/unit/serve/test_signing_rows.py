"""The signing keys of an engine: clear nowhere in its file, and as those of a stack in all else."""

import pytest

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.secrets import KeyRing, KeySeal, key_id
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import Put, row_key
from delayer.serve.data.signing_rows import SealedSigningRows, keys_of_signing
from delayer.signing.repository import KEYS, keys_item
from delayer.signing.rules import SigningKeys, first_keys, rotated_keys
from tests.samples import KEY, NOW

OLD, NEW = b"o" * 32, b"n" * 32
FIRST = first_keys(KEY, NOW)
SECOND = rotated_keys(FIRST, bytes(range(224, 256)), NOW)


@pytest.fixture
def store() -> SqliteStore:
    return SqliteStore(database=Database())


def sealed_by(store: SqliteStore, *keys: bytes) -> SealedSigningRows:
    return SealedSigningRows(store=store, table="control", seal=KeySeal(keys=KeyRing(keys=keys)))


def test_the_row_says_which_key_has_sealed_and_shows_no_secret(store: SqliteStore) -> None:
    rows = sealed_by(store, OLD)
    assert (rows.signing_keys(), keys_of_signing(store)) == (SigningKeys(), set())
    assert rows.write_signing_keys(FIRST, SigningKeys())
    assert (rows.signing_keys(), keys_of_signing(store)) == (FIRST, {key_id(OLD)})
    row = store.get("control", row_key(KEYS))
    assert row
    [clear] = keys_item(FIRST)["keys"]
    [sealed] = row["keys"]
    assert clear["secret"] not in str(row)
    assert {**sealed, "secret": ""} == {**clear, "secret": ""}


def test_a_rotation_goes_over_what_was_read_and_a_repeat_finds_its_own(store: SqliteStore) -> None:
    rows = sealed_by(store, OLD)
    for _ in range(2):
        assert rows.write_signing_keys(FIRST, SigningKeys())
    assert not rows.write_signing_keys(first_keys(bytes(32), NOW), SigningKeys())
    assert rows.write_signing_keys(SECOND, FIRST)
    assert not rows.write_signing_keys(rotated_keys(FIRST, bytes(32), NOW), FIRST)
    assert rows.signing_keys() == SECOND


def test_they_are_sealed_anew_with_the_newest_key(store: SqliteStore) -> None:
    sealed_by(store, OLD).renew()
    assert store.get("control", row_key(KEYS)) is None
    sealed_by(store, OLD).write_signing_keys(SECOND, SigningKeys())
    sealed_by(store, OLD, NEW).renew()
    only_new = sealed_by(store, NEW)
    assert (only_new.signing_keys(), keys_of_signing(store)) == (SECOND, {key_id(NEW)})


def test_without_the_key_nothing_is_signed(store: SqliteStore) -> None:
    sealed_by(store, OLD).write_signing_keys(FIRST, SigningKeys())
    with pytest.raises(Unavailable, match="is gone"):
        sealed_by(store, NEW).signing_keys()


def test_the_secret_of_one_version_is_not_that_of_another(store: SqliteStore) -> None:
    rows = sealed_by(store, OLD)
    rows.write_signing_keys(SECOND, SigningKeys())
    row = store.get("control", row_key(KEYS))
    assert row
    one, other = row["keys"]
    swapped = [{**one, "secret": other["secret"]}, {**other, "secret": one["secret"]}]
    store.write(Put("control", row_key(KEYS), {**row, "keys": swapped}))
    with pytest.raises(Unavailable, match="was changed"):
        rows.signing_keys()


@pytest.mark.parametrize("keys", [None, [{}], [{"version": 1, "secret": 7}], "?"], ids=str)
def test_a_row_that_is_none_is_not_taken_for_none(store: SqliteStore, keys: object) -> None:
    store.write(Put("control", row_key(KEYS), {"v": 1, "newest": 1, "keys": keys}))
    with pytest.raises(Unavailable):
        sealed_by(store, OLD).signing_keys()
