"""The rows of flow control, in the registry: lists `flow` and `flow-slots` (ADR 0110, 0114, 0115)."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.engines.ports import Unavailable
from delayer.engines.store.mapped import NUMBER, Mapped, always, as_text
from delayer.engines.store.model import (
    All,
    Change,
    Condition,
    Delete,
    Is,
    Item,
    Put,
    Query,
    Some,
    StoredItem,
    entry_key,
    lacks,
)
from delayer.engines.store.store import Store, WriteRefused, all_items
from delayer.flow.ports import Booked, Elsewhere, Rows
from delayer.flow.rules.block import EVERY, Block, BlockKind, Party
from delayer.flow.rules.gate import Row, SeatHold, Taking
from delayer.flow.rules.limit import Micros
from delayer.schedule.instants import DAY, SECOND, Millis

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
VERSION: Final = 1
SLOTS_LIST: Final = "flow-slots"
HOLD: Final = "hold "  # before its id: an attribute of its own, so that writes of others do not matter


@frozen(kw_only=True)
class StoredBlocks:
    """Keeps blocks in the list `flow` of the registry."""

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
        except WriteRefused as refused:
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
        except WriteRefused:
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
    """Relies upon the code that has written a suspension, also if this code is older than the row.

    A name that is no text is that of all: rather too much has to wait than too little.
    """
    owner, target = (name if isinstance(name := item.get(one), str) else EVERY for one in ("owner", "target"))
    party = Party(owner=owner, target=target)
    if item.get("kind") != BlockKind.SUSPENSION or party == EVERYTHING:
        return None
    return Block(kind=BlockKind.SUSPENSION, party=party, revision=MALFORMED, since=0, reason=OF_ANOTHER_VERSION)


def _party(item: StoredItem) -> Party:
    return Party(owner=as_text(item.get("owner", EVERY)), target=as_text(item.get("target", EVERY)))


@frozen(kw_only=True)
class StoredLines:
    """Keeps a row for each line in the list `flow-slots` of the registry."""

    store: Store
    table: str

    def begin_line(self, line: str, first: Micros, end: Micros, expires_at: Millis) -> Booked | Elsewhere:
        change = Change(
            self.table,
            entry_key(SLOTS_LIST, line),
            put={"next": end, "expiresAt": expires_at // SECOND, "v": VERSION},
            when=Some((lacks("next"), Is("next", first, "<="))),
        )
        try:
            self.store.write(change)
        except WriteRefused as refused:
            return _elsewhere(refused)
        return Booked(first)

    def extend_line(
        self, line: str, known: Micros, by: Micros, slack: Micros, expires_at: Millis
    ) -> Booked | Elsewhere:
        change = Change(
            self.table,
            entry_key(SLOTS_LIST, line),
            put={"expiresAt": expires_at // SECOND},
            add={"next": by},
            when=All((Is("next", known, ">="), Is("next", known + slack, "<="))),
            is_answered=True,
        )
        try:
            after = self.store.write(change)
        except WriteRefused as refused:
            return _elsewhere(refused)
        return Booked(after["next"] - by)

    def line_ends(self) -> dict[str, Micros]:
        items = all_items(self.store, Query(self.table, {"list": SLOTS_LIST}, latest=False))
        return {item["entry"]: item["next"] for item in items if "next" in item}


def _elsewhere(refused: WriteRefused) -> Elsewhere:
    return Elsewhere(refused.item.get("next", 0))


@frozen(kw_only=True)
class StoredSeats:
    """Keeps who has seats, in rows of the registry.

    No write reads first: the row is counted by the store, and only a refusal tells it.
    """

    store: Store
    table: str

    def take_seats(self, seats: str, taking: Taking) -> Row | None:
        hold, mine = taking.hold, _name(taking.hold)
        has_room = Some((lacks("taken"), Is("taken", taking.most - taking.by, "<=")))
        row = self._change(
            Change(
                self.table,
                entry_key(SLOTS_LIST, seats),
                put={mine: hold.text, "expiresAt": (hold.until + DAY) // SECOND, "v": VERSION},
                add={"taken": taking.by},
                remove=_names(taking.gone),
                when=All((lacks(mine), has_room, *_same_seats(taking.gone))),
            )
        )
        return None if row and hold in row.holds else row

    def return_seats(self, seats: str, holds: Sequence[SeatHold]) -> Row | None:
        return self._change(
            Change(
                self.table,
                entry_key(SLOTS_LIST, seats),
                add={"taken": -sum(one.number for one in holds)},
                remove=_names(holds),
                when=All(_same_seats(holds)),
            )
        )

    def _change(self, change: Change) -> Row | None:
        """The row that is in the way, if one is."""
        try:
            self.store.write(change)
        except WriteRefused as refused:
            return row_from(refused.item)
        return None


def _name(hold: SeatHold) -> str:
    """Its attribute."""
    return HOLD + hold.id


def _names(holds: Sequence[SeatHold]) -> tuple[str, ...]:
    return tuple(_name(one) for one in holds)


def _same_seats(holds: Sequence[SeatHold]) -> tuple[Is, ...]:
    """They are as they were."""
    return tuple(Is(_name(one), one.text) for one in holds)


def row_from(item: StoredItem) -> Row:
    """The row of a limit as its item tells it. Raises Unavailable if this version cannot read it."""
    try:
        holds = [_hold(name.removeprefix(HOLD), value) for name, value in item.items() if name.startswith(HOLD)]
    except (ValueError, TypeError, AttributeError) as error:
        raise Unavailable(f"a row of seats that cannot be read: {error}") from error
    return Row(taken=item.get("taken", 0), holds=tuple(sorted(holds, key=lambda one: (one.until, one.id))))


def _hold(hold_id: str, text: str) -> SeatHold:
    number, until = text.split()
    return SeatHold(id=hold_id, number=int(number), until=int(until))
