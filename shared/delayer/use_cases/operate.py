"""What an operator does with records set aside or failed: list them, put one back, throw one away (ADR 0021)."""

from collections.abc import Callable
from typing import Any, Final

from attrs import evolve, frozen

from delayer.core.enqueueing import delay_seconds, within_period
from delayer.core.instants import Millis, format_instant
from delayer.core.ledger import STALE_AFTER, LedgerRow, ended, first_end, first_opened, reopened, settled
from delayer.core.lifecycle import State
from delayer.core.set_aside import Kept, decode
from delayer.core.tenancy import tenant_of
from delayer.core.wire import DelayerMessage, encode, to_schedule
from delayer.ports import Clock, Ledger, Observer, Outgoing, Queue, ScheduleTable, SetAsideStore, Unavailable

REOPENABLE: Final = frozenset({State.SET_ASIDE, State.FAILED, State.SCHEDULED})
DROPPABLE: Final = frozenset({State.SET_ASIDE, State.SCHEDULED})
PAGE: Final = 100  # entries of one list


class Impossible(ValueError):
    """The command cannot be carried out; the text says why and what to do instead."""


@frozen(kw_only=True)
class Contents:
    """The schedules in an object of the store."""

    messages: tuple[DelayerMessage, ...] = ()
    unreadable: int = 0  # records in it that this code cannot read


@frozen(kw_only=True)
class Operate:
    """Commands on the set-aside store."""

    clock: Clock
    ledger: Ledger
    store: SetAsideStore
    schedules: ScheduleTable
    delayer_queue: Queue
    observer: Observer
    read: Callable[[bytes], Contents]  # never raises
    new_nonce: Callable[[], str]
    period: Millis

    def list(self, prefix: str = "", after: str = "") -> dict[str, Any]:
        """A page of what is kept, without the bodies; `next` is the `after` of the page that follows, if any does."""
        keys = self.store.list(prefix, after, PAGE)
        entries = [_shown(key, content) for key in keys if (content := self.store.get(key)) is not None]
        return {"kept": entries} | ({"next": keys[-1]} if len(keys) == PAGE else {})

    def show(self, key: str) -> dict[str, Any]:
        """One kept record, with its body."""
        content = self._content(key)
        return _shown(key, content) | {"body": _body(content)}

    def put_back(self, key: str) -> dict[str, Any]:
        """Opens the ledger again and lets the schedule go its way: it fires at its time, at once if overdue.

        Repeating it after a crash is safe: a second copy has another nonce, and the ledger lets one through. The body
        is deleted only once nothing in it can be lost with it.
        """
        contents = self.read(self._content(key))
        if not contents.messages:
            raise Impossible("no schedule can be read from it: show it, POST the schedule anew, and throw it away")
        told = [self._put_back(message) for message in contents.messages]
        is_settled = contents.unreadable == 0 and all(one["settled"] for one, _ in told)
        if is_settled:
            self.store.discard(key)
            for _, row in told:
                self._settle(row)
        return {"schedules": [one for one, _ in told], "unreadable": contents.unreadable, "stillKept": not is_settled}

    def throw_away(self, key: str) -> dict[str, Any]:
        """Ends as dropped what has no other end, and deletes the body."""
        told = [self._drop(message) for message in self.read(self._content(key)).messages]
        self.store.discard(key)
        return {"schedules": told}

    def _put_back(self, message: DelayerMessage) -> tuple[dict[str, Any], LedgerRow | None]:
        """What came of it; and the row of one that went into the table, which is to be settled afterwards."""
        row = self.ledger.read(message.id)
        if row and not row.ended and row.state is not State.SCHEDULED:
            # Whoever keeps this body may not have written its end yet: it must not be deleted.
            return _told(message, f"not put back: it is {row.state}; look again later", settled=False), None
        if row and row.state not in REOPENABLE:
            return _told(message, f"not put back: it is {row.state}", settled=True), None
        if row and row.stopped_at:
            return _told(message, "not put back: its owner has stopped it; throw it away", settled=False), None
        if self.clock.now() - message.point_in_time > STALE_AFTER:
            return _told(message, "not put back: it is more than 29 days late; POST it anew", settled=False), None
        opened = self._move(message, row)
        self.observer.note("put back", message.id)
        return _told(message, "put back", settled=True), opened

    def _move(self, message: DelayerMessage, row: LedgerRow | None) -> LedgerRow | None:
        """Into the table if it is far ahead, else into the delayer queue. The row of the former."""
        now = self.clock.now()
        schedule = to_schedule(message, created_at=now)
        if not within_period(schedule.address.bucket.minute, now, self.period):
            opened = self._reopen(message, row, "")
            self.schedules.put(evolve(schedule, created_at=self.clock.now()))  # told of after the put-back
            return opened
        nonce = self.new_nonce()
        self._reopen(message, row, nonce)
        body = encode(evolve(message, nonce=nonce))
        if self.delayer_queue.send([Outgoing(body, delay_seconds(message.point_in_time, now), tenant_of(message))]):
            raise Unavailable("the delayer queue did not take it; it is still kept: put it back again")
        return None

    def _reopen(self, message: DelayerMessage, row: LedgerRow | None, nonce: str) -> LedgerRow:
        now = self.clock.now()
        opened = reopened(row, nonce, now) if row else first_opened(message.id, message.owner, nonce, now)
        blocker = self.ledger.swap(row, opened) if row else self.ledger.put_if_absent(opened)
        if blocker:
            raise Impossible(f"{blocker.schedule_id} became {blocker.state} in the meantime: look again")
        return opened

    def _settle(self, row: LedgerRow | None) -> None:
        """From here on its record may be set aside again. If its claim was faster, there is nothing to do."""
        if row:
            self.ledger.swap(row, settled(row))

    def _drop(self, message: DelayerMessage) -> dict[str, Any]:
        row, now, reason = self.ledger.read(message.id), self.clock.now(), "thrown away by an operator"
        if row is None:
            blocker = self.ledger.put_if_absent(first_end(message.id, message.owner, State.DROPPED, now, reason))
        elif row.state in DROPPABLE:
            blocker = self.ledger.swap(row, ended(row, State.DROPPED, now, reason))
        elif row.ended:
            return _told(message, f"it stays {row.state}", settled=True)
        else:
            raise Impossible(f"{message.id} is {row.state}: it is on its way; wait for its end")
        if blocker:
            raise Impossible(f"{message.id} became {blocker.state} in the meantime: look again")
        self.observer.note("thrown away", message.id)
        return _told(message, State.DROPPED, settled=True)

    def _content(self, key: str) -> bytes:
        content = self.store.get(key)
        if content is None:
            raise Impossible(f"nothing is kept under {key!r}: list what is")
        return content


def _shown(key: str, content: bytes) -> dict[str, Any]:
    try:
        kept = decode(content)
    except ValueError:
        return {"key": key, "scheduleId": "", "reason": "discarded by the stream's event source mapping"}
    return {
        "key": key,
        "scheduleId": kept.schedule_id,
        "reason": kept.reason,
        "source": kept.source,
        "at": format_instant(kept.at),
    }


def _body(content: bytes) -> str:
    try:
        kept: Kept = decode(content)
    except ValueError:
        return content.decode("utf-8", "replace")
    return kept.body


def _told(message: DelayerMessage, outcome: str, *, settled: bool) -> dict[str, Any]:
    return {
        "scheduleId": message.id,
        "pointInTime": format_instant(message.point_in_time),
        "outcome": str(outcome),
        "settled": settled,
    }
