"""The requests of clients, and the errors that can be in them. `admission` makes it from a body, `listing` from a
query.
"""

from attrs import frozen

from delayer.ledger.model import State
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import Definition
from delayer.schedule.schedule_id import IdKind


@frozen(kw_only=True)
class ScheduleRequest:
    """A well-formed request."""

    point_in_time: Millis
    definition: Definition
    name: str = ""
    kind: IdKind = IdKind.PLAIN  # what its id will say


@frozen(kw_only=True)
class ChangeRequest:
    """A well-formed change of a schedule; what is None stays as it is."""

    point_in_time: Millis | None
    payload: str | None  # JSON


@frozen(kw_only=True)
class Listing:
    """A well-formed question for schedules, in due order."""

    group: str  # empty: of all, and of none
    state: State | None  # None: of any
    since: Millis  # due from then on
    until: Millis  # and before then
    limit: int
    after: str  # the id that the last page ended with; empty for the first page


@frozen
class KeyReused:
    """The idempotency key came with another body, or for another call, before."""
