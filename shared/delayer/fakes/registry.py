"""The registry."""

from collections.abc import Mapping
from functools import lru_cache

from attrs import Factory, define

from delayer.core.instants import Millis
from delayer.core.schedule import Schedule
from delayer.core.schedule_id import address_of
from delayer.fakes.ledger import MemoryLedger
from delayer.fakes.schedule_table import MemoryScheduleTable
from delayer.ports import Exchange, JobRow, Member, Members, NameRow, RequestRow


@define(kw_only=True)
class MemoryRegistry:
    """Port Registry."""

    schedules: MemoryScheduleTable
    ledger: MemoryLedger
    names: dict[tuple[str, str], NameRow] = Factory(dict)
    requests: dict[tuple[str, str], RequestRow] = Factory(dict)
    groups: dict[tuple[str, str], dict[str, Member]] = Factory(dict)

    def named(self, owner: str, name: str) -> NameRow | None:
        return self.names.get((owner, name))

    def requested(self, owner: str, key: str) -> RequestRow | None:
        return self.requests.get((owner, key))

    def members(self, owner: str, group: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        return page_of(self.groups.get((owner, group), {}), since, until, after, at_most)

    def exchange(self, exchange: Exchange) -> bool:
        if self._is_done(exchange):
            return True
        if not self._may(exchange):
            return False
        self._write(exchange)
        return True

    def _is_done(self, exchange: Exchange) -> bool:
        """A repeat finds its own rows. One of them is enough: they were written together."""
        rows = [row for row in (exchange.begun, exchange.ending) if row]
        if any(self.ledger.rows.get(row.schedule_id) == row for row in rows):
            return True
        if exchange.request and self._answered(exchange.request) == exchange.request:
            return True
        return exchange.name is not None and self._bears(exchange.name) == exchange.name

    def _may(self, exchange: Exchange) -> bool:
        ledger = self.ledger.rows
        if exchange.begun and exchange.begun.schedule_id in ledger:
            return False
        if exchange.ending:
            standing = ledger.get(exchange.ending.schedule_id)
            if (standing and standing.revision) != (exchange.over and exchange.over.revision):
                return False
        if exchange.request and self._answered(exchange.request) != exchange.request_over:
            return False
        return not exchange.name or self._bears(exchange.name) == exchange.name_over

    def _bears(self, row: NameRow) -> NameRow | None:
        return self.names.get((row.owner, row.name))

    def _answered(self, row: RequestRow) -> RequestRow | None:
        return self.requests.get((row.owner, row.key))

    def _write(self, exchange: Exchange) -> None:
        for row in (exchange.begun, exchange.ending):
            if row:
                self.ledger.write(row)
        if exchange.name:
            self.names[exchange.name.owner, exchange.name.name] = exchange.name
        if exchange.request:
            self.requests[exchange.request.owner, exchange.request.key] = exchange.request
        if exchange.gone:
            self.schedules.delete([exchange.gone])
        self._join(exchange.new)
        self.schedules.put(exchange.new)

    def _join(self, schedule: Schedule) -> None:
        if schedule.group:
            members = self.groups.setdefault((schedule.owner, schedule.group), {})
            members[schedule.id] = Member(schedule.id, schedule.created_at)


def page_of(members: Mapping[str, Member], since: Millis, until: Millis, after: str, at_most: int) -> Members:
    """A page of a list in due order."""
    first = _place(after) if after else (since, "")
    rest = [one for one in sorted(members, key=_place) if first < _place(one) and since <= _place(one)[0] < until]
    page = tuple(members[schedule_id] for schedule_id in rest[:at_most])
    return Members(page, rest[at_most - 1] if len(rest) > at_most else "")


@lru_cache(maxsize=100_000)
def _place(schedule_id: str) -> tuple[Millis, str]:
    return address_of(schedule_id).due, schedule_id


@define
class MemoryJobs:
    """Port Jobs."""

    rows: dict[tuple[str, str], JobRow] = Factory(dict)

    def read(self, owner: str, job_id: str) -> JobRow | None:
        return self.rows.get((owner, job_id))

    def put(self, row: JobRow) -> None:
        self.rows.setdefault((row.owner, row.job_id), row)

    def swap(self, old: JobRow, new: JobRow) -> bool:
        standing = self.rows.get((old.owner, old.job_id))
        if standing == new:
            return True
        if standing is None or standing.revision != old.revision:
            return False
        self.rows[new.owner, new.job_id] = new
        return True
