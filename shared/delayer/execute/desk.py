"""Leads what is done about each message of a batch, step by step and by one thread (ADR 0180).

A course is a generator: it yields what it needs, and goes on with the answer. Courses that ask for the same kind of
thing at one moment share a request, so that a batch is one read and one write. Nothing that takes its time is done
here: neither a target nor a service of AWS that does not answer keeps another course waiting.
"""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final

from attrs import define, field, frozen

from delayer.engines.ports import Clock, Workers
from delayer.schedule.instants import SECOND, Millis

AT_MOST: Final = 25  # wishes in one request
LOOK_AGAIN: Final[Millis] = SECOND  # whether what is done apart has a deadline by now


@frozen
class Until:
    """Goes on at this instant."""

    at: Millis
    kept_since: Millis = field(default=0, kw_only=True)  # from then on its turn at a target keeps it waiting; 0: none
    for_room: bool = field(default=False, kw_only=True)  # sooner, if somebody leaves the room
    is_idle: bool = field(default=False, kw_only=True)  # nobody waits for it: it ends when all others have ended


@frozen
class Apart:
    """Does something in a thread of its own; goes on with what that returns, or raises it.

    `left_at` is when it is to be left behind, as far as it is known; 0: not yet. Then TookTooLong is raised.
    `kept_since` is since when a target keeps it waiting; 0: none does.
    """

    do: Callable[[], object]
    left_at: Callable[[], Millis] | None = field(default=None, kw_only=True)
    kept_since: Callable[[], Millis] = field(default=int, kw_only=True)


class TookTooLong(Exception):
    """It has not come to its end in time. Nobody knows whether it still does something."""


Course = Generator[Any, Any, Any]  # yields Until, Apart, or what one of the requests is for


@frozen(kw_only=True)
class SharedRequest:
    """Asks for what several courses want. `do` gives an answer to each; an exception among them is raised there.

    If it raises, that is raised in all of them.
    """

    do: Callable[[Sequence[Any]], Sequence[Any]]
    key_of: Callable[[Any], object] = id  # no key is asked for twice in one request
    moment: Millis = 0  # so long it waits for others, while some are at their targets


@define(eq=False, kw_only=True)
class Chair:
    """One course, and where it is."""

    course: Course
    done: Callable[[Any], None]  # is told what it returns
    wish: Any = None
    number: int = 0  # of that wish
    since: Millis = 0  # when it was wished, if that matters

    @property
    def kept_since(self) -> Millis:
        """As its wish says."""
        match self.wish:
            case Until(kept_since=since):
                return since
            case Apart(kept_since=since_when):
                return since_when()
        return 0


