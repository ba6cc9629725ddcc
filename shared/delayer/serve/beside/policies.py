"""Policies that others have written: each is asked in a thread, and its answer is written in a turn (ADR 0188)."""

from collections.abc import Callable
from functools import partial
from typing import Final, NoReturn

from attrs import define, evolve, field, frozen

from delayer.engines.ports import Observer, ReceivedMessage, Unavailable
from delayer.engines.sqlite.queue import SqliteQueue
from delayer.records.ports import ScheduleTable
from delayer.schedule.instants import MINUTE, Millis
from delayer.schedule.messages import TimingMessage, decode
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import key_of
from delayer.serve.beside.beside import AT_A_TIME, Beside
from delayer.timing.decide import Decide
from delayer.timing.rules import At, Chosen, TimeRefused

DEADLINE: Final[Millis] = MINUTE  # as its function has on AWS


@frozen(kw_only=True)
class AskPolicy:
    """In a thread: it may take its time, or hang."""

    waiting_records: ScheduleTable
    choose: Callable[[Schedule], Chosen]  # by others

    def __call__(self, received: ReceivedMessage) -> Chosen | None:
        """None: it does not wait any more. Raises what the policy raises, and Malformed."""
        record = self.waiting_records.read(key_of(decode(received.body, TimingMessage).schedule_id))
        return self.choose(record) if record else None


@define(kw_only=True, eq=False)
class AsksPolicy(Beside):
    """The queue of one policy. What it does not answer in time comes again, later each time.

    A thread that hangs is not used any more: if all hang, this policy is not asked, and nobody else waits for it.
    """

    name: str
    queue: SqliteQueue
    ask: AskPolicy
    decide: Decide
    observer: Observer
    _under_way: dict[int, tuple[ReceivedMessage, Millis]] = field(factory=dict, init=False)  # each with its deadline
    _hangs: set[int] = field(factory=set, init=False)

    def begin(self) -> bool:
        late = [number for number, (_, until) in self._under_way.items() if until <= self.clock.now()]
        for number in late:
            self._hangs.add(number)
            self.observer.warn("a policy does not answer", policy=self.name, hanging=len(self._hangs))
            self._answered(number, TimeoutError())
        room = AT_A_TIME - len(self._under_way) - len(self._hangs)
        received = self.queue.receive(room) if room > 0 else []
        for one in received:
            self._under_way[self.start(partial(self.ask, one))] = one, self.clock.now() + DEADLINE
        return bool(late or received)

    def settle(self, number: int, outcome: object) -> None:
        if number in self._hangs:  # too late: it was given up
            self._hangs.discard(number)
        else:
            self._answered(number, outcome)

    def next_at(self) -> Millis | None:
        is_room = len(self._under_way) + len(self._hangs) < AT_A_TIME
        following = self.queue.next_visible() if is_room else None
        instants = [until for _, until in self._under_way.values()] + ([] if following is None else [following])
        return min(instants, default=None)

    def _answered(self, number: int, outcome: object) -> None:
        received, _ = self._under_way.pop(number)
        self.write(partial(self._decide, received, outcome))

    def _decide(self, received: ReceivedMessage, outcome: object) -> None:
        decide = evolve(self.decide, choose=partial(chosen, outcome))
        self.queue.settle([received], decide([received]))


def chosen(outcome: object, _: Schedule) -> Chosen:
    """The answer of the policy. Raises what it has raised. What waits does not change: a change is another schedule."""
    if isinstance(outcome, At | TimeRefused):
        return outcome
    if isinstance(outcome, Exception):
        raise outcome
    raise Unavailable(f"its policy has ended with {type(outcome).__name__}")


def not_asked(_: Schedule) -> NoReturn:
    """In the place of a policy, where only its answers are known."""
    raise Unavailable("its policy is asked beside the turns")
