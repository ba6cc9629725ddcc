"""What a client asks for, and what can be wrong with it. `admission` makes it from a body, `listing` from a query."""

from attrs import frozen

from delayer.core.ledger.lifecycle import State
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule_id import Kind


@frozen(kw_only=True)
class Request:
    """A well-formed request."""

    point_in_time: Millis
    definition: Definition
    name: str = ""
    kind: Kind = Kind.PLAIN  # what its id will say


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
