"""Fires what is due: its record leaves the table, is claimed and handed over, all in one transaction (ADR 0186).

On AWS a record leaves long before it is due, and waits out its last minutes in the delayer queue. Here it stays where
it is until then: the first page of the table, in the order of time, is what is due. What is due and has to wait all the
same, for its target or its owner, waits in the delayer queue, from which the relay takes it as on AWS.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final

from attrs import define, field, frozen

from delayer.actions.rules.message_group import message_group_of
from delayer.dead_letters.dead_letter import undeliverable
from delayer.engines.ports import Outgoing
from delayer.engines.sqlite.queue import SqliteQueue
from delayer.engines.sqlite.store import DueItem, SqliteStore, decode
from delayer.engines.store.model import Item
from delayer.enqueue.rules import MoveToDeadLetters
from delayer.flow.rules.block import Party
from delayer.flow.rules.gate import Go, Later
from delayer.records.repository import StoredScheduleTable, from_item
from delayer.relay import rules
from delayer.relay.relay import Decision, Relay
from delayer.schedule.instants import SECOND, Malformed, Millis, minute_of
from delayer.schedule.messages import (
    DelayerMessage,
    ExecutorMessage,
    OutcomeMessage,
    WarmUp,
    decode_for_executor,
    encode,
)
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import Bucket, RecordKey

ROUNDED: Final[Millis] = SECOND - 1  # a delay is cut off to whole seconds
AGAIN: Final = 1  # second, before the relay has another look at what failed
BYTES: Final = 1_000_000  # of records in a page: each is written some three times in its turn
READ: Final = 100  # records, at a look, to see whose they are
SCANNED: Final = 1_000  # records, for those that are not of blocked parties
KNOWN: Final = 2_000  # parties of records
LONGEST_LOOK: Final[Millis] = 2 * SECOND  # until another one
AFTER_ALL: Final = "\x7f"  # behind all sort keys that begin the same


def _until_room(message: DelayerMessage, now: Millis) -> Millis:
    """Until another look at what finds no room: the longer it has waited, the longer, but not by much."""
    waited = now - message.schedule.point_in_time
    return ROUNDED + min(max(waited // 16, AGAIN * SECOND), LONGEST_LOOK)


@define(kw_only=True)
class HandedOver:
    """The messages that were handed over just now, by their texts: whoever takes them up need not read them."""

    at_most: int = 1_000
    _messages: dict[str, ExecutorMessage] = field(factory=dict)

    def keep(self, body: str, message: ExecutorMessage) -> None:
        """Until somebody takes it up. What nobody has taken up for long is forgotten."""
        self._messages[body] = message
        if len(self._messages) > self.at_most:
            del self._messages[next(iter(self._messages))]

    def decode(self, body: str) -> ExecutorMessage | OutcomeMessage | WarmUp:
        """As decode_for_executor."""
        return self._messages.pop(body, None) or decode_for_executor(body)


class Bodies(dict[str, str]):
    """The text of a message, made when somebody asks for it: of what fires at once, nobody does."""

    def __init__(self, messages: Mapping[str, DelayerMessage]) -> None:
        super().__init__()
        self._messages = messages

    def __missing__(self, key: str) -> str:
        return encode(self._messages[key])


@frozen(kw_only=True)
class Fire(Relay):
    """Page after page of the table; and, as the relay, batch after batch of the delayer queue."""

    waiting: SqliteQueue  # the delayer queue, which knows instants
    in_order: SqliteStore  # the table, in the order of time
    schedules: StoredScheduleTable
    handed_over: HandedOver
    noted_at: Callable[[Millis], AbstractContextManager[None]]  # what is written meanwhile is of that moment
    blocked: Callable[[], Collection[Party]] = tuple  # parties of whom no more is claimed: there is no room
    _parties: dict[str, Party | None] = field(factory=dict, init=False)  # by sort key: a blocked one is seen often

    def next_at(self) -> Millis | None:
        """When there will be something to fire, as far as it is known now."""
        first = self.in_order.first(self.schedules.table)
        return None if first is None else int(first.partition("#")[0]) - self.lead

    def due(self, at_most: int) -> Sequence[DueItem]:
        """The first records that are due, in the order of time: up to so many, and no more than a turn may write.

        Those of blocked parties stay where they are, where they can be cancelled, and keep nobody behind them waiting.
        """
        until = self.clock.now() + self.lead
        last = Bucket(minute=minute_of(until), shard=0).key + AFTER_ALL
        blocked = self.blocked()
        if blocked:
            found = self._of_others(last, blocked, at_most)
        else:
            found = self.in_order.due(self.schedules.table, last, "", at_most, BYTES)
        return [one for one in found if int(one.sort[:13]) <= until]

    def _of_others(self, last: str, blocked: Collection[Party], at_most: int) -> list[DueItem]:
        """A record is read once to see whose it is, and a bounded number of them at each look."""
        found: list[DueItem] = []
        read = size = 0
        for partition, sort in self.in_order.due_keys(self.schedules.table, last, "", SCANNED):
            if sort in self._parties and self._parties[sort] in blocked:
                continue
            text = self.in_order.text_of(self.schedules.table, partition, sort)
            if text is None:
                continue
            one = DueItem(partition=partition, sort=sort, text=text)
            read += 1
            if self._party_of(one) not in blocked:
                size += len(text)
                if found and size > BYTES:
                    break
                found.append(one)
            if len(found) == at_most or read == READ:
                break
        return found

    def _party_of(self, one: DueItem) -> Party | None:
        """None if it cannot be read."""
        if one.sort not in self._parties:
            if len(self._parties) > KNOWN:
                self._parties.clear()
            try:
                row = from_item(decode(one.text))
            except Exception:  # noqa: BLE001 - it is seen when it fires
                row = None
            self._parties[one.sort] = self.line.gate.party_of(row) if isinstance(row, Schedule) else None
        return self._parties[one.sort]

    def page(self, due: Sequence[DueItem]) -> None:
        """Fires all of them, or raises: perhaps one of them is to blame."""
        now = self.clock.now()
        with self.noted_at(now):
            self._fire_all({one.sort: decode(one.text) | {"bucket": one.partition} for one in due}, now)

    def set_aside(self, one: DueItem) -> None:
        """Gives what raises alone to the relay, which looks at it again and again, later each time (ADR 0186).

        What no message can be made of goes as it is: the relay makes a dead letter of it.
        """
        now = self.clock.now()
        try:
            row = from_item(decode(one.text))
            assert isinstance(row, Schedule)
            sent = self._outgoing(self._message(row, now))
        except Exception:  # noqa: BLE001 - what was raised is told already
            sent = Outgoing(body=one.text.decode(errors="backslashreplace"), delay_seconds=AGAIN)
        with self.noted_at(now):
            self.delayer_queue.send([sent])
            self.schedules.delete([RecordKey(bucket=one.partition, due=one.sort)])

    def _fire_all(self, due: Mapping[str, Item], now: Millis) -> None:
        decisions = {key: self.decide(item, now) for key, item in due.items()}
        messages = {key: one.message for key, one in decisions.items() if hasattr(one, "message")}
        failed = self.carry_out(decisions, Bodies(messages), now)
        self._look_again({key: messages[key] for key in failed if key in messages})
        self.schedules.delete([RecordKey(bucket=due[key]["bucket"], due=key) for key in due])

    def lined_up(self, due: Mapping[str, DelayerMessage], now: Millis) -> dict[str, Decision]:
        """As the relay. Who finds no room asks no line for a turn."""
        blocked = self.blocked()
        if not blocked:
            return Relay.lined_up(self, due, now)
        kept = {key: one for key, one in due.items() if self.line.gate.party_of(one.schedule) in blocked}
        later = {key: Later(message=one, at=now + _until_room(one, now), why=None) for key, one in kept.items()}
        return {**later, **Relay.lined_up(self, {key: one for key, one in due.items() if key not in kept}, now)}

    def send(self, action_type: str, claimed: Mapping[str, ExecutorMessage]) -> list[str]:
        """As HandOver."""
        bodies = {key: encode(one) for key, one in claimed.items()}
        for key, body in bodies.items():
            self.handed_over.keep(body, claimed[key])
        self.executor_queues[action_type].send(
            [Outgoing(body=body, message_group=message_group_of(claimed[key].schedule)) for key, body in bodies.items()]
        )
        return []

    def decide(self, item: Item, now: Millis) -> Decision:
        """About one record."""
        row = from_item(item)
        if not isinstance(row, Schedule):
            return undeliverable(str(item), str(row), None)
        message = self._message(row, now)
        try:
            decision = rules.decide(message, now, self.executor_queues)
        except Malformed as error:
            return undeliverable(encode(message), error.reason, message)
        match decision:
            case MoveToDeadLetters(reason=reason):
                return undeliverable(encode(message), reason, message)
            case rules.WaitForExecutor(reason=reason):
                self.observer.warn("waits", row.id, reason=reason)
                return Later(message=message, at=now + ROUNDED + AGAIN * SECOND, why=None)
        return decision

    def _fire(self, going: Mapping[str, Go[DelayerMessage]], give_back: Millis) -> list[str]:  # noqa: ARG002
        """Nothing waits here for its turn at a target: it goes into the queue with its turn, and comes in time for it.

        Without it, it would book another one each time that it comes.
        """
        now = self.clock.now()
        early = {key: one for key, one in going.items() if one.at - self.lead > now}
        for one in early.values():
            self.waiting.send([self._outgoing(one.message, 0)], visible_at=one.at - self.lead)
        return self.hand_over({key: one for key, one in going.items() if key not in early})

    def _look_again(self, failed: Mapping[str, DelayerMessage]) -> None:
        """The relay does, in a while: nothing that fails keeps what is due behind it waiting."""
        if failed:
            self.delayer_queue.send([self._outgoing(one) for one in failed.values()])

    def _message(self, schedule: Schedule, now: Millis) -> DelayerMessage:
        """It has left the table when the change feed says so, too: both tell of it, and that is one event."""
        return DelayerMessage(schedule=schedule, nonce=self.new_token(), enqueued_at=max(now, schedule.created_at))

    def _outgoing(self, message: DelayerMessage, delay: int = AGAIN) -> Outgoing:
        group = message_group_of(message.schedule)
        return Outgoing(body=encode(message), delay_seconds=delay, message_group=group)
