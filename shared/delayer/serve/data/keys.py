"""Reads the keys that encrypt secrets: from the environment, or from a file that nobody else may read."""

import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.secrets import KEY_BYTES, KeyRing, keys_of_values
from delayer.engines.sqlite.store import SqliteStore
from delayer.serve.data.folder import FULL, OTHERS, write_durably
from delayer.serve.data.signing_rows import keys_of_signing
from delayer.serve.refusal import Refusal

KEYS: Final = "secrets.key"  # the file in the folder
VARIABLE: Final = "DELAYER_SECRETS_KEY"


def open_keys(path: Path, environment: Mapping[str, str], in_use: Iterable[str]) -> KeyRing:
    """The keys of the environment; without such a variable, those of the file, which is made if nothing is encrypted.

    Either holds one key or several, the newest last, with white space between: 32 bytes each, in Base64. `in_use`
    has the ids of the keys that rows need. Raises Refusal if one of them is missing, or if others may read the file.
    """
    needed = set(in_use)
    if text := environment.get(VARIABLE, ""):
        keys, where = parsed(text, VARIABLE), VARIABLE
    else:
        if not needed and not path.exists():
            _write(path, encoded(os.urandom(KEY_BYTES)))
        keys, where = parsed(_read(path), str(path)), str(path)
    if missing := sorted(needed - keys.ids):
        raise Refusal(
            what=f"Stored secrets were encrypted with keys that are not here: {', '.join(missing)}",
            where=where,
            do="Put the former keys back, before the newest one; without them these secrets are lost",
        )
    return keys


def add_key(path: Path) -> None:
    """Makes a new key the newest of the file, which must be there. Raises Refusal."""
    before = _read(path)
    parsed(before, str(path))
    _write(path, before.rstrip("\n") + "\n" + encoded(os.urandom(KEY_BYTES)))


def keys_in_use(database: Database) -> set[str]:
    """The ids of the keys that its rows need. A token of a connection is none: it can be fetched anew.

    Raises Unavailable.
    """
    return keys_of_values(database) | keys_of_signing(SqliteStore(database=database))


def parsed(text: str, where: str) -> KeyRing:
    """Raises Refusal, with no word of the text in it."""
    try:
        return KeyRing(keys=tuple(b64decode(word, validate=True) for word in text.split()))
    except ValueError:
        raise Refusal(
            what="A key for secrets cannot be read",
            where=where,
            do=f"Each key is {KEY_BYTES} bytes in Base64, as `openssl rand -base64 32` makes them",
        ) from None


def encoded(key: bytes) -> str:
    """A line of the file."""
    return b64encode(key).decode() + "\n"


def _write(path: Path, text: str) -> None:
    try:
        write_durably(path, text)
    except OSError as error:
        what = f"The file with the key for secrets cannot be written: {error.strerror}"
        if error.errno in FULL:
            raise Refusal(what=what, where=str(path), do="Make room on this disk", status=1) from None
        raise Refusal(what=what, where=str(path), do="Give the folder to the user who runs Delayer") from None


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            if os.fstat(file.fileno()).st_mode & OTHERS:
                raise Refusal(
                    what="The file with the key for secrets may be used by others",
                    where=str(path),
                    do=f"Run `chmod 600 {path}`, and consider whether somebody has read it",
                )
            return file.read()
    except FileNotFoundError:
        do = f"Put the file back, or set {VARIABLE}; without the key the stored secrets are lost"
        raise Refusal(what="The file with the key for secrets is gone", where=str(path), do=do) from None
    except OSError as error:
        do = "Give it to the user who runs Delayer"
        what = f"The file with the key for secrets cannot be read: {error.strerror}"
        raise Refusal(what=what, where=str(path), do=do) from None
