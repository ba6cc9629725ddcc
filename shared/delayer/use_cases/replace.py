"""Puts one schedule in the place of another: all of it, or nothing (ADR 0041)."""

from attrs import evolve, frozen

from delayer.core.events import definition_in
from delayer.core.instants import Millis
from delayer.core.ledger import LedgerRow
from delayer.core.lifecycle import State
from delayer.core.request import Request
from delayer.core.schedule import Schedule
from delayer.core.withdrawing import Expired, NameTaken, NotFound, TooLate, Withdraw, decide_replace, is_live, is_over
from delayer.ports import Clock, Exchange, Journal, Ledger, NameRow, Observer, Registry, ScheduleTable, Unavailable
from delayer.use_cases.cancel import key_of
from delayer.use_cases.issue import Ids
from delayer.use_cases.naming import ROUNDS, with_name
from delayer.use_cases.quota import Quota


@frozen
class Replaced:
    """It is stored. `previous` is the id of the schedule whose place it took, if there was a live one."""

    schedule: Schedule
    previous: str | None


@frozen
class OnItsWay:
    """Its record has left the table, and its definition cannot be read: cancel it, and POST it anew.

    `soon`: the journal may know it in a second.
    """

    soon: bool


Answer = Replaced | TooLate | Expired | NotFound | OnItsWay


@frozen(kw_only=True)
class Replace:
    """One call of the API."""

    clock: Clock
    ledger: Ledger
    schedules: ScheduleTable
    registry: Registry
    journal: Journal | None  # None: it is switched off
    ids: Ids
    quota: Quota
    observer: Observer

    def by_name(
        self, request: Request, owner: str, name: str, *, only_new: bool = False
    ) -> Replaced | TooLate | NameTaken:
        """Creates the schedule of that name, or replaces it unless `only_new`.

        Raises OverQuota, Unavailable if AWS failed.
        """
        self.quota.spend(owner)
        for _ in range(ROUNDS):
            bearer = self.registry.named(owner, name)
            new = self.ids.issue(request, owner)
            exchange = with_name(Exchange(new=new), name, bearer, self.clock.now())
            if bearer is not None:
                standing = self.ledger.read(bearer.schedule_id)
                verdict = decide_replace(bearer.schedule_id, owner, standing, new.id, self.clock.now())
                if only_new and not is_over(bearer.schedule_id, standing, self.clock.now()):
                    return NameTaken(bearer.schedule_id)
                if isinstance(verdict, TooLate) and is_live(verdict.row):
                    return verdict
                if isinstance(verdict, Withdraw):
                    exchange = _instead(exchange, verdict)
            if exchange.ending is None or (exchange.over and exchange.over.ended):
                self.quota.make_room(owner)  # what has failed, or was set aside, has given up its place
            if self.registry.exchange(exchange):
                return self._replaced(exchange)
        raise Unavailable("others change the schedule of this name all the time; try again")

    def by_id(self, schedule_id: str, owner: str, *, point_in_time: Millis | None, payload: str | None) -> Answer:
        """Another point in time, another payload, or both; what is None stays.

        Raises OverQuota, Unavailable if AWS failed.
        """
        if not self.ids.is_genuine(schedule_id, owner):
            return NotFound()
        self.quota.spend(owner)
        for _ in range(ROUNDS):
            standing = self.ledger.read(schedule_id)
            old, soon = self.schedules.read(key_of(schedule_id)), False
            if old is None:
                old, soon = self._remembered(schedule_id, standing, payload)
            if old is None:
                return self._without_record(schedule_id, owner, standing, soon)
            new = self.ids.issue(_changed(old, point_in_time, payload), owner)
            verdict = decide_replace(schedule_id, owner, standing, new.id, self.clock.now())
            if not isinstance(verdict, Withdraw):
                return verdict
            exchange = _instead(self._moved(Exchange(new=new), schedule_id, standing), verdict)
            if self.registry.exchange(exchange):
                return self._replaced(exchange)
        raise Unavailable("others change this schedule all the time; try again")

    def _remembered(
        self, schedule_id: str, standing: LedgerRow | None, payload: str | None
    ) -> tuple[Schedule | None, bool]:
        """What the journal knows of one that is on its way; and whether it may know more in a second.

        A definition never changes: an old view of it is right. One without its payload is enough if there is a new one.
        """
        if self.journal is None or (standing and standing.state is not State.SCHEDULED):
            return None, False
        try:
            history = self.journal.history(schedule_id)
        except Unavailable:
            return None, True
        told = definition_in(history)
        if told and (told.is_whole or payload is not None):
            return told.schedule, False
        return None, not history

    def _without_record(
        self, schedule_id: str, owner: str, standing: LedgerRow | None, soon: bool
    ) -> TooLate | Expired | OnItsWay:
        """It has left the table: the ledger says what became of it."""
        verdict = decide_replace(schedule_id, owner, standing, schedule_id, self.clock.now())
        if not isinstance(verdict, Withdraw):
            return verdict
        return TooLate(standing) if standing and standing.ended else OnItsWay(soon)

    def _moved(self, exchange: Exchange, schedule_id: str, standing: LedgerRow | None) -> Exchange:
        """If the old one has a name, the new one gets it."""
        if standing is None or not standing.name:
            return exchange
        bearer = NameRow(owner=exchange.new.owner, name=standing.name, schedule_id=schedule_id)
        return with_name(exchange, standing.name, bearer, self.clock.now())

    def _replaced(self, exchange: Exchange) -> Replaced:
        previous = exchange.ending.schedule_id if exchange.ending else None
        self.observer.count("Accepted")
        self.observer.note("accepted", exchange.new.id, pointInTime=exchange.new.point_in_time, replaces=previous)
        return Replaced(exchange.new, previous)


def _instead(exchange: Exchange, verdict: Withdraw) -> Exchange:
    """With the end of the old one."""
    old = verdict.row.schedule_id
    return evolve(exchange, gone=key_of(old), ending=verdict.row, over=verdict.over)


def _changed(old: Schedule, point_in_time: Millis | None, payload: str | None) -> Request:
    return Request(
        point_in_time=old.point_in_time if point_in_time is None else point_in_time,
        action_type=old.action_type,
        action=old.action,
        payload=old.payload if payload is None else payload,
        group=old.group,
        on_late=old.on_late,
        tags=old.tags,
    )
