"""Makes a new key for the secrets of a folder, and encrypts them anew with it, while no engine runs there."""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from attrs import frozen

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import Broken, Database
from delayer.engines.sqlite.secrets import KeyRing, KeySeal, SqliteSecrets
from delayer.engines.sqlite.store import SqliteStore
from delayer.serve.data.folder import DATABASE, DataFolder, open_folder
from delayer.serve.data.keys import KEYS, VARIABLE, add_key, keys_in_use, open_keys
from delayer.serve.data.layout import opened, unusable_database
from delayer.serve.data.signing_rows import SealedSigningRows, place
from delayer.serve.refusal import Refusal
from delayer.serve.turns.machine import LAYOUT


@frozen(kw_only=True)
class Renewed:
    """Says what became of the secrets."""

    key: str  # the id of the newest
    values: int  # of connections that were encrypted anew
    former: tuple[str, ...]  # the ids of keys that no row needs any more


def renew_keys(path: Path, environment: Mapping[str, str] = os.environ) -> Renewed:
    """The new key is the newest of the environment, or else one that is made and added to the file. The former ones
    stay: what was copied before needs them. Raises Refusal.

    If it is cut off, all rows are as they were or all are renewed; then it is repeated, with one key more.
    """
    if not (path / DATABASE).is_file():
        do = "Name the folder of an engine with --data"
        raise Refusal(what="There is no database of an engine in the folder", where=str(path), do=do)
    with closing(open_folder(path)) as folder, _opened(folder) as database:
        file = folder.path / KEYS
        keys = open_keys(file, environment, keys_in_use(database))
        if not environment.get(VARIABLE):
            add_key(file)
            keys = open_keys(file, environment, keys.ids)
        return _renewed(database, keys)


@contextmanager
def _opened(folder: DataFolder) -> Iterator[Database]:
    try:
        with closing(opened(folder, LAYOUT)) as database:
            yield database
    except (Broken, Unavailable, sqlite3.Error) as error:
        raise unusable_database(folder, error) from error


def _renewed(database: Database, keys: KeyRing) -> Renewed:
    seal = KeySeal(keys=keys)
    with database.writing():
        values = SqliteSecrets(database=database, keys=keys).renew()
        SealedSigningRows(**place(SqliteStore(database=database)), seal=seal).renew()
    return Renewed(key=keys.newest, values=values, former=tuple(sorted(keys.ids - {keys.newest})))
