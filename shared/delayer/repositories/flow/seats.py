"""The seats of limits in the registry: the list `flow-slots`, an entry for each limit (ADR 0115)."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.core.limits.seats import Hold, Row, Taking
from delayer.core.schedule.instants import DAY, SECOND
from delayer.repositories.flow.lines import LIST, VERSION
from delayer.store.conditions import All, Is, Some, lacks
from delayer.store.items import StoredItem, entry_key
from delayer.store.store import Refused, Store
from delayer.store.writes import Change

HOLD: Final = "hold "  # before its id: an attribute of its own, so that writes of others do not matter


@frozen(kw_only=True)
class StoredSeats:
    """Port KeepsSeats. No write reads first: the row is counted by the store, and only a refusal tells it."""

    store: Store
    table: str

    def take_seats(self, seats: str, taking: Taking) -> Row | None:
        hold, mine = taking.hold, _name(taking.hold)
        has_room = Some((lacks("taken"), Is("taken", taking.most - taking.by, "<=")))
        row = self._change(
            Change(
                self.table,
                entry_key(LIST, seats),
                put={mine: hold.text, "expiresAt": (hold.until + DAY) // SECOND, "v": VERSION},
                add={"taken": taking.by},
                remove=_names(taking.gone),
                when=All((lacks(mine), has_room, *_same(taking.gone))),
            )
        )
        return None if row and hold in row.holds else row

    def return_seats(self, seats: str, holds: Sequence[Hold]) -> Row | None:
        return self._change(
            Change(
                self.table,
                entry_key(LIST, seats),
                add={"taken": -sum(one.number for one in holds)},
                remove=_names(holds),
                when=All(_same(holds)),
            )
        )

    def _change(self, change: Change) -> Row | None:
        """The row that is in the way, if one is."""
        try:
            self.store.write(change)
        except Refused as refused:
            return row_from(refused.item)
        return None


def _name(hold: Hold) -> str:
    """Its attribute."""
    return HOLD + hold.id


def _names(holds: Sequence[Hold]) -> tuple[str, ...]:
    return tuple(_name(one) for one in holds)


def _same(holds: Sequence[Hold]) -> tuple[Is, ...]:
    """They are as they were."""
    return tuple(Is(_name(one), one.text) for one in holds)


def row_from(item: StoredItem) -> Row:
    """The row of a limit as its item tells it."""
    holds = []
    for name, value in item.items():
        if name.startswith(HOLD):
            seats, until = value.split()
            holds.append(Hold(id=name.removeprefix(HOLD), number=int(seats), until=int(until)))
    return Row(taken=item.get("taken", 0), holds=tuple(sorted(holds, key=lambda one: (one.until, one.id))))
