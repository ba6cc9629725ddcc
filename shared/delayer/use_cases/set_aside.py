"""Sets a record aside: the body first, then the ledger; a crash in between repeats both without harm."""

from attrs import evolve, frozen

from delayer.core.ledger import Keep, LedgerRow, decide_set_aside, ended, first_end
from delayer.core.lifecycle import State
from delayer.core.schedule_id import address_of
from delayer.core.set_aside import VERSION, Kept, Shelf
from delayer.core.wire import DelayerMessage, ExecutorMessage
from delayer.ports import Clock, Ledger, Observer, SetAsideStore


@frozen(kw_only=True)
class Copy:
    """One copy of a schedule, or of something that should have been one."""

    body: str  # everything there is
    reason: str
    schedule_id: str = ""  # empty if unknown
    owner: str = ""
    nonce: str = ""  # empty if it was never sent
    delivery: str = ""  # empty if it was never handed over


def copy_of(body: str, reason: str, message: DelayerMessage | ExecutorMessage | None) -> Copy:
    """The copy in a message; None if it could not be read."""
    if message is None:
        return Copy(body=body, reason=reason)
    delivery = message.delivery if isinstance(message, ExecutorMessage) else ""
    return Copy(
        body=body,
        reason=reason,
        schedule_id=message.id,
        owner=message.owner,
        nonce=message.nonce,
        delivery=delivery,
    )


@frozen(kw_only=True)
class SetAside:
    """Keeps what must not be fired and must not be lost."""

    clock: Clock
    ledger: Ledger
    store: SetAsideStore
    observer: Observer
    source: str  # the function's name

    def keep(self, copy: Copy) -> None:
        """Stores the body and writes the end. Raises Unavailable: then nothing is settled, and it is to be repeated."""
        copy = _named(copy)
        kept = Kept(
            v=VERSION,
            shelf=Shelf.SET_ASIDE,
            schedule_id=copy.schedule_id,
            owner=copy.owner,
            reason=copy.reason,
            source=self.source,
            at=self.clock.now(),
            body=copy.body,
        )
        self.store.keep(kept)
        verdict = self._mark(copy) if copy.schedule_id else Keep.ALREADY
        if verdict is Keep.NEEDLESS:
            self.store.discard(kept.key)
            self.observer.note("needless copy thrown away", copy.schedule_id, reason=copy.reason)
            return
        if verdict is Keep.MARK:
            self.store.keep(kept)  # a put-back of the same body may have deleted it just before the mark
        self.observer.count("SetAside")
        self.observer.warn("set aside", copy.schedule_id, reason=copy.reason, key=kept.key)

    def _mark(self, copy: Copy) -> Keep:
        """Writes the end unless the ledger has another; compare-and-set until it stands."""
        standing = self.ledger.read(copy.schedule_id)
        while True:
            verdict = decide_set_aside(standing, copy.nonce, copy.delivery)
            if verdict is not Keep.MARK:
                return verdict
            blocker = self._write(copy, standing)
            if blocker is None:
                return verdict
            standing = blocker

    def _write(self, copy: Copy, standing: LedgerRow | None) -> LedgerRow | None:
        now = self.clock.now()
        if standing:
            return self.ledger.swap(standing, ended(standing, State.SET_ASIDE, now, copy.reason))
        return self.ledger.put_if_absent(first_end(copy.schedule_id, copy.owner, State.SET_ASIDE, now, copy.reason))


def _named(copy: Copy) -> Copy:
    """What is no id names no ledger row, and no place in the store."""
    try:
        address_of(copy.schedule_id)
    except ValueError:
        return evolve(copy, schedule_id="")
    return copy
