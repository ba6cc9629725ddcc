"""The seats of limits (ADR 0115)."""

from collections.abc import Sequence
from typing import Protocol

from delayer.core.limits.seats import Hold, Row, Taking


class KeepsSeats(Protocol):
    """Rows that say who has seats."""

    def take_seats(self, seats: str, taking: Taking) -> Row | None:
        """None: they are taken. Else nothing was, and this is the row. Raises Unavailable: nobody knows.

        To repeat it does no harm: what was taken by the same write before is taken.
        """
        ...

    def return_seats(self, seats: str, holds: Sequence[Hold]) -> Row | None:
        """None: all are given back. Else nothing is, as some are not there any more; this is the row.

        Raises Unavailable.
        """
        ...
