"""Redrives or discards many dead letters (ADR 0077): as many as a call has time for, at a pace that spares targets.

Whoever calls repeats the call with the last key that is done. A call that was cut off is repeated as it was: what is
redriven twice fires once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from threading import Lock
from typing import Any, Final, TypeVar

from attrs import define, field, frozen

from delayer.core.ledger.lifecycle import IllegalTransition
from delayer.core.ledger.row import LedgerChange
from delayer.core.recovery.dead_letter import Contents
from delayer.core.recovery.redriving import Refusal, decide_discard, decide_redrive
from delayer.core.recovery.selecting import Order, Selection, filed
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.schedule import Schedule
from delayer.ports.clock import Clock, Parallel
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.recovery.redrive import REDRIVEN, Impossible, Redrive, Report, report
from delayer.use_cases.recovery.tally import Tally

KEYS: Final = 500  # of one list; an object is read when its turn comes, so that few bodies are in memory at a time
READ_TOGETHER: Final = 20  # objects; one that Lambda wrote may have megabytes
AT_A_TIME: Final = 10  # schedules

Thing = TypeVar("Thing")
Answer = TypeVar("Answer")


@frozen(kw_only=True)
class Found:
    """An object that the command is given for."""

    key: str
    why_stored: str
    contents: Contents  # its schedules are those that were selected


@frozen(kw_only=True)
class One:
    """One schedule of an object."""

    schedule: Schedule
    handed_over: bool  # as that of its contents
    accepted: bool  # as that of its contents


Do = Callable[[One], Report | Unavailable]


@define(kw_only=True)
class Pace:
    """Lets so many pass in a second, and never makes up for a pause: a herd would meet one target."""

    clock: Clock
    per_second: int
    following: Millis = 0
    lock: Any = field(factory=Lock)

    def wait(self) -> None:
        """Until it is this one's turn."""
        with self.lock:
            turn = max(self.following, self.clock.now())
            self.following = turn - (-SECOND // self.per_second)
        self.clock.sleep_until(turn)


@frozen(kw_only=True)
class Bulk:
    """A command for many."""

    clock: Clock
    parallel: Parallel
    redrive: Redrive
    budget: Millis = field(default=40_000)  # after this long the call is answered; the function has a minute

    def __call__(self, order: Order) -> dict[str, Any]:
        """The counts of this call; `next` if there may be more, and `interrupted` if AWS failed."""
        tally, end = Tally(done_up_to=order.after), self.clock.now() + self.budget
        rest: dict[str, Any] = {}
        try:
            for _ in self._progress(order, tally):
                if self.clock.now() > end:
                    rest = {"next": tally.done_up_to}
                    break
        except Unavailable as error:
            rest = {"next": tally.done_up_to, "interrupted": str(error)}
        return tally.shown(order) | rest

    def _progress(self, order: Order, tally: Tally) -> Iterator[None]:
        """Key after key, in their order. Yields wherever the rest can be left to the next call."""
        pace = Pace(clock=self.clock, per_second=order.per_second)
        do: Do = partial(self._foretell, order) if order.dry_run else partial(self._carry_out, order, pace)
        for tally.ahead in self._keys(order):
            looked = answers(self.parallel.map(partial(self._look, order.selection), tally.ahead))
            for some in groups([found for found in looked if found]):
                self._handle(some, do, order, tally)
                yield
            if tally.ahead:
                tally.pass_to(tally.ahead[-1])
            yield

    def _keys(self, order: Order) -> Iterator[Sequence[str]]:
        after = order.after
        while keys := self.redrive.store.list(order.selection.prefix, after, KEYS):
            yield from parts([key for key in keys if order.selection.looks_at(key)], READ_TOGETHER)
            after = keys[-1]

    def _look(self, selection: Selection, key: str) -> Found | Unavailable | None:
        """An exception in a thread would leave the others at work; so it is returned."""
        try:
            content = self.redrive.store.get(key)
        except Unavailable as error:
            return error
        if content is None:  # somebody else was faster
            return None
        about = filed(content)
        contents = selection.of(about, self.redrive.read(content))
        return Found(key=key, why_stored=about.reason, contents=contents) if contents else None

    def _handle(self, some: Sequence[Found], do: Do, order: Order, tally: Tally) -> None:
        """All schedules of some objects, a few at a time; then each object that is not needed any more is deleted."""
        each = [
            One(schedule=schedule, handed_over=found.contents.handed_over, accepted=found.contents.accepted)
            for found in some
            for schedule in found.contents.schedules
        ]
        reports = iter([one for part in parts(each, AT_A_TIME) for one in answers(self.parallel.map(do, part))])
        for found in some:
            own = list(islice(reports, len(found.contents.schedules)))
            if not order.dry_run:
                self._close(found, own, order)
            tally.add(found.key, found.why_stored, own, order)

    def _foretell(self, order: Order, one: One) -> Report | Unavailable:
        """What the command would do, by the row of this moment."""
        schedule, now = one.schedule, self.clock.now()
        decision: Refusal | LedgerChange | None
        try:
            row = self.redrive.ledger.read(schedule.id)
            if order.command == "redrive":
                decision = decide_redrive(schedule, row, now, accepted=one.accepted)
            else:
                decision = decide_discard(schedule, row, now, handed_over=one.handed_over)
        except Unavailable as error:
            return error
        except IllegalTransition as error:
            return report(schedule, str(error), settled=False), None
        if isinstance(decision, Refusal):
            return report(schedule, decision.reason, settled=decision.settled), None
        return report(schedule, REDRIVEN, settled=True), None

    def _carry_out(self, order: Order, pace: Pace, one: One) -> Report | Unavailable:
        schedule = one.schedule
        pace.wait()
        try:
            if order.command == "redrive":
                return self.redrive.redrive_one(schedule, accepted=one.accepted)
            return self.redrive.discard_one(schedule, handed_over=one.handed_over), None
        except Unavailable as error:
            return error
        except (Impossible, IllegalTransition) as error:
            return report(schedule, str(error).replace(schedule.id, "it"), settled=False), None

    def _close(self, found: Found, reports: Sequence[Report], order: Order) -> None:
        if order.command == "redrive":
            if reports:
                self.redrive.close(found.key, found.contents, reports)
        elif not found.contents.others and all(one["settled"] for one, _ in reports):
            self.redrive.store.remove(found.key)


def answers(outcomes: Iterable[Answer | Unavailable]) -> list[Answer]:
    """Raises the first failure, once all are done."""
    given = []
    for one in outcomes:
        if isinstance(one, Unavailable):
            raise one
        given.append(one)
    return given


def parts(things: Sequence[Thing], at_most: int) -> list[Sequence[Thing]]:
    """In their order."""
    return [things[at : at + at_most] for at in range(0, len(things), at_most)]


def groups(matches: Iterable[Found]) -> Iterator[list[Found]]:
    """Objects in their order, until they hold enough schedules for a part: one object may hold a hundred."""
    group: list[Found] = []
    for found in matches:
        group.append(found)
        if sum(len(one.contents.schedules) for one in group) >= AT_A_TIME:
            yield group
            group = []
    if group:
        yield group
