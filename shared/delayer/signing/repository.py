"""The control rows of signatures: `signing-key`, and `signing#<owner>` for each owner who has rotated."""

import base64
from typing import Final

from attrs import frozen

from delayer.engines.ports import Unavailable
from delayer.engines.store.mapped import NOT_READ, NUMBER, Form, Mapped, always, check_version, encoded
from delayer.engines.store.model import Is, Item, Put, StoredItem, lacks, row_key
from delayer.engines.store.store import Store, WriteRefused
from delayer.signing.rules import Rotation, SigningKey, SigningKeys, Superseded

VERSION: Final = 1
KEYS: Final = "signing-key"
KEY: Final[Mapped[SigningKey]] = Mapped(
    SigningKey,
    "signing keys",
    version=None,  # the row has it
    kept=("secret",),
    secret=encoded(lambda secret: base64.b64encode(secret).decode(), base64.b64decode),
    created_at=always(NUMBER),
    current_from=always(NUMBER),
    signs_until=Form(lambda until: until, lambda until: None if until is None else NUMBER.load(until), None),
)
SUPERSEDED: Final[Mapped[Superseded]] = Mapped(Superseded, "a rotation", version=None, kept=("version", "signs_until"))
ROTATION: Final[Mapped[Rotation]] = Mapped(
    Rotation,
    "a rotation",
    version=VERSION,
    kept=("version", "rotated_at", "before"),
    names={"version": "newest"},
    before=Form(
        lambda before: [SUPERSEDED.item(one) for one in before], lambda items: tuple(map(SUPERSEDED.row, items)), None
    ),
)


@frozen(kw_only=True)
class StoredSigningRows:
    """Keeps what signs in control rows."""

    store: Store
    table: str

    def signing_keys(self) -> SigningKeys:
        row = self.store.get(self.table, row_key(KEYS))
        return keys_from(row) if row else SigningKeys()

    def write_signing_keys(self, keys: SigningKeys, over: SigningKeys) -> bool:
        return self._write(keys_item(keys), over.newest)

    def rotation(self, owner: str) -> Rotation:
        row = self.store.get(self.table, row_key(f"signing#{owner}"))
        return rotation_from(row) if row else Rotation()

    def write_rotation(self, owner: str, rotation: Rotation, over: Rotation) -> bool:
        return self._write(rotation_item(owner, rotation), over.version if over.rotated_at else 0)

    def _write(self, item: Item, over: int) -> bool:
        """Over the row with this newest version; 0: only if there is none."""
        condition = Is("newest", over) if over else lacks("newest")
        try:
            self.store.write(Put(self.table, row_key(item["name"]), item, condition))
        except WriteRefused as refused:
            return refused.item == item  # an earlier try of this very write, whose answer was lost
        return True


def keys_item(keys: SigningKeys) -> Item:
    """The row `signing-key`."""
    stored = [KEY.item(key) for key in keys.keys]
    return {**row_key(KEYS), "v": VERSION, "newest": keys.newest, "keys": stored}


def keys_from(row: StoredItem) -> SigningKeys:
    """The inverse of keys_item. With a row that this code cannot read, nothing is signed: Unavailable."""
    try:
        check_version(row, VERSION)
        return SigningKeys(keys=tuple(map(KEY.row, row["keys"])))
    except (*NOT_READ, Unavailable) as error:
        raise Unavailable(f"signing keys that cannot be read: {type(error).__name__}") from None  # they are secrets


def rotation_item(owner: str, rotation: Rotation) -> Item:
    """The row of an owner. It holds no secret."""
    return {**row_key(f"signing#{owner}"), **ROTATION.item(rotation)}


def rotation_from(row: StoredItem) -> Rotation:
    """The inverse of rotation_item. A row that this code cannot read is not taken for none: Unavailable."""
    return ROTATION.row(row)
