"""The control rows of what keeps series going: `series-net`, `series-waiting`, `series-zoned` (ADR 0100)."""

from typing import Final

from attrs import frozen

from delayer.core.series.upkeep.net import Place
from delayer.core.series.upkeep.rounds import Directory, Round
from delayer.store.conditions import All, Is, Some, lacks
from delayer.store.items import row_key
from delayer.store.mapped import FLAG, NUMBER, TEXT, Mapped, always
from delayer.store.store import Refused, Store
from delayer.store.writes import Change, Put

NET: Final = "series-net"
PLACE: Final[Mapped[Place]] = Mapped(
    Place,
    "the place of the net",
    version=None,
    kept=("minute",),
    names={"minute": "closedUntil", "shard": "inShard", "after": "afterId"},
    shard=always(NUMBER),
    after=always(TEXT),
)
ROUND: Final[Mapped[Round]] = Mapped(
    Round,
    "a round of a directory",
    version=None,
    kept=("label", "began"),
    part=always(NUMBER),
    after=always(TEXT),
    is_over=always(FLAG),
)


@frozen(kw_only=True)
class StoredSeriesProgress:
    """Port SeriesProgress."""

    store: Store
    table: str

    def place(self) -> Place | None:
        row = self.store.get(self.table, row_key(NET))
        return None if row is None else PLACE.row(row)

    def reach(self, place: Place) -> None:
        same_minute = All((Is("closedUntil", place.minute), Is("inShard", place.shard, "<=")))
        is_behind = Some((lacks("closedUntil"), Is("closedUntil", place.minute, "<"), same_minute))
        try:
            self.store.write(Change(self.table, row_key(NET), put=PLACE.item(place), when=is_behind))
        except Refused:
            return

    def round(self, directory: Directory) -> Round | None:
        row = self.store.get(self.table, row_key(f"series-{directory}"))
        return None if row is None else ROUND.row(row)

    def note(self, directory: Directory, current: Round) -> None:
        self.store.write(Put(self.table, row_key(f"series-{directory}"), ROUND.item(current)))
