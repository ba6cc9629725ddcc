"""The rows of a series expire when it is over, later if something of it is live, and no longer if it is revived.

The transaction that says so writes all of them.
"""

from attrs import frozen

from delayer.core.schedule.instants import Millis
from delayer.core.series.retention import KEPT_AT_LEAST, kept
from delayer.core.series.series import CursorChange, SeriesDefinition
from delayer.ports.clock import Clock
from delayer.ports.series import SeriesTransaction
from delayer.use_cases.series.uses import changed_uses


@frozen(kw_only=True)
class Retention:
    """For whoever writes cursors."""

    clock: Clock
    keep_for: Millis = KEPT_AT_LEAST  # as the journal

    def transaction(
        self, change: CursorChange, stored: SeriesDefinition, new: SeriesDefinition | None = None
    ) -> SeriesTransaction:
        """Of a change of the cursor. `stored` is the definition as it stands, `new` the one that takes its place."""
        now = self.clock.now()
        cursor = kept(change.cursor, now, self.keep_for)
        definition = new or (stored if cursor.expires_at != change.over.expires_at else None)
        return SeriesTransaction(
            cursor=cursor,
            over=change.over,
            definition=definition,
            over_definition=stored if definition else None,
            uses=changed_uses(change.over, cursor, stored, new or stored, now),
        )
