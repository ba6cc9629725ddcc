"""What a client asks for, and what can be wrong with it. `admission` makes it from a body, `listing` from a query."""

from collections.abc import Iterable
from typing import Final

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


MAX_KEY: Final = 255  # characters of an idempotency key


@frozen(kw_only=True)
class BatchItem:
    """One schedule of a batch, before it is admitted by itself."""

    body: bytes  # as that of a POST; not the idempotency key
    key: str = ""  # empty if it has none
    errors: tuple["FieldError", ...] = ()  # what is wrong with its key


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


@frozen(kw_only=True)
class FieldError:
    """What is wrong, where, and what is allowed."""

    field: str  # a path like `action.url`; empty for the body as a whole
    problem: str
    allowed: str = ""


@frozen
class KeyReused:
    """The idempotency key came with another body, or for another call, before."""


class NotJson(ValueError):
    """The body is not a JSON object in UTF-8. Its text is the reason."""


class TooLarge(ValueError):
    """The body is over MAX_BODY_BYTES. Its text says by how much."""


class Invalid(ValueError):
    """One or more fields are wrong."""

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__(f"{len(self.errors)} wrong field(s)")
