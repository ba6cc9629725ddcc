"""Joins into one request what several threads want of the ledger at the same time (ADR 0116).

A batch of messages is due at one moment, and its targets answer within a few milliseconds of each other. A request for
each costs a small function more processor time than everything else that it does. So whoever comes first waits for
those who are on their way, and after an attempt a moment for the others; never for one that takes longer.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Generic, TypeVar

from attrs import define, field, frozen

from delayer.engines.ports import Clock, Meeting, Unavailable
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.ledger.ports import LedgerInBatches, WriteResult
from delayer.schedule.instants import SECOND, Millis

Wish = TypeVar("Wish")
Answer = TypeVar("Answer")

MOMENT: Final[Millis] = 3  # for outcomes, as targets answer one after the other
LONGEST: Final[Millis] = 20  # for those who are on their way: a small function takes so long to let all of them run
AT_MOST: Final = 25  # in one request


@define(kw_only=True)
class Attendance:
    """How many threads of a batch are where."""

    meeting: Meeting
    running: int = 0  # on their way to ask for something
    attempting: int = 0  # at their targets

    @contextmanager
    def batch(self, number: int) -> Iterator[Callable[[], None]]:
        """So many threads, also those that have not begun yet. Each says by the call that it has come to its end."""
        ended: list[None] = []
        self.change(number)

        def end() -> None:
            with self.meeting:
                if len(ended) < number:
                    ended.append(None)
                    self.change(-1)

        try:
            yield end
        finally:
            left = number - len(ended)
            ended += [None] * left  # what goes on all the same is counted no more
            self.change(-left)

    @contextmanager
    def away(self, attempting: int = 0) -> Iterator[None]:
        """A thread that is in here asks for nothing soon."""
        self.change(-1, attempting)
        try:
            yield
        finally:
            self.change(1, -attempting)

    def change(self, running: int, attempting: int = 0) -> None:
        """So many more, or fewer. Whoever waits is woken only if it waits for nobody any more: to wake is not free."""
        with self.meeting:
            self.running += running
            self.attempting += attempting
            if running < 0 and self.running == 0:
                self.meeting.notify_all()


@define(eq=False, kw_only=True)
class PendingWish(Generic[Wish, Answer]):
    """One thread waits for the answer to its wish."""

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
    attendance: Attendance
    after_attempts: bool  # whether those who attempt something may ask in a moment
    _waiting: list[PendingWish[Wish, Answer]] = field(factory=list, init=False)
    _somebody_waits: bool = field(default=False, init=False)

    def __call__(self, wish: Wish) -> Answer:
        """The answer for this one. Raises what `do` raised."""
        asked = PendingWish[Wish, Answer](wish=wish, key=self.key_of(wish))
        with self._meeting:  # at once, or whoever is woken in between would leave it out
            self._waiting.append(asked)
            self.attendance.change(-1)
            if len(self._waiting) >= AT_MOST:
                self._meeting.notify_all()
        try:
            while batch := self._await(asked):
                self._ask(batch)
        finally:
            with self._meeting:
                self._waiting = [one for one in self._waiting if one is not asked]
                self.attendance.change(1)
        if asked.error:
            raise asked.error
        return asked.answer  # type: ignore[return-value] # it is done

    @property
    def _meeting(self) -> Meeting:
        return self.attendance.meeting

    def _await(self, asked: PendingWish[Wish, Answer]) -> list[PendingWish[Wish, Answer]]:
        """Until it is answered by somebody else, or this thread is to ask: then, what it is to ask for."""
        with self._meeting:
            while not asked.is_done and (self._somebody_waits or asked not in self._waiting):
                self._meeting.wait()
            if asked.is_done:
                return []
            self._somebody_waits = True
            try:
                self._wait_for_others()
                return self._taken()
            finally:
                self._somebody_waits = False
                if self._waiting:  # one of them is the next to ask
                    self._meeting.notify_all()

    def _wait_for_others(self) -> None:
        """For all who are on their way; and a moment for those whose target may answer now."""
        began = self.clock.now()
        while len(self._waiting) < AT_MOST:
            may_come = self.after_attempts and self.attendance.attempting > 0
            patience = LONGEST if self.attendance.running > 0 else MOMENT if may_come else 0
            left = min(began + patience - self.clock.now(), LONGEST)  # a clock may be set back
            if left <= 0:
                return
            in_time = self._meeting.wait(left / SECOND)
            if not in_time and (patience == LONGEST or self.attendance.running <= 0):
                return

    def _taken(self) -> list[PendingWish[Wish, Answer]]:
        """The first of each key, in their order. The others wait for the next request."""
        first: dict[str, PendingWish[Wish, Answer]] = {}
        for one in self._waiting:
            if len(first) < AT_MOST:
                first.setdefault(one.key, one)
        batch = list(first.values())
        self._waiting = [one for one in self._waiting if one not in batch]
        return batch

    def _ask(self, batch: Sequence[PendingWish[Wish, Answer]]) -> None:
        """Nobody waits for ever, whatever happens."""
        answers: Sequence[Answer] = ()
        error: BaseException | None = None
        try:
            answers = self.do([one.wish for one in batch])
        except BaseException as raised:  # noqa: BLE001 - it is raised in each thread that has asked
            error = raised
        with self._meeting:
            for number, one in enumerate(batch):
                one.answer = None if error else answers[number]
                one.error, one.is_done = error, True
            self._meeting.notify_all()


@frozen(kw_only=True)
class LedgerTogether:
    """Reads and writes the ledger for the threads of one batch, many rows at a time."""

    ledger_in_batches: LedgerInBatches
    clock: Clock
    new_meeting: Callable[[], Meeting]
    _attendance: Attendance = field(init=False)
    _reads: Gathering[str, LedgerRow | Unavailable | None] = field(init=False)
    _writes: Gathering[LedgerChange, WriteResult] = field(init=False)

    @_attendance.default
    def _meet(self) -> Attendance:
        return Attendance(meeting=self.new_meeting())

    @_reads.default
    def _gather_reads(self) -> Gathering[str, LedgerRow | Unavailable | None]:
        return Gathering(do=self._read, key_of=str, clock=self.clock, attendance=self._attendance, after_attempts=False)

    @_writes.default
    def _gather_writes(self) -> Gathering[LedgerChange, WriteResult]:
        return Gathering(
            do=self.ledger_in_batches.write,
            key_of=lambda change: change.row.schedule_id,
            clock=self.clock,
            attendance=self._attendance,
            after_attempts=True,
        )

    def batch(self, number: int) -> AbstractContextManager[Callable[[], None]]:
        """Of so many threads, each waits for what the others ask for, as long as they are on their way.

        Each says by the call that it has come to its end.
        """
        return self._attendance.batch(number)

    def waiting(self) -> AbstractContextManager[None]:
        """For its time: meanwhile nobody waits for it."""
        return self._attendance.away()

    def attempting(self) -> AbstractContextManager[None]:
        """A thread that writes an outcome meanwhile waits a moment for this one's."""
        return self._attendance.away(attempting=1)

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
        rows = self.ledger_in_batches.read_each(schedule_ids)
        return [rows.get(schedule_id) for schedule_id in schedule_ids]
