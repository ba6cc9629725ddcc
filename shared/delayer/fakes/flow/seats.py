"""The seats of limits, in memory."""

from collections.abc import Sequence

from attrs import Factory, define

from delayer.core.limits.seats import Hold, Row, Taking

NOBODY = Row(taken=0, holds=())


@define
class MemorySeats:
    """Port KeepsSeats."""

    rows: dict[str, Row] = Factory(dict)
    writes: int = 0

    def take_seats(self, seats: str, taking: Taking) -> Row | None:
        self.writes += 1
        row = self.rows.get(seats, NOBODY)
        if taking.hold in row.holds:
            return None
        if row.taken + taking.by > taking.most or not set(taking.gone) <= set(row.holds):
            return row
        left = tuple(one for one in row.holds if one not in taking.gone)
        self.rows[seats] = Row(taken=row.taken + taking.by, holds=(*left, taking.hold))
        return None

    def return_seats(self, seats: str, holds: Sequence[Hold]) -> Row | None:
        self.writes += 1
        row = self.rows.get(seats, NOBODY)
        if not set(holds) <= set(row.holds):
            return row
        left = tuple(one for one in row.holds if one not in holds)
        self.rows[seats] = Row(taken=row.taken - sum(one.number for one in holds), holds=left)
        return None
