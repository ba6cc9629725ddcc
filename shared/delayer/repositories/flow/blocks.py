"""Blocks in the registry: the list `flow`, an entry for each (ADR 0110)."""

from typing import Final

from attrs import frozen

from delayer.core.flow.block import Block, Kind
from delayer.core.flow.party import EVERY, Party
from delayer.core.schedule.instants import SECOND
from delayer.ports.flow import Rows
from delayer.ports.unavailable import Unavailable
from delayer.store.conditions import All, Condition, Is, Some, lacks
from delayer.store.items import Item, StoredItem, entry_key
from delayer.store.mapped import NUMBER, Mapped, always, as_text
from delayer.store.queries import Query
from delayer.store.store import Refused, Store, all_items
from delayer.store.writes import Delete, Put

LIST: Final = "flow"
EVERYTHING: Final = Party(owner=EVERY, target=EVERY)  # nothing suspends all
MALFORMED: Final = 0  # the revision of a suspension of which only the party can be read
OF_ANOTHER_VERSION: Final = "suspended; why, this version of Delayer cannot read"
BLOCK: Final[Mapped[Block]] = Mapped(
    Block,
    "a block",
    kept=("kind", "revision", "since"),
    without=("party",),  # it is two attributes
    until=always(NUMBER),
    pauses=always(NUMBER),
    probe_until=always(NUMBER),
)


@frozen(kw_only=True)
class StoredBlocks:
    """Port Blocks."""

    store: Store
    table: str

    def rows(self, *, latest: bool) -> Rows:
        found = [(item["entry"], from_item(item)) for item in self._items(latest=latest)]
        return Rows(
            blocks=tuple(block for _, block in found if block),
            malformed=tuple(key for key, block in found if not _is_whole(block)),
        )

    def _items(self, *, latest: bool) -> list[Item]:
        return list(all_items(self.store, Query(self.table, {"list": LIST}, latest=latest)))

    def change(self, block: Block, over: Block | None = None) -> bool:
        put = Put(self.table, entry_key(LIST, block.key), to_item(block), _over(over or block, block.revision - 1))
        try:
            self.store.write(put)
        except Refused as refused:
            return refused.item == put.item
        return True

    def remove(self, block: Block) -> bool:
        is_gone = Some((lacks("entry"), _same(block, block.revision)))
        return self._delete(Delete(self.table, entry_key(LIST, block.key), is_gone))

    def discard(self, key: str) -> bool:
        """The row that is removed is the one that was looked at: its revision, readable or not, is the same."""
        item = next((item for item in self._items(latest=True) if item["entry"] == key), None)
        if item is None or _is_whole(from_item(item)):
            return False
        return self._delete(Delete(self.table, entry_key(LIST, key), _as_it_was(item)))

    def _delete(self, delete: Delete) -> bool:
        """Whether its condition held."""
        try:
            self.store.write(delete)
        except Refused:
            return False
        return True


def _is_whole(block: Block | None) -> bool:
    return block is not None and block.revision != MALFORMED


def _as_it_was(item: StoredItem) -> Condition:
    return Is("revision", item["revision"]) if "revision" in item else lacks("revision")


def _over(block: Block, revision: int) -> Condition:
    return lacks("entry") if revision == 0 else _same(block, revision)


def _same(block: Block, revision: int) -> Condition:
    """One that was written after this one was removed has other revisions, of which some are the same numbers."""
    return All((Is("revision", revision), Is("since", block.since)))


def to_item(block: Block) -> Item:
    """A block as it is stored."""
    item = {**entry_key(LIST, block.key), **BLOCK.item(block)}
    item |= {name: text for name, text in (("owner", block.party.owner), ("target", block.party.target)) if text}
    if block.expires_at:
        item["expiresAt"] = block.expires_at // SECOND
    return item


def from_item(item: StoredItem) -> Block | None:
    """The inverse of to_item. Of a suspension, what can be read of it; None for any other row that cannot be read."""
    try:
        return BLOCK.row(item, party=_party(item))
    except (TypeError, Unavailable):
        return _suspension(item)


def _suspension(item: StoredItem) -> Block | None:
    """Whoever has suspended it is relied upon, also by code that is older than the row.

    A name that is no text is that of all: rather too much is held up than what was to be.
    """
    owner, target = (name if isinstance(name := item.get(one), str) else EVERY for one in ("owner", "target"))
    party = Party(owner=owner, target=target)
    if item.get("kind") != Kind.SUSPENSION or party == EVERYTHING:
        return None
    return Block(kind=Kind.SUSPENSION, party=party, revision=MALFORMED, since=0, reason=OF_ANOTHER_VERSION)


def _party(item: StoredItem) -> Party:
    return Party(owner=as_text(item.get("owner", EVERY)), target=as_text(item.get("target", EVERY)))
