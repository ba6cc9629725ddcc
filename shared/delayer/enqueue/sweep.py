"""Deletes what has entered the delayer period; the table's stream does the rest. Needs no lock (ADR 0012)."""

from collections.abc import Callable, Sequence

from attrs import evolve, field, frozen

from delayer.engines.ports import Clock, Observer, Outgoing, Parallel, Queue, ReceivedMessage, Unavailable
from delayer.enqueue import rules
from delayer.enqueue.rules import SweepGate
from delayer.records.ports import Control, ScheduleTable
from delayer.schedule.instants import Malformed, Millis, Minute, UnknownVersion, minute_of
from delayer.schedule.messages import SweepMessage, decode, encode
from delayer.schedule.schedule_id import Bucket, RecordKey, Shards
from delayer.schedule.table_change import Heartbeat

TOGETHER = 25  # keys in one request to DynamoDB
POLL = 250  # ms between two reads of the heartbeat


@frozen(kw_only=True)
class SweepBuckets:
    """Big buckets, one message each; any number of these run at a time."""

    clock: Clock
    schedules: ScheduleTable
    control: Control
    delayer_queue: Queue
    observer: Observer
    backlog_mark: int  # as that of the minute task
    budget: Millis = field(default=40_000)  # what is left after this long is swept when SQS delivers the message again

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Returns the ids of the messages that SQS must deliver again."""
        return [received.message_id for received in batch if not self._sweep(received)]

    def _sweep(self, received: ReceivedMessage) -> bool:
        try:
            message = decode(received.body, SweepMessage)
        except (Malformed, UnknownVersion) as error:
            self.observer.warn("sweep message dropped: the minute task writes it again", reason=str(error))
            return True
        bucket = Bucket(minute=message.minute, shard=message.shard)
        try:
            deleted, left = self._drain(bucket)
        except Unavailable as error:
            self.observer.warn("bucket not swept", bucket=bucket.key, error=str(error))
            return False
        self.observer.count("Swept", deleted)
        self.observer.note("bucket swept", bucket=bucket.key, deleted=deleted, left=left)
        return not left

    def _gate(self) -> SweepGate:
        """The same as that of the minute task."""
        seen, visible = self.control.heartbeats().proven, self.delayer_queue.visible()
        return rules.decide_gate(seen, visible, self.backlog_mark, self.clock.now())

    def _drain(self, bucket: Bucket) -> tuple[int, bool]:
        """Page by page until the last; whether anything is left.

        While the relay has a backlog, a bucket that is not urgent gives one page: paced, but not starved.
        """
        began = self.clock.now()
        deleted, left, pages = 0, False, 0
        after: RecordKey | None = None
        while self.clock.now() <= began + self.budget:
            gate = self._gate()
            if gate is SweepGate.CLOSED or (pages and not rules.may_sweep(gate, bucket.minute, self.clock.now())):
                break
            pages += 1
            page = self.schedules.page(bucket, after)
            missed = self.schedules.delete(page.keys) if page.keys else []
            deleted += len(page.keys) - len(missed)
            left = left or bool(missed)
            after = page.more
            if after is None:
                return deleted, left
        return deleted, True


@frozen(kw_only=True)
class Inspection:
    """These records are to be deleted from one bucket."""

    keys: tuple[RecordKey, ...] = ()
    empty: bool = False  # its first page was also its last, and had nothing
    failed: bool = False  # it could not be read, or not handed on


@frozen(kw_only=True)
class Swept:
    """It counts what became of the records of one minute, or of several together."""

    deleted: int = 0
    empty: bool = False  # every shard was
    failed: bool = False  # not all could be read, handed on, or deleted


def together(parts: Sequence[Swept]) -> Swept:
    """Empty only if all were, failed if any did."""
    return Swept(
        deleted=sum(part.deleted for part in parts),
        empty=rules.all_empty([part.empty for part in parts]),
        failed=any(part.failed for part in parts),
    )


@frozen(kw_only=True)
class Closing:
    """How far the watermark came."""

    closed_until: Minute
    swept: Swept
    finished: bool  # within the budget


@frozen(kw_only=True)
class Tick:
    """One tick of the minute task."""

    clock: Clock
    schedules: ScheduleTable
    control: Control
    delayer_queue: Queue
    sweep_queue: Queue
    observer: Observer
    parallel: Parallel
    bring_back: Callable[[Millis, SweepGate], None]  # records that the stream gave up on
    period: Millis
    backlog_mark: int  # visible messages in the delayer queue; with more than these the relay has a backlog
    heartbeats: int  # with a lane, in each tick
    canary: Callable[[], None] | None = None  # schedules one, and raises nothing; None if it is switched off
    budget: Millis = field(default=45_000)  # begins no further minute after this long

    def __call__(self) -> None:
        """Raises Unavailable if AWS failed; the next tick continues where this one ended."""
        began = self.clock.now()
        if self.canary:  # in every tick, also in one that may not sweep, and before the time is used up
            self.canary()
        self.beat(began)
        shards = self.control.shards()
        if shards is None:
            self.observer.note("nothing was ever scheduled")
            return
        seen = began if self._stream_is_read(began) else None
        backlog = self.delayer_queue.visible()
        gate = rules.decide_gate(seen, backlog, self.backlog_mark, began)
        if gate is not SweepGate.OPEN:
            self.observer.count("SweepHeld")
            self.observer.warn("not everything may be swept", swept=gate, visible=backlog)
        if gate is not SweepGate.CLOSED:
            try:
                self.sweep(shards, began, gate, backlog)
            finally:
                self.bring_back(began, gate)

    def beat(self, began: Millis) -> None:
        """One that every version knows, and some of which each takes a shard and a lane by chance (ADR 0123).

        They are awaited before they are sent. If one is not written, the next tick sends it again.
        """
        self.schedules.beat(Heartbeat(sent_at=began))
        new, again = rules.beats_to_send(self.control.heartbeats(), self.heartbeats, began)
        if new:
            self.control.await_lanes(new)
        self.parallel.map(self.schedules.beat, [*again, *new])

    def _stream_is_read(self, began: Millis) -> bool:
        """After a pause of the minute task the last heartbeat is old; that of this tick arrives within a moment."""
        if rules.heartbeat_is_fresh(self.control.heartbeats().proven, began):
            return True
        while self.clock.now() < began + rules.HEARTBEAT_WAIT:
            self.clock.sleep_until(self.clock.now() + POLL)
            if rules.heartbeat_is_fresh(self.control.heartbeats().proven, began):
                return True
        return False

    def sweep(self, shards: Shards, began: Millis, gate: SweepGate = SweepGate.OPEN, backlog: int = 0) -> None:
        """Sweeps the records that are on time first, then the old ones; then notes how far it came."""
        progress = self.control.progress() or rules.first_progress(shards)
        plan = rules.plan(progress, began, self.period, gate)
        near_until = began + self.budget - self.budget // rules.OLD_SHARE
        parts = []
        for minute in plan.minutes:
            if self.clock.now() <= near_until:
                parts.append(self._sweep_minute(minute, shards))
        near = together(parts)
        room = rules.room_for_the_old(backlog, self.backlog_mark)
        old = self.close(progress.closed_until, shards, began, plan.whole, room)
        whole = plan.whole and old.finished and len(parts) == len(plan.minutes)
        self.control.advance(
            evolve(
                progress,
                closed_until=old.closed_until,
                swept_at=began,
                whole_at=began if whole else progress.whole_at,
            )
        )
        self._report(together([near, old.swept]), whole, minute_of(began) - old.closed_until)

    def _report(self, swept: Swept, whole: bool, behind: int) -> None:
        """A tick that could not do all of its work fails, so that the alarm sees it."""
        self.observer.count("Swept", swept.deleted)
        self.observer.note("swept", deleted=swept.deleted, wholeWindow=whole, minutesBehind=behind)
        if swept.failed:
            raise Unavailable("not every bucket could be swept; the next tick tries again")

    def close(self, watermark: Minute, shards: Shards, began: Millis, whole: bool, room: int) -> Closing:
        """Sweeps the minutes after the watermark, and moves it as long as each is proven empty.

        With `whole` it continues after a minute that is not empty yet, so that no other waits for a big minute. It ends
        when it has deleted `room` records: after an outage the overdue ones come in portions.
        """
        parts, closing, minute = [Swept()], True, watermark
        while rules.may_close(minute, self.clock.now()) and (closing or whole):
            if self.clock.now() > began + self.budget or room <= 0:
                return Closing(closed_until=watermark, swept=together(parts), finished=False)
            parts.append(self._sweep_minute(minute, shards))
            room -= parts[-1].deleted
            if closing and parts[-1].deleted and not parts[-1].failed:
                parts.append(self._sweep_minute(minute, shards))
            closing = closing and parts[-1].empty
            minute += 1
            watermark = minute if closing else watermark
        return Closing(closed_until=watermark, swept=together(parts), finished=True)

    def _sweep_minute(self, minute: Minute, shards: Shards) -> Swept:
        """Looks into all shards, then deletes in due order: neighbours in time are neighbours in the queue, too."""
        buckets = [Bucket(minute=minute, shard=shard) for shard in range(shards.highest + 1)]
        inspections = self.parallel.map(self.inspect, buckets)
        keys = sorted((key for one in inspections for key in one.keys), key=lambda key: key.due)
        left = self._delete(keys)
        return Swept(
            deleted=len(keys) - len(left),
            empty=rules.all_empty([one.empty for one in inspections]),
            failed=bool(left) or any(one.failed for one in inspections),
        )

    def _delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        """Deletes records. Returns the keys of those that are not known to be gone."""
        batches = [keys[start : start + TOGETHER] for start in range(0, len(keys), TOGETHER)]
        return [key for left in self.parallel.map(self.schedules.delete, batches) for key in left]

    def inspect(self, bucket: Bucket) -> Inspection:
        """A bucket of one page is swept here; a bigger one is handed on (ADR 0012)."""
        try:
            page = self.schedules.page(bucket)
            if page.more:
                message = SweepMessage(minute=bucket.minute, shard=bucket.shard)
                return Inspection(failed=bool(self.sweep_queue.send([Outgoing(body=encode(message))])))
            return Inspection(keys=page.keys, empty=not page.keys)
        except Unavailable as error:
            self.observer.warn("bucket not swept", bucket=bucket.key, error=str(error))
            return Inspection(failed=True)
