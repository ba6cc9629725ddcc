"""Names, groups and idempotency keys of schedules, and the transactions that write them (ADR 0048)."""

from typing import Protocol

from attrs import frozen

from delayer.history.ports import Members
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import RecordKey


@frozen(kw_only=True)
class NameRow:
    """Which schedule has a name at present."""

    owner: str
    name: str
    schedule_id: str


@frozen(kw_only=True)
class RequestRow:
    """A call with an idempotency key was answered so."""

    owner: str
    key: str
    digest: str  # of the body, and of method and path: the same key with anything else is a mistake
    schedule_id: str  # the one that was put; of a series, the occurrence: empty if none was put
    point_in_time: Millis  # of an occurrence, its time by the rule
    expires_at: Millis  # from then on the key counts as new
    series: str = ""  # the id of the series that was created or changed
    replaces: str = ""  # the schedule whose place was taken
    number: int = 0  # of the occurrence at which the change of a series takes effect; 0: it is of no change
    state: str = ""  # of the series after that change


@frozen(kw_only=True)
class ScheduleTransaction:
    """A schedule is stored, perhaps in place of another: all of it in one transaction, or nothing (ADR 0041).

    A schedule with a group joins it in the same transaction. One that names a connection is listed among its uses, and
    nothing is written unless the connection is there and open.
    """

    put: Schedule
    put_row: LedgerRow | None = None  # the row that a named schedule begins with; only if there is none
    put_name: NameRow | None = None  # names the new schedule
    over_name: NameRow | None = None  # what `put_name` replaces; None: only if there is none
    put_request: RequestRow | None = None  # the call that put the new schedule
    over_request: RequestRow | None = None  # the expired one that it replaces; None: only if there is none
    delete: RecordKey | None = None  # the record of the old schedule, whether it is still there or not
    end: LedgerChange | None = None  # of the old schedule: it is replaced
    connection: str = ""  # which it names; empty: none, or it was deleted by force and nothing is to be checked


class Registry(Protocol):
    """Keeps names, groups and idempotency keys, and writes a schedule together with them."""

    def named(self, owner: str, name: str) -> NameRow | None:
        """Strongly consistent."""
        ...

    def requested(self, owner: str, key: str) -> RequestRow | None:
        """Strongly consistent; also one that has expired and was not deleted yet."""
        ...

    def create(self, transaction: ScheduleTransaction) -> bool:
        """As `replace`, of a transaction that deletes and ends nothing."""
        ...

    def replace(self, transaction: ScheduleTransaction) -> bool:
        """Whether it was done; False: a condition failed, something has changed meanwhile, and nothing was written.

        A transaction repeated because its answer was lost finds its own rows, and is done. Raises Unavailable, also if
        its connection was closed or deleted since it was read: then it may have been done by an earlier try.
        """
        ...

    def decide(self, transaction: ScheduleTransaction) -> bool:
        """As `replace`, of what was accepted without a time by the schedule that has it.

        In its group the new one takes the place of the old one, and counts as accepted when that was. So it does among
        the uses of its connection.
        """
        ...

    def members(self, owner: str, group: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        """Those due from `since` on and before `until`, after one of them (empty: from the first).

        Strongly consistent.
        """
        ...
