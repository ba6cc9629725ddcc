"""A call that is done once: repeated with the same idempotency key, it has the same answer (ADR 0049, 0126)."""

import hashlib
from collections.abc import Callable
from typing import Final, TypeVar

from attrs import evolve, frozen

from delayer.accept.ports import NameRow, Registry, RequestRow, ScheduleTransaction
from delayer.accept.rules.request import KeyReused
from delayer.engines.ports import Clock
from delayer.ledger.model import named
from delayer.schedule.instants import DAY, Millis

ROUNDS: Final = 5  # tries against others who change the same name, key or schedule
KEY_LIFETIME: Final[Millis] = DAY  # how long the same idempotency key brings the same answer (ADR 0049)


def with_name(transaction: ScheduleTransaction, name: str, holder: NameRow | None, now: Millis) -> ScheduleTransaction:
    """The new schedule takes the name from `holder`, if any, and has a ledger row from the start (ADR 0041)."""
    new = transaction.put
    return evolve(
        transaction,
        put_row=named(new.id, new.owner, name, now),
        put_name=NameRow(owner=new.owner, name=name, schedule_id=new.id),
        over_name=holder,
    )


Outcome = TypeVar("Outcome")


Answered = RequestRow | KeyReused  # what an earlier call with the key was answered, as it is kept


@frozen(kw_only=True)
class Call:
    """A call: its owner, its request and its key. The same key with anything else is a mistake."""

    owner: str
    what: str  # method and path
    body: bytes
    key: str  # empty: none

    @property
    def digest(self) -> str:
        """Of all that must be the same again. The keys of all calls are in one list."""
        return hashlib.sha256(f"{self.what}\n".encode() + self.body).hexdigest()


@frozen(kw_only=True)
class KnownKey:
    """It says what was known of the key of a call when it was looked up."""

    call: Call
    answer: Answered | None = None  # None: the key is new, or there is none
    over: RequestRow | None = None  # the expired row that is in the place of a new key


NO_KEY: Final = KnownKey(call=Call(owner="", what="", body=b"", key=""))


@frozen(kw_only=True)
class Once:
    """Looks keys up, and makes their rows.

    A row is written in the transaction that does what the call asks for. So whoever finds none has done nothing yet,
    and of two equal calls at the same time one finds that its transaction cannot be written.
    """

    clock: Clock
    registry: Registry

    def __call__(self, call: Call, do: Callable[[KnownKey], Outcome]) -> Outcome | Answered:
        """The answer of an earlier call with the same key, or what `do` comes to."""
        known = self.look(call)
        if known.answer:
            return known.answer
        return self._or_its_answer(call, lambda: do(known))

    def look(self, call: Call) -> KnownKey:
        """Strongly consistent; nothing is read without a key. Raises Unavailable."""
        row = self.registry.requested(call.owner, call.key) if call.key else None
        if row is None or row.expires_at <= self.clock.now():
            return KnownKey(call=call, over=row)
        return KnownKey(call=call, answer=row if row.digest == call.digest else KeyReused())

    def settled(self, known: KnownKey, do: Callable[[], Outcome], *done: type) -> Outcome | Answered:
        """Returns the answer of `do`, if that is one of the types `done`; else the answer that an equal call got
        meanwhile.

        What it has done may be all that is in the way of doing it again. So the key is looked up last before a call is
        refused: a refusal from after it was done would be a lie.
        """
        outcome = self._or_its_answer(known.call, do)
        return outcome if isinstance(outcome, done) else self.look(known.call).answer or outcome

    def _or_its_answer(self, call: Call, do: Callable[[], Outcome]) -> Outcome | Answered:
        try:
            return do()
        except Exception:  # what an equal call has done meanwhile may be all that is in the way
            if call.key and (answer := self.look(call).answer):
                return answer
            raise

    def row(
        self,
        known: KnownKey,
        *,
        schedule_id: str,
        point_in_time: Millis,
        series: str = "",
        replaces: str = "",
        number: int = 0,
        state: str = "",
    ) -> RequestRow | None:
        """The row that keeps the answer; None without a key."""
        if not known.call.key:
            return None
        return RequestRow(
            owner=known.call.owner,
            key=known.call.key,
            digest=known.call.digest,
            schedule_id=schedule_id,
            point_in_time=point_in_time,
            expires_at=self.clock.now() + KEY_LIFETIME,
            series=series,
            replaces=replaces,
            number=number,
            state=state,
        )
