"""What an operator does with records set aside or failed: list them, put one back, throw one away (ADR 0021)."""

from collections.abc import Callable
from typing import Any

from attrs import evolve, frozen

from delayer.core import wire
from delayer.core.instants import format_instant
from delayer.core.ledger import ROW_LIFETIME, STALE_AFTER, LedgerRow, ended
from delayer.core.lifecycle import State, may_follow
from delayer.core.schedule_id import address_of
from delayer.core.set_aside import Kept, decode
from delayer.core.wire import DelayerMessage, ExecutorMessage, Unreadable, encode
from delayer.core.wire import decode as decode_message
from delayer.ports import Clock, Ledger, Observer, Outgoing, Queue, SetAsideStore, Unavailable


class Impossible(ValueError):
    """The command cannot be carried out; the text says why and what to do instead."""


@frozen(kw_only=True)
class Operate:
    """Commands on the set-aside store."""

    clock: Clock
    ledger: Ledger
    store: SetAsideStore
    delayer_queue: Queue
    observer: Observer
    read_record: Callable[[str], DelayerMessage]  # a stream record as JSON; raises Unreadable
    new_nonce: Callable[[], str]

    def list(self, prefix: str = "") -> list[dict[str, Any]]:
        """Everything kept, without the bodies."""
        return [self._shown(key) for key in self.store.list(prefix)]

    def show(self, key: str) -> dict[str, Any]:
        """One kept record, with its body."""
        return self._shown(key) | {"body": self._kept(key).body}

    def put_back(self, key: str) -> dict[str, Any]:
        """Gives the claim to a fresh nonce and sends the schedule again; it fires at its time, at once if overdue.

        Repeating it after a crash is safe: the nonce stands in the ledger, and a second message of
        that nonce finds the lease or the outcome of the first.
        """
        kept = self._kept(key)
        message = self._message(kept)
        row = self._reopened(kept, message)
        body = encode(evolve(message, nonce=row.nonce))
        if self.delayer_queue.send([Outgoing(body)]):
            raise Unavailable("the delayer queue did not take it; the record is still kept: try again")
        self.store.discard(key)
        self.observer.note("put back", message.id, key=key)
        return {"scheduleId": message.id, "state": "put back", "pointInTime": format_instant(message.point_in_time)}

    def throw_away(self, key: str) -> dict[str, Any]:
        """Ends it as dropped, and deletes the body."""
        kept = self._kept(key)
        row = self.ledger.read(kept.schedule_id) if kept.schedule_id else None
        if row and row.state is State.SET_ASIDE:
            self.ledger.swap(row, ended(row, State.DROPPED, self.clock.now(), "thrown away by an operator"))
        self.store.discard(key)
        self.observer.note("thrown away", kept.schedule_id, key=key)
        return {"scheduleId": kept.schedule_id, "state": "thrown away"}

    def _reopened(self, kept: Kept, message: DelayerMessage) -> LedgerRow:
        """The row with a claim whose lease has lapsed, so that the relay takes it up."""
        standing = self.ledger.read(message.id)
        now = self.clock.now()
        if now - address_of(message.id).due > STALE_AFTER:
            raise Impossible("it is more than 29 days late: create the schedule anew, and throw this record away")
        if standing and standing.state is State.CLAIMED and standing.detail == kept.key:
            return standing
        if standing and not may_follow(standing.state, State.CLAIMED):
            raise Impossible(f"its schedule is {standing.state}: throw this record away instead")
        if standing and not standing.ended:
            raise Impossible("its schedule is claimed by another copy that is still on its way")
        row = LedgerRow(
            schedule_id=message.id,
            owner=message.owner,
            state=State.CLAIMED,
            revision=standing.revision + 1 if standing else 1,
            at=now,
            expires_at=max(message.point_in_time, now) + ROW_LIFETIME,
            nonce=self.new_nonce(),
            claimed_at=now,
            attempt=1,
            detail=kept.key,
        )
        blocker = self.ledger.swap(standing, row) if standing else self.ledger.put_if_absent(row)
        if blocker:
            raise Impossible(f"its schedule became {blocker.state} in the meantime: look again")
        return row

    def _message(self, kept: Kept) -> DelayerMessage:
        """The schedule in a kept body, whatever it was when it was kept."""
        for read in (_from_delayer, _from_executor, self.read_record):
            try:
                return read(kept.body)
            except (Unreadable, ValueError):
                continue
        raise Impossible("its body cannot be read as a schedule: show it, create the schedule anew, and throw it away")

    def _kept(self, key: str) -> Kept:
        content = self.store.get(key)
        if content is None:
            raise Impossible(f"nothing is kept under {key!r}: list what is")
        try:
            return decode(content)
        except ValueError as error:
            raise Impossible(f"{key!r} is no kept record: {error}") from error

    def _shown(self, key: str) -> dict[str, Any]:
        try:
            kept = self._kept(key)
        except Impossible as error:
            return {"key": key, "reason": str(error)}
        return {
            "key": key,
            "scheduleId": kept.schedule_id,
            "reason": kept.reason,
            "source": kept.source,
            "at": format_instant(kept.at),
        }


def _from_delayer(body: str) -> DelayerMessage:
    return decode_message(body, DelayerMessage)


def _from_executor(body: str) -> DelayerMessage:
    message = decode_message(body, ExecutorMessage)
    return DelayerMessage(
        v=wire.VERSION,
        id=message.id,
        owner=message.owner,
        point_in_time=message.point_in_time,
        action_type=message.action_type,
        action=message.action,
        payload=message.payload,
        nonce=message.nonce,
    )
