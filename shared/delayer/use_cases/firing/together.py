"""What several threads want of the ledger at the same time is one request (ADR 0116).

A batch of messages is due at one moment, and its targets answer within a few milliseconds of each other. A request for
each costs a small function more processor time than everything else that it does. So whoever comes first waits a
moment for the others; never for one that is not there when that moment is over.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Generic, TypeVar

from attrs import define, field, frozen

from delayer.core.ledger.row import LedgerChange, LedgerRow
from delayer.core.schedule.instants import SECOND, Millis
from delayer.ports.clock import Clock, Meeting
from delayer.ports.ledger import ReadsEachAndWrites, WriteResult
from delayer.ports.unavailable import Unavailable

Wish = TypeVar("Wish")
Answer = TypeVar("Answer")

MOMENT: Final[Millis] = 3
AT_MOST: Final = 25  # in one request


@define(eq=False)
class Asked(Generic[Wish, Answer]):
    """What one thread waits for."""

    wish: Wish
    key: str
    answer: Answer | None = None
    error: BaseException | None = None
    is_done: bool = False


@define(kw_only=True)
class Gathering(Generic[Wish, Answer]):
    """Does for many threads at once what each of them asks for."""

    do: Callable[[Sequence[Wish]], Sequence[Answer]]
    key_of: Callable[[Wish], str]  # no key is asked for twice in one request
    clock: Clock
    meeting: Meeting
    everybody: Callable[[], int]  # how many there are who may ask
    _waiting: list[Asked[Wish, Answer]] = field(factory=list, init=False)
    _somebody_waits: bool = field(default=False, init=False)

    def __call__(self, wish: Wish) -> Answer:
        """The answer for this one. Raises what `do` raised."""
        asked = Asked[Wish, Answer](wish, self.key_of(wish))
        with self.meeting:
            self._waiting.append(asked)
            self.meeting.notify_all()
        try:
            while batch := self._await(asked):
                self._ask(batch)
        except BaseException:
            with self.meeting:
                self._waiting = [one for one in self._waiting if one is not asked]
            raise
        if asked.error:
            raise asked.error
        return asked.answer  # type: ignore[return-value] # it is done

    def _await(self, asked: Asked[Wish, Answer]) -> list[Asked[Wish, Answer]]:
        """Until it is answered by somebody else, or this thread is to ask: then, what it is to ask for."""
        with self.meeting:
            while not asked.is_done and (self._somebody_waits or asked not in self._waiting):
                self.meeting.wait()
            if asked.is_done:
                return []
            self._somebody_waits = True
            try:
                self._wait_for_others()
            finally:
                self._somebody_waits = False
                self.meeting.notify_all()
            return self._taken()

    def _wait_for_others(self) -> None:
        """A moment, or until all are there."""
        until = self.clock.now() + MOMENT
        while len(self._waiting) < min(self.everybody(), AT_MOST):
            left = until - self.clock.now()
            if left <= 0 or not self.meeting.wait(left / SECOND):
                return

    def _taken(self) -> list[Asked[Wish, Answer]]:
        """The first of each key, in their order. The others wait for the next request."""
        first: dict[str, Asked[Wish, Answer]] = {}
        for one in self._waiting:
            if len(first) < AT_MOST:
                first.setdefault(one.key, one)
        batch = list(first.values())
        self._waiting = [one for one in self._waiting if one not in batch]
        return batch

    def _ask(self, batch: Sequence[Asked[Wish, Answer]]) -> None:
        """Whatever happens, nobody waits for ever."""
        answers: Sequence[Answer] = ()
        error: BaseException | None = None
        try:
            answers = self.do([one.wish for one in batch])
        except BaseException as raised:  # noqa: BLE001 - it is raised in each thread that has asked
            error = raised
        with self.meeting:
            for number, one in enumerate(batch):
                one.answer = None if error else answers[number]
                one.error, one.is_done = error, True
            self.meeting.notify_all()


@frozen(kw_only=True)
class LedgerTogether:
    """Port ReadsAndWritesLedger, for the threads of one batch."""

    ledger: ReadsEachAndWrites
    clock: Clock
    new_meeting: Callable[[], Meeting]
    _there: set[object] = field(factory=set, init=False)
    _reads: Gathering[str, LedgerRow | Unavailable | None] = field(init=False)
    _writes: Gathering[LedgerChange, WriteResult] = field(init=False)

    @_reads.default
    def _gather_reads(self) -> Gathering[str, LedgerRow | Unavailable | None]:
        return self._gathering(self._read, str)

    @_writes.default
    def _gather_writes(self) -> Gathering[LedgerChange, WriteResult]:
        return self._gathering(self.ledger.write, lambda change: change.row.schedule_id)

    def _gathering(
        self, do: Callable[[Sequence[Wish]], Sequence[Answer]], key_of: Callable[[Wish], str]
    ) -> Gathering[Wish, Answer]:
        return Gathering(
            do=do, key_of=key_of, clock=self.clock, meeting=self.new_meeting(), everybody=lambda: len(self._there)
        )

    @contextmanager
    def taking_part(self) -> Iterator[None]:
        """From now on others wait a moment for what this thread asks for."""
        me = object()
        self._there.add(me)
        try:
            yield
        finally:
            self._there.discard(me)

    def read(self, schedule_id: str) -> LedgerRow | None:
        """Begun after it was asked for: what was written before is seen."""
        row = self._reads(schedule_id)
        if isinstance(row, Unavailable):
            raise row
        return row

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        """One change of one schedule, as the outcomes of attempts are."""
        return [self._writes(change) for change in changes]

    def _read(self, schedule_ids: Sequence[str]) -> list[LedgerRow | Unavailable | None]:
        rows = self.ledger.read_each(schedule_ids)
        return [rows.get(schedule_id) for schedule_id in schedule_ids]
