"""Accepts a schedule: checks it, gives it an id, stores it. It does not know the delayer period."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from attrs import evolve, frozen

from delayer.accept.ports import NameRow, Registry, RequestRow, ScheduleTransaction
from delayer.accept.rules.admission import Actions, Lanes, Policies, admit
from delayer.accept.rules.request import KeyReused, ScheduleRequest
from delayer.accept.rules.status import NameTaken, is_over
from delayer.accept.use_cases.issue import Ids
from delayer.accept.use_cases.once import KEY_LIFETIME, ROUNDS, with_name
from delayer.connections.naming import Naming
from delayer.engines.ports import Clock, Observer, Parallel, Unavailable
from delayer.ledger.ports import Ledger
from delayer.owners.quota import Quota
from delayer.records.ports import Records
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import Schedule

TOGETHER: Final = 25  # schedules in one request


@frozen(kw_only=True)
class Accepted:
    """It is stored: now, or by an earlier call with the same key."""

    schedule_id: str
    point_in_time: Millis


Answer = Accepted | NameTaken | KeyReused
Rest = Callable[[], Answer]
Outcome = TypeVar("Outcome")


@frozen(kw_only=True)
class Wish:
    """One schedule of a batch."""

    body: bytes
    key: str = ""  # its idempotency key


@frozen(kw_only=True)
class Accept:
    """One call of the API."""

    clock: Clock
    records: Records
    ledger: Ledger
    registry: Registry
    ids: Ids
    quota: Quota
    actions: Actions
    policies: Policies  # that the stack has
    lanes: Lanes  # the same
    naming: Naming
    observer: Observer

    def __call__(self, body: bytes, owner: str, key: str = "") -> Answer:
        """Raises NotJson, TooLarge or Invalid for bad input, NotAllowed, OverQuota, Unavailable if AWS failed.

        `key` is the idempotency key. It is looked up first: what was accepted stays accepted, even if its point in
        time has passed by now.
        """
        begun = self.begin(body, owner, key)
        if not isinstance(begun, Schedule):
            return begun()
        self.records.put(begun)
        return self.accepted(begun)

    def begin(self, body: bytes, owner: str, key: str) -> "Schedule | Rest":
        """Returns the schedule that is to be put, if that is all; otherwise the work that is left."""
        digest = hashlib.sha256(body).hexdigest()
        earlier = self.registry.requested(owner, key) if key else None
        if earlier and (answer := self._repeated(earlier, digest)):
            return partial(_the, answer)
        request = admit(body, self.clock.now(), self.actions, self.policies, self.lanes)
        self.quota.permit(owner, request.definition, request.point_in_time)
        connection = self.naming(owner, request.definition)
        self.quota.make_room(owner)
        self.quota.spend(owner)
        if key or request.name or request.definition.group or connection:
            return partial(self._in_one_transaction, request, owner, key, digest, earlier, connection)
        return self.ids.issue(request, owner)

    def _repeated(self, earlier: RequestRow, digest: str) -> Answer | None:
        if earlier.expires_at <= self.clock.now():
            return None
        if earlier.digest != digest:
            return KeyReused()
        self.observer.note("accepted before", earlier.schedule_id)
        return Accepted(schedule_id=earlier.schedule_id, point_in_time=earlier.point_in_time)

    def _meanwhile(self, owner: str, key: str, digest: str) -> Answer | None:
        """An equal call at the same time may be who has the name now (ADR 0126)."""
        row = self.registry.requested(owner, key) if key else None
        return self._repeated(row, digest) if row else None

    def _in_one_transaction(
        self, request: ScheduleRequest, owner: str, key: str, digest: str, earlier: RequestRow | None, connection: str
    ) -> Answer:
        """The record together with its name, its group, its connection and the key: none without the others."""
        for again in range(ROUNDS):
            transaction = ScheduleTransaction(put=self.ids.issue(request, owner), connection=connection)
            if key:
                earlier = self.registry.requested(owner, key) if again else earlier
                if earlier and (answer := self._repeated(earlier, digest)):
                    return answer
                transaction = self._with_key(transaction, key, digest, earlier)
            if request.name:
                holder = self.registry.named(owner, request.name)
                if holder and self._is_live(holder):
                    return self._meanwhile(owner, key, digest) or NameTaken(holder.schedule_id)
                transaction = with_name(transaction, request.name, holder, self.clock.now())
            if self.registry.create(transaction):
                return self.accepted(transaction.put)
        raise Unavailable("others take the same name or key all the time; try again")

    def _is_live(self, holder: NameRow) -> bool:
        return not is_over(holder.schedule_id, self.ledger.read(holder.schedule_id), self.clock.now())

    def _with_key(
        self, transaction: ScheduleTransaction, key: str, digest: str, earlier: RequestRow | None
    ) -> ScheduleTransaction:
        row = RequestRow(
            owner=transaction.put.owner,
            key=key,
            digest=digest,
            schedule_id=transaction.put.id,
            point_in_time=transaction.put.point_in_time,
            expires_at=self.clock.now() + KEY_LIFETIME,
        )
        return evolve(transaction, put_request=row, over_request=earlier)

    def accepted(self, new: Schedule) -> Accepted:
        """Tells which schedule is stored now."""
        self.observer.count("Accepted")
        self.observer.note("accepted", new.id, pointInTime=new.point_in_time, action=new.definition.action_type)
        return Accepted(schedule_id=new.id, point_in_time=new.point_in_time)


@frozen(kw_only=True)
class AcceptMany:
    """A batch."""

    accept: Accept
    records: Records
    parallel: Parallel

    def __call__(self, wishes: Sequence[Wish], owner: str) -> list[Answer | Exception]:
        """Each by itself, with the exception that it would have raised alone.

        What needs no transaction is put together, 25 in a request: it has an id of its own, and needs no condition.
        """
        begun = self.parallel.map(lambda wish: _caught(lambda: self.accept.begin(wish.body, owner, wish.key)), wishes)
        plain = [one for one in begun if isinstance(one, Schedule)]
        batches = [plain[start : start + TOGETHER] for start in range(0, len(plain), TOGETHER)]
        not_stored = {one.id for left in self.parallel.map(self._left_of, batches) for one in left}

        def finish(one: Schedule | Rest | Exception) -> Answer | Exception:
            match one:
                case Exception():
                    return one
                case Schedule() if one.id in not_stored:
                    return Unavailable("put schedule: it is not known to be stored")
                case Schedule():
                    return self.accept.accepted(one)
                case rest:
                    return _caught(rest)

        return self.parallel.map(finish, begun)

    def _left_of(self, batch: Sequence[Schedule]) -> Sequence[Schedule]:
        """Stores a batch, and returns the schedules that are not known to be stored.

        Whatever is wrong with one request, the others have their answers.
        """
        left = _caught(lambda: self.records.put_all(batch))
        return batch if isinstance(left, Exception) else left


def _caught(do: Callable[[], Outcome]) -> Outcome | Exception:
    """One of many: what it raises concerns itself only."""
    try:
        return do()
    except Exception as error:  # noqa: BLE001 - the caller has it in its place
        return error


def _the(answer: Answer) -> Answer:
    return answer
