"""The values of connections in rows of SQLite, encrypted, and what seals their tokens."""

import hashlib
import os
from base64 import b64decode, b64encode
from typing import Final

from attrs import field, frozen
from attrs.validators import deep_iterable, max_len, min_len

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import Database

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12  # as NIST SP 800-38D wants them
SECRETS: Final = """
    CREATE TABLE IF NOT EXISTS secrets (
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        key TEXT NOT NULL,
        sealed BLOB NOT NULL,
        PRIMARY KEY (owner, name)
    ) WITHOUT ROWID;
"""
CREATE: Final = "INSERT INTO secrets (owner, name, key, sealed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
READ: Final = "SELECT key, sealed FROM secrets WHERE owner = ? AND name = ?"
DELETE: Final = "DELETE FROM secrets WHERE owner = ? AND name = ?"
KEYS: Final = "SELECT DISTINCT key FROM secrets"
OLD: Final = "SELECT owner, name, key, sealed FROM secrets WHERE key <> ?"
RENEW: Final = "UPDATE secrets SET key = ?, sealed = ? WHERE owner = ? AND name = ? AND key = ?"


def key_id(key: bytes) -> str:
    """By which a row says what has encrypted it. It follows from the key, so no key can pass for another one."""
    return hashlib.sha256(b"delayer key id\n" + key).hexdigest()[:16]


@frozen(kw_only=True)
class KeyRing:
    """One key or several, of 32 bytes. The newest, which is the last, encrypts; each decrypts what it has encrypted.

    AES-GCM, with what a text is about as associated data. `cryptography` is imported by the first call.
    """

    keys: tuple[bytes, ...] = field(
        repr=False, validator=[min_len(1), deep_iterable([min_len(KEY_BYTES), max_len(KEY_BYTES)])]
    )

    @property
    def newest(self) -> str:
        """Its id."""
        return key_id(self.keys[-1])

    @property
    def ids(self) -> set[str]:
        """Of all keys."""
        return {key_id(one) for one in self.keys}

    def encrypted(self, text: str, about: bytes) -> bytes:
        """The text under the newest key, different each time."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(NONCE_BYTES)
        return nonce + AESGCM(self.keys[-1]).encrypt(nonce, text.encode(), about)

    def decrypted(self, key: str, encrypted: bytes, about: bytes) -> str | None:
        """None: there is no such key, or it was not encrypted so, or it was about something else."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        for one in self.keys:
            if key_id(one) == key:
                try:
                    return AESGCM(one).decrypt(encrypted[:NONCE_BYTES], encrypted[NONCE_BYTES:], about).decode()
                except (InvalidTag, ValueError):
                    return None
        return None


@frozen(kw_only=True)
class SqliteSecrets:
    """Keeps each value as a row, which says whose key has encrypted it. No row can be put in the place of another."""

    database: Database
    keys: KeyRing

    def create(self, owner: str, secret: str, text: str) -> None:
        encrypted = self.keys.encrypted(text, _about(owner, secret))
        self.database.write(CREATE, (owner, secret, self.keys.newest, encrypted))

    def read(self, owner: str, secret: str) -> str | None:
        for key, encrypted in self.database.read(READ, (owner, secret)):
            return self._decrypted(owner, secret, key, encrypted)
        return None

    def delete(self, owner: str, secret: str) -> None:
        self.database.write(DELETE, (owner, secret))

    def renew(self) -> int:
        """Encrypts the rows of older keys with the newest, and counts them. Then the older ones can be removed."""
        rows = self.database.read(OLD, (self.keys.newest,))
        for owner, secret, key, encrypted in rows:
            text = self._decrypted(owner, secret, key, encrypted)
            renewed = self.keys.encrypted(text, _about(owner, secret))
            self.database.write(RENEW, (self.keys.newest, renewed, owner, secret, key))
        return len(rows)

    def _decrypted(self, owner: str, secret: str, key: str, encrypted: bytes) -> str:
        text = self.keys.decrypted(key, encrypted, _about(owner, secret))
        if text is None:
            raise Unavailable(f"read a secret: its row was changed, or the key {key} is not there")
        return text


def keys_of_values(database: Database) -> set[str]:
    """The ids of the keys that have encrypted them. Raises Unavailable."""
    return {key for (key,) in database.read(KEYS, ())}


@frozen(kw_only=True)
class KeySeal:
    """Seals tokens with the same keys. What was sealed says by which one."""

    keys: KeyRing

    def sealed(self, text: str, about: str) -> str:
        return f"{self.keys.newest}.{b64encode(self.keys.encrypted(text, _token(about))).decode()}"

    def opened(self, sealed: str, about: str) -> str | None:
        key, encoded = sealed_with(sealed), sealed.partition(".")[2]
        try:
            return self.keys.decrypted(key, b64decode(encoded, validate=True), _token(about))
        except ValueError:
            return None


def sealed_with(sealed: str) -> str:
    """The id of the key."""
    return sealed.partition(".")[0]


def _about(owner: str, secret: str) -> bytes:
    """No two pairs have the same."""
    return f"secret\n{len(owner)}\n{owner}{secret}".encode("utf-8", "surrogatepass")


def _token(about: str) -> bytes:
    return f"token\n{about}".encode("utf-8", "surrogatepass")
