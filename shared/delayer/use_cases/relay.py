"""Waits out the last fraction, claims, and hands over to the queue of the action."""

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from delayer.core import relaying
from delayer.core.instants import Millis
from delayer.core.late import Drop
from delayer.core.ledger import (
    Claim,
    ComeBack,
    LedgerRow,
    Refuse,
    Verdict,
    decide_claim,
    decide_drop,
    first_claim,
)
from delayer.core.lifecycle import State
from delayer.core.tenancy import tenant_of
from delayer.core.wire import DelayerMessage, Unreadable, decode, encode, to_executor
from delayer.ports import (
    Clock,
    Delivery,
    Ledger,
    Observer,
    Outgoing,
    Parallel,
    Queue,
    Unavailable,
)
from delayer.use_cases.set_aside import SetAside, copy_of


@frozen
class Held:
    """A message on its way through the relay."""

    delivery: Delivery
    message: DelayerMessage


@frozen(kw_only=True)
class Relay:
    """One batch of the delayer queue."""

    clock: Clock
    ledger: Ledger
    delayer_queue: Queue
    executor_queues: Mapping[str, Queue]  # by action type
    set_aside: SetAside
    observer: Observer
    parallel: Parallel
    new_nonce: Callable[[], str]
    lease: Millis  # this function's timeout, shorter than the queue's visibility timeout
    lead: Millis  # how long before its point in time a schedule may be claimed and handed over

    def __call__(self, deliveries: Sequence[Delivery]) -> list[str]:
        """Handles all; returns the ids of the messages that SQS must deliver again."""
        give_back = self.clock.now() + self.lease * 2 // 3
        failed: list[str] = []
        early: list[tuple[Held, int]] = []
        held: list[Held] = []
        late: list[tuple[Held, str]] = []
        for delivery in deliveries:
            try:
                message = decode(delivery.body, DelayerMessage)
                decision = self._decide(message)
            except (Unreadable, ValueError) as error:
                failed += self._keep(delivery, str(error), None)
                continue
            match decision:
                case relaying.Resend(delay):
                    early.append((Held(delivery, message), delay))
                case relaying.Stale():
                    failed += self._keep(delivery, "more than 29 days past its point in time", message)
                case Drop(reason):
                    late.append((Held(delivery, message), reason))
                case relaying.Hold():
                    held.append(Held(delivery, message))
        return failed + self._resend(early) + self._drop(late) + self._fire(held, give_back)

    def _decide(self, message: DelayerMessage) -> relaying.Resend | relaying.Hold | relaying.Stale | Drop:
        return relaying.decide(message, self.clock.now())

    def _resend(self, early: Sequence[tuple[Held, int]]) -> list[str]:
        """The same nonce goes back into the queue: not a new copy, only a longer wait."""
        if not early:
            return []
        again = [Outgoing(held.delivery.body, delay, tenant_of(held.message)) for held, delay in early]
        unsent = self.delayer_queue.send(again)
        for held, delay in [one for position, one in enumerate(early) if position not in unsent]:
            self.observer.note("too early, sent again", held.message.id, delaySeconds=delay)
        return [early[position][0].delivery.message_id for position in unsent]

    def _fire(self, held: Sequence[Held], give_back: Millis) -> list[str]:
        """Group by group, each at its time."""
        failed: list[str] = []
        waiting = {id(one.message): one for one in held}
        while waiting:
            if self.clock.now() > give_back:
                # Killed by its timeout, this function would leave claims behind that nobody handed over.
                return failed + [one.delivery.message_id for one in waiting.values()]
            group = relaying.next_group([one.message for one in waiting.values()], self.lead)
            self.clock.sleep_until(group.at)
            ready = [waiting.pop(id(message)) for message in group.messages]
            failed += self._hand_over(ready)
        return failed

    def _hand_over(self, ready: Sequence[Held]) -> list[str]:
        """Claims each, and sends those whose claim is this message's own."""
        return self._settle(list(zip(ready, self.parallel.map(self._claim, ready), strict=True)))

    def _drop(self, late: Sequence[tuple[Held, str]]) -> list[str]:
        """Ends what its own rule drops; what may have been handed over before goes on."""
        verdicts = self.parallel.map(lambda one: self._claim(one[0], one[1]), late)
        return self._settle([(held, verdict) for (held, _), verdict in zip(late, verdicts, strict=True)])

    def _settle(self, verdicts: Sequence[tuple[Held, Verdict]]) -> list[str]:
        failed = [one.delivery.message_id for one, verdict in verdicts if isinstance(verdict, ComeBack)]
        claims = [(one, verdict.row) for one, verdict in verdicts if isinstance(verdict, Claim)]
        mine = [(one, row.delivery) for one, row in claims if row.state is State.CLAIMED]
        for kind in sorted({one.message.action_type for one, _ in mine}):
            failed += self._send(kind, [pair for pair in mine if pair[0].message.action_type == kind])
        return failed

    def _claim(self, held: Held, drop: str = "") -> Verdict:
        """The claim that was written, or the end if it is to be dropped; or why there is none."""
        message, now = held.message, self.clock.now()
        wanted = first_claim(message, self.new_nonce(), now, self.lease)
        standing: LedgerRow | None = None
        try:
            while True:
                verdict = decide_drop(wanted, standing, now, drop) if drop else decide_claim(wanted, standing)
                if isinstance(verdict, Claim):
                    standing = self._write(verdict)
                if standing is None or not isinstance(verdict, Claim):
                    return self._told(message, verdict, now)
        except Exception as error:  # noqa: BLE001 - whatever one message brings about, its neighbours go on
            self.observer.warn("not claimed", message.id, error=repr(error))
            return ComeBack()

    def _write(self, claim: Claim) -> LedgerRow | None:
        return self.ledger.swap(claim.over, claim.row) if claim.over else self.ledger.put_if_absent(claim.row)

    def _told(self, message: DelayerMessage, verdict: Verdict, now: Millis) -> Verdict:
        match verdict:
            case Claim(row) if row.state is State.DROPPED:
                self.observer.count("Dropped")
                self.observer.note("dropped", message.id, reason=row.detail)
            case Claim():
                self.observer.count("Claimed")
                self.observer.note("claimed", message.id, early=message.point_in_time - now)
            case Refuse(reason):
                self.observer.note("copy refused", message.id, reason=reason)
        return verdict

    def _send(self, kind: str, mine: Sequence[tuple[Held, str]]) -> list[str]:
        queue = self.executor_queues.get(kind)
        if queue is None:
            reason = f"no executor for the action {kind!r}"
            return [failed for one, _ in mine for failed in self._keep(one.delivery, reason, one.message)]
        messages = [to_executor(one.message, delivery) for one, delivery in mine]
        unsent = queue.send([Outgoing(encode(message), tenant=tenant_of(message)) for message in messages])
        return [mine[position][0].delivery.message_id for position in unsent]

    def _keep(self, delivery: Delivery, reason: str, message: DelayerMessage | None) -> list[str]:
        try:
            self.set_aside.keep(copy_of(delivery.body, reason, message))
        except Unavailable:
            return [delivery.message_id]
        return []
