"""The lines of limits in the registry: the list `flow-slots`, an entry for each limit and revision (ADR 0114)."""

from typing import Final

from attrs import frozen

from delayer.core.limits.line import Micros
from delayer.core.schedule.instants import SECOND, Millis
from delayer.ports.lines import Booked, Elsewhere
from delayer.store.conditions import All, Is, Some, lacks
from delayer.store.items import entry_key
from delayer.store.queries import Query
from delayer.store.store import Refused, Store, all_items
from delayer.store.writes import Change

VERSION: Final = 1
LIST: Final = "flow-slots"


@frozen(kw_only=True)
class StoredLines:
    """Port Lines."""

    store: Store
    table: str

    def begin_line(self, line: str, first: Micros, end: Micros, expires_at: Millis) -> Booked | Elsewhere:
        change = Change(
            self.table,
            entry_key(LIST, line),
            put={"next": end, "expiresAt": expires_at // SECOND, "v": VERSION},
            when=Some((lacks("next"), Is("next", first, "<="))),
        )
        try:
            self.store.write(change)
        except Refused as refused:
            return _elsewhere(refused)
        return Booked(first)

    def extend_line(
        self, line: str, known: Micros, by: Micros, slack: Micros, expires_at: Millis
    ) -> Booked | Elsewhere:
        change = Change(
            self.table,
            entry_key(LIST, line),
            put={"expiresAt": expires_at // SECOND},
            add={"next": by},
            when=All((Is("next", known, ">="), Is("next", known + slack, "<="))),
            is_answered=True,
        )
        try:
            after = self.store.write(change)
        except Refused as refused:
            return _elsewhere(refused)
        return Booked(after["next"] - by)

    def line_ends(self) -> dict[str, Micros]:
        items = all_items(self.store, Query(self.table, {"list": LIST}, latest=False))
        return {item["entry"]: item["next"] for item in items if "next" in item}


def _elsewhere(refused: Refused) -> Elsewhere:
    return Elsewhere(refused.item.get("next", 0))
