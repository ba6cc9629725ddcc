"""What an operator does with records set aside or failed: list them, put one back, throw one away (ADR 0021)."""

from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve, frozen

from delayer.core.enqueueing import delay_seconds, within_period
from delayer.core.instants import Millis, format_instant
from delayer.core.ledger import STALE_AFTER, LedgerRow, ended
from delayer.core.lifecycle import State
from delayer.core.set_aside import Kept, decode
from delayer.core.wire import DelayerMessage, encode, to_schedule
from delayer.ports import Clock, Ledger, Observer, Outgoing, Queue, ScheduleTable, SetAsideStore, Unavailable

REOPENABLE = frozenset({State.SET_ASIDE, State.FAILED})


class Impossible(ValueError):
    """The command cannot be carried out; the text says why and what to do instead."""


@frozen(kw_only=True)
class Operate:
    """Commands on the set-aside store."""

    clock: Clock
    ledger: Ledger
    store: SetAsideStore
    schedules: ScheduleTable
    delayer_queue: Queue
    observer: Observer
    read: Callable[[bytes], Sequence[DelayerMessage]]  # the schedules in an object of the store; none if unreadable
    new_nonce: Callable[[], str]
    period: Millis

    def list(self, prefix: str = "") -> list[dict[str, Any]]:
        """Everything kept, without the bodies."""
        return [_shown(key, self._content(key)) for key in self.store.list(prefix)]

    def show(self, key: str) -> dict[str, Any]:
        """One kept record, with its body."""
        content = self._content(key)
        return _shown(key, content) | {"body": _body(content)}

    def put_back(self, key: str) -> dict[str, Any]:
        """Opens the ledger again and lets the schedule go its way: it fires at its time, at once if overdue.

        Repeating it after a crash is safe: a second copy has another nonce, and the ledger lets one through.
        """
        messages = self.read(self._content(key))
        if not messages:
            raise Impossible("no schedule can be read from it: show it, POST the schedule anew, and throw it away")
        refused = [reason for reason in map(self._why_not, messages) if reason]
        if len(refused) == len(messages):
            raise Impossible(refused[0])
        back = [message for message in messages if not self._why_not(message)]
        for message in back:
            self._reopen(message)
            self._move(message)
            self.observer.note("put back", message.id, key=key)
        self.store.discard(key)
        return {"putBack": [_told(message) for message in back], "refused": refused}

    def throw_away(self, key: str) -> dict[str, Any]:
        """Ends what is set aside as dropped, and deletes the body."""
        messages = self.read(self._content(key))
        for message in messages:
            row = self.ledger.read(message.id)
            if row and row.state is State.SET_ASIDE:
                self.ledger.swap(row, ended(row, State.DROPPED, self.clock.now(), "thrown away by an operator"))
            self.observer.note("thrown away", message.id, key=key)
        self.store.discard(key)
        return {"thrownAway": [message.id for message in messages]}

    def _why_not(self, message: DelayerMessage) -> str:
        """Why this schedule cannot be put back; empty if it can."""
        row = self.ledger.read(message.id)
        if row and row.state not in REOPENABLE:
            return f"{message.id} is {row.state}: throw this record away"
        if self.clock.now() - message.point_in_time > STALE_AFTER:
            return f"{message.id} is more than 29 days late: POST it anew, and throw this record away"
        return ""

    def _reopen(self, message: DelayerMessage) -> None:
        """Without its row it is as it was before its end: it can be claimed, and cancelled."""
        row = self.ledger.read(message.id)
        blocker: LedgerRow | None = self.ledger.remove(row) if row else None
        if blocker:
            raise Impossible(f"{message.id} became {blocker.state} in the meantime: look again")

    def _move(self, message: DelayerMessage) -> None:
        """Into the table if it is far ahead, else into the delayer queue."""
        now = self.clock.now()
        schedule = to_schedule(message, created_at=now)
        if not within_period(schedule.address.bucket.minute, now, self.period):
            self.schedules.put(schedule)
            return
        body = encode(evolve(message, nonce=self.new_nonce()))
        if self.delayer_queue.send([Outgoing(body, delay_seconds(message.point_in_time, now))]):
            raise Unavailable("the delayer queue did not take it; it is still kept: put it back again")

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


def _told(message: DelayerMessage) -> dict[str, str]:
    return {"scheduleId": message.id, "pointInTime": format_instant(message.point_in_time)}
