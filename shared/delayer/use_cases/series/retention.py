"""The rows of a series expire when it is over, and no longer if it is revived: in the transaction that says so."""

from attrs import frozen

from delayer.core.schedule.instants import Millis
from delayer.core.series.retention import KEPT_AT_LEAST, kept
from delayer.core.series.series import CursorChange, SeriesDefinition
from delayer.ports.clock import Clock
from delayer.ports.series import SeriesTransaction


@frozen(kw_only=True)
class Retention:
    """For whoever writes cursors."""

    clock: Clock
    keep_for: Millis = KEPT_AT_LEAST  # as the journal

    def transaction(
        self, change: CursorChange, stored: SeriesDefinition, new: SeriesDefinition | None = None
    ) -> SeriesTransaction:
        """Of a change of the cursor. `stored` is the definition as it stands, `new` the one that takes its place."""
        cursor = kept(change.cursor, self.clock.now(), self.keep_for)
        ends_or_revives = bool(cursor.expires_at) != bool(change.over.expires_at)
        definition = new or (stored if ends_or_revives else None)
        return SeriesTransaction(
            cursor=cursor,
            over=change.over,
            definition=definition,
            over_definition=stored if definition else None,
        )