@define(kw_only=True)
class Desk:
    """For one batch, and what comes in beside it."""

    clock: Clock
    workers: Workers
    requests: Mapping[type, SharedRequest]  # in the order in which they are made
    asks_itself: bool = False  # no request takes long: none has a thread of its own
    _chairs: dict[Chair, None] = field(factory=dict, init=False)
    _idle: set[Chair] = field(factory=set, init=False)
    _sleeping: list[tuple[Millis, int, Chair]] = field(factory=list, init=False)  # with the number of its wish
    _asking: dict[type, list[Chair]] = field(factory=dict, init=False)
    _apart: dict[int, Sequence[Chair]] = field(factory=dict, init=False)  # whose wishes are met apart, by a number
    _numbers: "count[int]" = field(factory=lambda: count(1), init=False)

    @property
    def number(self) -> int:
        """How many courses are under way, those that nobody waits for left out."""
        return len(self._chairs) - len(self._idle)

    def kept(self) -> Millis:
        """How long the one that has waited longest has been at its target, or before its turn; 0 if none does."""
        oldest = min((since for chair in self._chairs if (since := chair.kept_since)), default=0)
        return self.clock.now() - oldest if oldest else 0

    def begin(self, course: Course, done: Callable[[Any], None]) -> None:
        """Takes a course in, also while it runs. `done` is told what it returns."""
        chair = Chair(course=course, done=done)
        self._chairs[chair] = None
        self._go_on(chair, None)

    def run(self) -> None:
        """Until all have ended but those that nobody waits for."""
        while self.number:
            if not self.go_on() and self.number:
                self._hear(self.next_at())

    def nudge(self, number: int) -> None:
        """So many have left: as many of those that wait for room look again."""
        now = self.clock.now()
        waiting = sorted(
            (at, wish, chair)
            for at, wish, chair in self._sleeping
            if wish == chair.number and isinstance(chair.wish, Until) and chair.wish.for_room
        )
        for _, wish, chair in waiting[:number]:
            heappush(self._sleeping, (now, wish, chair))

    def go_on(self, only: Collection[type] = ()) -> bool:
        """All that can be done now, up to one request, of these kinds if any are given. Whether there was one."""
        self._hear(0)  # first: what has ended in time has not taken too long
        self._wake()
        return self._ask(only)

    def _go_on(self, chair: Chair, answer: Any) -> None:
        """To its next wish, or to its end."""
        try:
            go_on = chair.course.throw if isinstance(answer, BaseException) else chair.course.send
            chair.wish = wish = go_on(answer)
        except StopIteration as end:
            del self._chairs[chair]
            chair.done(end.value)
            return
        chair.number = next(self._numbers)
        if isinstance(wish, Until):
            self._sleep(chair, wish)
        elif isinstance(wish, Apart):
            self._do_apart(chair, wish)
        else:
            chair.since = self.clock.now()
            self._asking.setdefault(type(wish), []).append(chair)

    def _sleep(self, chair: Chair, wish: Until) -> None:
        if wish.is_idle:
            self._idle.add(chair)
        heappush(self._sleeping, (wish.at, chair.number, chair))

    def _do_apart(self, chair: Chair, wish: Apart) -> None:
        if wish.left_at:
            heappush(self._sleeping, (self.clock.now() + LOOK_AGAIN, chair.number, chair))
        self._start(chair.number, (chair,), wish.do)

    def _wake(self) -> None:
        """Those whose instant has come."""
        now = self.clock.now()
        while self._sleeping and self._sleeping[0][0] <= now:
            _, number, chair = heappop(self._sleeping)
            if number != chair.number or chair not in self._chairs:
                continue  # it has gone on
            if isinstance(chair.wish, Until):
                self._idle.discard(chair)
                self._go_on(chair, None)
            else:
                self._leave_behind(chair, now)

    def _leave_behind(self, chair: Chair, now: Millis) -> None:
        """If its time is over; else it is looked at again."""
        left_at = chair.wish.left_at()
        if not 0 < left_at <= now:
            heappush(self._sleeping, (left_at or now + LOOK_AGAIN, chair.number, chair))
            return
        del self._apart[chair.number]
        self.workers.leave_behind(chair.number)
        self._go_on(chair, TookTooLong())

    def _hear(self, until: Millis | None) -> None:
        """Of what was done apart."""
        for number, outcome in self.workers.ended(until):
            chairs = self._apart.pop(number)
            is_shared = chairs[0].number != number and not isinstance(outcome, BaseException)
            for position, chair in enumerate(chairs):
                self._go_on(chair, outcome[position] if is_shared else outcome)  # type: ignore[index] # an answer for each

    def _ask(self, only: Collection[type]) -> bool:
        """One request, if there is anything to ask for now."""
        for kind, request in self.requests.items():
            if only and kind not in only:
                continue
            asking = self._asking.get(kind)
            if asking and self._may_be_asked(request, asking):
                self._ask_for(request, kind, asking)
                return True
        return False

    def _may_be_asked(self, request: SharedRequest, asking: Sequence[Chair]) -> bool:
        """An outcome waits a moment for others that are still at their targets."""
        waited = self.clock.now() - asking[0].since
        if len(asking) >= AT_MOST or not 0 <= waited < request.moment:  # a clock may be set back
            return True
        return not any(isinstance(chair.wish, Apart) and chair.wish.left_at for chair in self._chairs)

    def _ask_for(self, request: SharedRequest, kind: type, asking: Sequence[Chair]) -> None:
        """In a thread of its own, if anybody else would wait for the answer."""
        first: dict[object, Chair] = {}
        for chair in asking:
            if len(first) < AT_MOST:
                first.setdefault(request.key_of(chair.wish), chair)
        chairs = list(first.values())
        self._asking[kind] = [chair for chair in asking if chair not in chairs]
        do, number = partial(request.do, [chair.wish for chair in chairs]), next(self._numbers)
        if len(chairs) < self.number and not self.asks_itself:
            self._start(number, chairs, do)
        else:
            self._apart[number] = chairs
            self.workers.do(number, do)

    def _start(self, number: int, chairs: Sequence[Chair], do: Callable[[], object]) -> None:
        """If there can be no thread for it, that is raised in each that has asked."""
        self._apart[number] = chairs
        try:
            self.workers.start(number, do)
        except RuntimeError as error:
            del self._apart[number]
            for chair in chairs:
                self._go_on(chair, error)

    def next_at(self) -> Millis | None:
        """When something is to be done next, if nothing is heard before."""
        moments = [asking[0].since + self.requests[kind].moment for kind, asking in self._asking.items() if asking]
        return min([*moments, *(at for at, *_ in self._sleeping[:1])], default=None)
