"""The keys of secrets: an engine begins with all that its rows need, or says which one is missing; they are renewed."""

import sqlite3
from base64 import b64encode
from pathlib import Path

import pytest

from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.secrets import KeyRing, KeySeal, SqliteSecrets, key_id
from delayer.engines.sqlite.store import SqliteStore
from delayer.serve.data.folder import DATABASE, open_folder
from delayer.serve.data.keys import KEYS, VARIABLE, keys_in_use, open_keys
from delayer.serve.data.renewal import renew_keys
from delayer.serve.data.signing_rows import SealedSigningRows, place
from delayer.serve.door.address import Listening
from delayer.serve.refusal import Refusal
from delayer.serve.service import Options, serve
from delayer.serve.turns.machine import LAYOUT
from delayer.signing.rules import SigningKeys, first_keys
from tests.samples import KEY, NOW

VALUE = "k-0123456789"
OTHER = b"o" * 32
SIGNING = first_keys(KEY, NOW)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With the value of a connection, and a signing key."""
    open_folder(tmp_path).close()
    database = Database(path=str(tmp_path / DATABASE), layout=LAYOUT)
    keys = open_keys(tmp_path / KEYS, {}, ())
    SqliteSecrets(database=database, keys=keys).create("owner", "s1", VALUE)
    SealedSigningRows(**place(SqliteStore(database=database)), seal=KeySeal(keys=keys)).write_signing_keys(
        SIGNING, SigningKeys()
    )
    assert keys_in_use(database) == keys.ids
    database.close()
    return tmp_path


def read(folder: Path, keys: KeyRing) -> tuple[str | None, SigningKeys]:
    database = Database(path=str(folder / DATABASE), layout=LAYOUT)
    signing = SealedSigningRows(**place(SqliteStore(database=database)), seal=KeySeal(keys=keys)).signing_keys()
    value = SqliteSecrets(database=database, keys=keys).read("owner", "s1")
    database.close()
    return value, signing


def refused(folder: Path, environment: dict[str, str]) -> Refusal:
    with pytest.raises(Refusal) as raised:
        serve(Options(data=folder, listening=Listening(port=0)), environment)
    open_folder(folder).close()  # nothing of it is left open
    return raised.value


@pytest.mark.parametrize("table", ["secrets", "items"])
def test_without_a_key_that_rows_need_no_engine_begins(folder: Path, table: str) -> None:
    """The sentence says which one, and no new key takes its place."""
    needed = open_keys(folder / KEYS, {}, ()).newest
    with sqlite3.connect(folder / DATABASE) as connection:
        connection.execute(f"DELETE FROM {table}")
    (folder / KEYS).unlink()
    gone = refused(folder, {})
    assert (gone.status, gone.where) == (2, str(folder / KEYS))
    assert "is gone" in str(gone)
    assert not (folder / KEYS).exists()
    another = refused(folder, {VARIABLE: b64encode(OTHER).decode()})
    assert (another.status, another.where) == (2, VARIABLE)
    assert needed in another.what
    assert "Put the former keys back" in another.do


def test_a_new_key_encrypts_all_and_the_former_one_can_go(folder: Path) -> None:
    former = open_keys(folder / KEYS, {}, ())
    done = renew_keys(folder, {})
    assert (done.values, done.former) == (1, (former.newest,))
    both = open_keys(folder / KEYS, {}, ())
    assert both.keys[0] == former.keys[0]
    assert both.newest == done.key
    only_new = KeyRing(keys=both.keys[1:])
    assert read(folder, only_new) == (VALUE, SIGNING)


def test_a_key_of_the_environment_is_taken_as_it_is(folder: Path) -> None:
    former = (folder / KEYS).read_text().strip()
    (folder / KEYS).unlink()
    done = renew_keys(folder, {VARIABLE: f"{former} {b64encode(OTHER).decode()}"})
    assert (done.key, done.values) == (key_id(OTHER), 1)
    assert not (folder / KEYS).exists()
    assert read(folder, KeyRing(keys=(OTHER,))) == (VALUE, SIGNING)


def test_cut_off_it_is_repeated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is there, and no row is half renewed."""

    def killed(_rows: SealedSigningRows) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SealedSigningRows, "renew", killed)
        with pytest.raises(KeyboardInterrupt):
            renew_keys(folder, {})
    keys = open_keys(folder / KEYS, {}, ())
    assert read(folder, KeyRing(keys=keys.keys[:1])) == (VALUE, SIGNING)
    assert renew_keys(folder, {}).values == 1
    assert len(open_keys(folder / KEYS, {}, ()).keys) == 3


def test_while_an_engine_runs_nothing_is_renewed(folder: Path) -> None:
    running = open_folder(folder)
    with pytest.raises(Refusal, match="Another engine"):
        renew_keys(folder, {})
    running.close()
    assert len(open_keys(folder / KEYS, {}, ()).keys) == 1


def test_where_there_is_none_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="no database of an engine") as raised:
        renew_keys(tmp_path / "d", {})
    assert raised.value.status == 2
    assert not (tmp_path / "d").exists()


def test_what_is_damaged_is_a_sentence(folder: Path) -> None:
    content = bytearray((folder / DATABASE).read_bytes())
    content[4096:] = b"?" * (len(content) - 4096)
    (folder / DATABASE).write_bytes(content)
    with pytest.raises(Refusal, match="cannot be read"):
        renew_keys(folder, {})
