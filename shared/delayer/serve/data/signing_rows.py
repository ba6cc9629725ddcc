"""The signing keys of an engine, encrypted: in its file, nobody reads by what requests are signed (ADR 0104)."""

from collections.abc import Callable
from typing import Any, Final

from attrs import frozen

from delayer.connections.ports import Seal
from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.secrets import sealed_with
from delayer.engines.store.model import Is, Item, Put, StoredItem, lacks, row_key
from delayer.engines.store.store import Store, WriteRefused
from delayer.schedule.tables import CONTROL
from delayer.signing.repository import KEYS, StoredSigningRows, keys_from, keys_item
from delayer.signing.rules import SigningKeys

ATTRIBUTE: Final = "secret"  # of each key in the row


@frozen(kw_only=True)
class SealedSigningRows(StoredSigningRows):
    """The same rows, but that the secret of each signing key is sealed; it says with which key that was."""

    seal: Seal

    def signing_keys(self) -> SigningKeys:
        row = self.store.get(self.table, row_key(KEYS))
        return self._opened(row) if row else SigningKeys()

    def write_signing_keys(self, keys: SigningKeys, over: SigningKeys) -> bool:
        item = self._sealed(keys)
        condition = Is("newest", over.newest) if over.keys else lacks("newest")
        try:
            self.store.write(Put(self.table, row_key(KEYS), item, condition))
        except WriteRefused as refused:  # what is sealed twice differs
            return refused.item is not None and self._opened(refused.item) == keys
        return True

    def renew(self) -> None:
        """Seals them anew. Raises Unavailable."""
        if (keys := self.signing_keys()).keys:
            self.store.write(Put(self.table, row_key(KEYS), self._sealed(keys)))

    def _sealed(self, keys: SigningKeys) -> Item:
        return _with_secrets(keys_item(keys), self.seal.sealed)

    def _opened(self, row: StoredItem) -> SigningKeys:
        return keys_from(_with_secrets(row, self._text))

    def _text(self, sealed: str, about: str) -> str:
        text = self.seal.opened(sealed, about)
        if text is None:
            raise Unavailable("signing keys cannot be read: their row was changed, or the key that seals them is gone")
        return text


def place(store: Store) -> dict[str, Any]:
    """Where the row of an engine is."""
    return {"store": store, "table": CONTROL}


def keys_of_signing(store: Store) -> set[str]:
    """The ids of the keys that have sealed the row of an engine. Raises Unavailable."""
    row, used = store.get(CONTROL, row_key(KEYS)), set()

    def note(sealed: str, _about: str) -> None:
        used.add(sealed_with(sealed))

    if row:
        _with_secrets(row, note)
    return used


def _with_secrets(row: StoredItem, of: Callable[[str, str], Any]) -> Item:
    """The row with what becomes of each secret. `of` gets it, and what it is about. Raises Unavailable."""
    try:
        keys = [{**one, ATTRIBUTE: of(one[ATTRIBUTE], f"signing key\n{one['version']}")} for one in row["keys"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise Unavailable(f"signing keys that cannot be read: {type(error).__name__}") from None  # they are secrets
    return {**row, "keys": keys}
