"""The tokens of connections in the registry: a list `connection-token#<owner>#<name>` for each (ADR 0106)."""

from typing import Final

from attrs import frozen

from delayer.core.connections.tokens import LONGEST, TokenRow
from delayer.core.schedule.instants import DAY, SECOND
from delayer.store.conditions import All, Condition, Is, lacks
from delayer.store.items import Item, Key, StoredItem, entry_key
from delayer.store.mapped import NUMBER, Mapped, always
from delayer.store.store import Refused, Store
from delayer.store.writes import Put

VERSION: Final = 1
TOKEN: Final[Mapped[TokenRow]] = Mapped(
    TokenRow,
    "a token",
    version=VERSION,
    kept=("revision",),
    without=("owner", "name"),
    names={"expires_at": "validUntil"},  # `expiresAt` is for the TTL
    fetched_at=always(NUMBER),
    fresh_until=always(NUMBER),
    expires_at=always(NUMBER),
)


@frozen(kw_only=True)
class StoredTokens:
    """Port TokenRows."""

    store: Store
    table: str

    def read(self, owner: str, name: str) -> TokenRow | None:
        item = self.store.get(self.table, token_key(owner, name))
        return token_from(owner, name, item) if item else None

    def write(self, row: TokenRow, over: TokenRow | None) -> bool:
        item = token_item(row)
        condition = _as_read(over) if over else lacks("revision")
        try:
            self.store.write(Put(self.table, token_key(row.owner, row.name), item, condition))
        except Refused as refused:
            return refused.item == item  # ours, by an earlier try
        return True


def _as_read(over: TokenRow) -> Condition:
    """A row that was removed with its connection, and made again, has the same revision soon.

    That of a later version is known by its instant alone.
    """
    secret = (Is("secret", over.secret),) if over.secret else ()
    return All((Is("revision", over.revision), Is("fetchedAt", over.fetched_at), *secret))


def token_key(owner: str, name: str) -> Key:
    """Where the token of a connection is."""
    return entry_key(f"connection-token#{owner}#{name}")


def token_item(row: TokenRow) -> Item:
    """A token as it is stored: sealed. The TTL removes it a day after the last that there can be."""
    expires = row.fetched_at + LONGEST + DAY
    return {**token_key(row.owner, row.name), **TOKEN.item(row), "expiresAt": expires // SECOND}


def token_from(owner: str, name: str, item: StoredItem) -> TokenRow:
    """The inverse of token_item. One of a later version is written over, if its minute is over."""
    if item.get("v", VERSION) == VERSION:
        return TOKEN.row(item, owner=owner, name=name)
    return TokenRow(
        owner=owner,
        name=name,
        secret="",
        fetched_at=_number(item, "fetchedAt"),
        revision=max(_number(item, "revision"), 1),
    )


def _number(item: StoredItem, name: str) -> int:
    """0 if it is left out; also if a later version has made something else of it."""
    value = item.get(name)
    return value if isinstance(value, int) else 0
