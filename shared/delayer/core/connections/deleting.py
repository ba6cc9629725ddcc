"""Whether a connection is in use: the ledger says it of each schedule, as it does for groups (ADR 0105)."""

from collections.abc import Mapping, Sequence

from attrs import frozen

from delayer.core.connections.connection import Use
from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.margins import STALE_AFTER
from delayer.core.schedule.schedule_id import address_of, is_undecided


@frozen(kw_only=True)
class Live:
    """What keeps a connection from being deleted."""

    schedules: tuple[str, ...] = ()  # the ids of some
    series: tuple[str, ...] = ()
    held_until: tuple[Millis, ...] = ()  # by each of the series that are over
    is_complete: bool = True  # False: more have named it than are looked at in one call

    @property
    def is_free(self) -> bool:
        """Whether nothing is in the way."""
        return self.is_complete and not self.schedules and not self.series


def is_live(use: Use, row: LedgerRow | None, now: Millis) -> bool:
    """Whether it may still reach a target. `row` is that of a schedule.

    What failed or is a dead letter has ended: if an operator redrives it, it fails with the reason. Raises ValueError
    if it is not an id.
    """
    if use.series:
        return not use.until or now < use.until
    if row is not None:
        return not row.ended
    return is_undecided(use.schedule_id) or now - address_of(use.schedule_id).due <= STALE_AFTER


def live_of(uses: Sequence[Use], rows: Mapping[str, LedgerRow], now: Millis) -> Live:
    """Those of a page that are live."""
    found = [one for one in uses if is_live(one, rows.get(one.schedule_id), now)]
    return Live(
        schedules=tuple(one.schedule_id for one in found if one.schedule_id),
        series=tuple(one.series for one in found if one.series),
        held_until=tuple(one.until for one in found if one.until),
    )
