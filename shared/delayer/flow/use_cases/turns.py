"""Turns of limits of the rate, and of comebacks: booked for all messages of a call, one write for each limit (ADR 0114,
0154).
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final, Generic

from attrs import define, evolve, field, frozen

from delayer.engines.ports import Clock, Unavailable
from delayer.flow.ports import Booked, Elsewhere, Lines
from delayer.flow.rules.block import Block, waits_since
from delayer.flow.rules.comeback import patience
from delayer.flow.rules.gate import Message, comeback_wait
from delayer.flow.rules.limit import (
    MICROS,
    PREPARE,
    Book,
    Come,
    Micros,
    TurnPlan,
    Want,
    decide_turn,
    held,
    is_in_time,
    its_turn,
    lead_of,
    line_of,
    plan,
    turn_of,
)
from delayer.schedule.instants import DAY, MAX_DELAY_SECONDS, MAX_HOLD, SECOND, STALE_AFTER, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage, Slot
from delayer.schedule.misfire import last_instant
from delayer.schedule.retrying import policy_of

BOOKING_ROUNDS: Final = 4
KEPT: Final = 1_000  # lines whose end is remembered
FORGOTTEN_AFTER: Final[Millis] = DAY  # the row of a line, after the last turn that may be booked by this write
ROUNDS: Final = 4  # of bookings in one call: each line that is longer than the one before makes another one needed


@define(kw_only=True)
class Booking:
    """This environment's knowledge of each line: how far it is booked at least. A line never grows shorter."""

    lines: Lines
    ends: dict[str, Micros] = field(factory=dict, init=False)

    def book(self, limit: Block, wants: Sequence[Want]) -> list[Millis | None]:
        """A turn for each; None if the line is longer than that one can wait: it gets none. Raises Unavailable.

        It is one write, whose form goes by what is known. If others have booked beyond that, the refusal says how far
        the line is, and a second write is made.
        """
        line, is_gone = line_of(limit), False
        for _ in range(BOOKING_ROUNDS):
            planned = plan(self.ends.get(line, 0), limit.every, wants)
            if planned.first is None:
                return planned.at
            answer = self.write(line, planned, is_new=is_gone or planned.base < planned.first)
            if isinstance(answer, Booked):
                final = plan(answer.base, limit.every, wants)
                self._note(line, max(final.end, answer.base + planned.end - planned.first))
                return final.at
            is_gone = not answer.next
            self._note(line, answer.next)
        raise Unavailable(f"others book the turns of {limit.key} all the time")

    def write(self, line: str, planned: TurnPlan, *, is_new: bool) -> Booked | Elsewhere:
        """Begins the line there, or adds to its end. Raises Unavailable."""
        first, by = planned.first or 0, planned.end - (planned.first or 0)
        if is_new:
            return self.lines.begin_line(line, first, planned.end, planned.end // MICROS + FORGOTTEN_AFTER)
        expires_at = (planned.end + planned.slack) // MICROS + FORGOTTEN_AFTER
        return self.lines.extend_line(line, first, by, planned.slack, expires_at)

    def _note(self, line: str, end: Micros) -> None:
        self.ends[line] = max(end, self.ends.pop(line, 0))
        if len(self.ends) > KEPT:
            oldest, *_ = self.ends  # at once: another thread may note one, too
            self.ends.pop(oldest, None)


@define(kw_only=True)
class InLine(Generic[Message]):
    """A message that asks for turns."""

    message: Message  # with the turns that it has
    limits: tuple[Block, ...]  # of the rate, that count its attempt
    earliest: Millis = 0  # it wants no turn before that
    come: Come | Unavailable | None = None  # not now: its turn is then, or it has found none; or nobody knows

    def keep(self, slots: tuple[Slot, ...]) -> None:
        """It has these turns, and no others."""
        self.message = evolve(self.message, slots=slots)

    def add(self, slot: Slot) -> None:
        """One turn more, in the place of one on the same line."""
        self.keep((*(one for one in self.message.slots if one.line != slot.line), slot))

    def usable(self, now: Millis) -> tuple[Slot, ...]:
        """The turns that it may still use."""
        return held(self.message.slots, self.limits, now)

    def is_near(self, now: Millis) -> bool:
        """Whether it may be attempted within MAX_HOLD."""
        if isinstance(self.come, Unavailable) or (self.come and not self.come.has_turn):
            return False
        return (self.come.at if self.come else due_of(self.message)) - now <= MAX_HOLD

    def missed(self, now: Millis) -> Block | None:
        """A limit whose turn it has not, or has missed. None: its turn is there, or in a moment."""
        slots = self.usable(now)
        turn = turn_of(slots, now)
        at = turn if turn - now <= PREPARE else now
        return next((limit for limit in self.limits if not is_in_time(slots, (limit,), at)), None)


@frozen(kw_only=True)
class Turns:
    """Without limits nobody asks."""

    clock: Clock
    booking: Booking

    def ahead(self, asking: Collection[InLine[Message]], ready: Millis) -> None:
        """For those that are not claimed: a turn on one line each, not before `ready`. One within MAX_HOLD is near."""
        for one in asking:
            one.keep(one.usable(ready))
            one.earliest = max(due_of(one.message), ready)
        self._book((lead_of(one.limits, self.booking.ends), one) for one in asking if not one.message.slots)
        now = self.clock.now()
        for one in asking:
            if not one.come and turn_of(one.message.slots, now) - now > MAX_HOLD:
                one.come = its_turn(one.message.slots, one.limits)

    def near(self, asking: Iterable[InLine[Message]]) -> None:
        """For those that may be attempted soon: turns on all lines, once the turn that was booked first is near."""
        left = list(asking)
        for _ in range(ROUNDS):
            books = [(limit, one) for one in left for limit in self._missing(one)]
            if not books:
                return
            self._book(books)
            left = [one for one in left if any(one is asked for _, asked in books) and not one.come]
        for one in left:  # each line was longer than the one before
            at = max(turn_of(one.message.slots, due_of(one.message)), self.clock.now() + SECOND)
            one.come = Come(at=at, limit=one.limits[0], has_turn=True)

    def _missing(self, one: InLine[Message]) -> Sequence[Block]:
        """The limits of which it is to book a turn now. What is not due for long books none."""
        now, due = self.clock.now(), due_of(one.message)
        one.keep(one.usable(now))
        match decide_turn(one.message.slots, one.limits, self.booking.ends, due, now):
            case Come() as come:
                one.come = come
            case Book(limits=limits, earliest=earliest) if one.message.slots or due - now <= MAX_HOLD:
                one.earliest = max(earliest, now + PREPARE // 2)  # so that its row is read before its turn is over
                return limits
        return ()

    def _book(self, books: Iterable[tuple[Block, InLine[Message]]]) -> None:
        """One write for each limit. Of those that are late, the oldest first."""
        by_line: dict[str, tuple[Block, list[InLine[Message]]]] = {}
        for limit, one in books:
            by_line.setdefault(line_of(limit), (limit, []))[1].append(one)
        for line, (limit, asking) in by_line.items():
            asking.sort(key=lambda one: (one.earliest, one.message.schedule.point_in_time))
            try:
                turns = self.booking.book(limit, [self._want(one, limit) for one in asking])
            except Unavailable as error:
                for one in asking:
                    one.come = error
                continue
            for one, turn in zip(asking, turns, strict=True):
                if turn is None:
                    one.come = self._too_long(limit, one.message)
                else:
                    one.add(Slot(line=line, at=turn))

    def _want(self, one: InLine[Message], limit: Block) -> Want:
        """In a comeback the pace is another one soon: so nobody books far ahead, and the younger, the less so."""
        latest = self._latest(one.message, limit)
        if limit.is_comeback:
            point_in_time = one.message.schedule.point_in_time
            latest = min(latest, one.earliest + patience(limit, point_in_time, self.clock.now()))
        return Want(earliest=one.earliest, latest=latest)

    def _latest(self, message: DelayerMessage | ExecutorMessage, limit: Block) -> Millis:
        """After that it is given up, or dropped by its own rule: a later turn is of no use. Raises Malformed.

        However old it is, if its turn is near, it does not wait because of the limit.
        """
        schedule, now = message.schedule, self.clock.now()
        too_old = max(waits_since(message, limit, now) + policy_of(schedule.definition).max_age, now + MAX_HOLD)
        is_unclaimed = isinstance(message, DelayerMessage)
        too_late = last_instant(schedule.definition.on_late, schedule.point_in_time) if is_unclaimed else None
        return min(too_old, schedule.address.due + STALE_AFTER, *([] if too_late is None else [too_late]))

    def _too_long(self, limit: Block, message: DelayerMessage | ExecutorMessage) -> Come:
        """It waits without a turn, until it is given up: unless the limit is raised before, as a comeback's is."""
        now = self.clock.now()
        at = min(max(self._latest(message, limit) + SECOND, now + 5 * SECOND), now + MAX_DELAY_SECONDS * SECOND)
        if limit.is_comeback:
            wait = comeback_wait(limit, message.nonce, message.schedule.point_in_time, now)
            at = min(at, now + wait.seconds * SECOND)
        return Come(at=at, limit=limit, has_turn=False)


def due_of(message: DelayerMessage | ExecutorMessage) -> Millis:
    """When its attempt is due without any limit, as far as the message says it."""
    later = message.not_before if isinstance(message, ExecutorMessage) else 0
    return max(message.schedule.point_in_time, later)
