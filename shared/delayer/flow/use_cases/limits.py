"""The limits of rate, as the relay and the executors keep them (ADR 0114)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from attrs import define, evolve, field, frozen

from delayer.engines.ports import Clock, Unavailable
from delayer.flow.repository import Booked, Elsewhere, StoredLines
from delayer.flow.rules.block import Block, aging_from, waits_since
from delayer.flow.rules.comeback import patience
from delayer.flow.rules.gate import comeback_wait
from delayer.flow.rules.limit import (
    MICROS,
    PREPARE,
    Book,
    Come,
    Micros,
    Near,
    TurnPlan,
    Want,
    decide_turn,
    held,
    is_in_time,
    lead_of,
    limits_about,
    line_of,
    parties_of,
    plan,
    turn_of,
)
from delayer.flow.use_cases.gate import Gate
from delayer.schedule.instants import DAY, MAX_DELAY_SECONDS, MAX_HOLD, SECOND, STALE_AFTER, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage, Slot
from delayer.schedule.misfire import last_instant
from delayer.schedule.retrying import policy_of
from delayer.schedule.schedule import Schedule

BOOKING_ROUNDS: Final = 4
KEPT: Final = 1_000  # lines whose end is remembered
FORGOTTEN_AFTER: Final[Millis] = DAY  # the row of a line, after the last turn that may be booked by this write
ROUNDS: Final = 8  # looks at one attempt; then it comes again at the turn that it has


@define(kw_only=True)
class Booking:
    """This environment's knowledge of each line: how far it is booked at least. A line never grows shorter."""

    lines: StoredLines
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
            self.ends.pop(next(iter(self.ends)), None)


Message = TypeVar("Message", DelayerMessage, ExecutorMessage)


def by_rate(block: Block) -> bool:
    """Whether it is a limit of the rate."""
    return block.every > 0


class Missed(Exception):
    """Its turn has passed, or its seat has, before its attempt could begin."""


@frozen(kw_only=True)
class Limits:
    """Without limits it costs nothing: they are read with the suspensions and circuits."""

    clock: Clock
    gate: Gate
    booking: Booking

    def any(self, counts: Callable[[Block], bool] = by_rate) -> bool:
        """Whether there are limits of rate, or others, at all. Raises Unavailable."""
        return any(counts(block) for block in self.gate.view())

    def about(self, schedule: Schedule, counts: Callable[[Block], bool] = by_rate) -> tuple[Block, ...]:
        """The limits of rate, or others, that count its attempts, the slowest first. Raises Unavailable."""
        limits = [block for block in self.gate.view() if counts(block)]
        return limits_about(limits, parties_of(self.gate.party_of(schedule), schedule)) if limits else ()

    def open(
        self, message: DelayerMessage | ExecutorMessage, counts: Callable[[Block], bool] = by_rate
    ) -> tuple[Block, ...]:
        """Its limits, if it waits for no other reason: a message that could not use a turn books none."""
        limits = self.about(message.schedule, counts)
        if not limits:
            return ()
        return () if self.gate.wait_for(message.schedule, message.nonce) else limits

    def line_up(
        self, messages: Mapping[str, Message], ready: Millis
    ) -> dict[str, tuple[Slot, ...] | Come | Unavailable]:
        """The turns of each message that is limited, by its key: one write for each limit. Others are not in it.

        `ready` is when an attempt may be made at the earliest. Come: the line is longer than it can wait.
        """
        about = {key: self.open(message) for key, message in messages.items()}
        found: dict[str, tuple[Slot, ...] | Come | Unavailable] = {}
        asked: dict[str, dict[str, Message]] = {}
        by_line: dict[str, Block] = {}
        for key, limits in about.items():
            if limits and (slots := held(messages[key].slots, limits, ready)):
                found[key] = slots
            elif limits:
                lead = lead_of(limits, self.booking.ends)
                by_line[line_of(lead)] = lead
                asked.setdefault(line_of(lead), {})[key] = messages[key]
        for line, asking in asked.items():
            found |= self._booked(by_line[line], asking, ready)
        return found

    def _booked(
        self, limit: Block, asking: Mapping[str, Message], ready: Millis
    ) -> Mapping[str, tuple[Slot, ...] | Come | Unavailable]:
        """Of those that are late, the oldest first."""
        wants = sorted(
            ((self._want(message, limit, ready), key) for key, message in asking.items()),
            key=lambda one: (one[0].earliest, asking[one[1]].schedule.point_in_time),
        )
        try:
            turns = self.booking.book(limit, [want for want, _ in wants])
        except Unavailable as error:
            return {key: error for _, key in wants}
        return {
            key: self._too_long(limit, asking[key]) if turn is None else (Slot(line=line_of(limit), at=turn),)
            for (_, key), turn in zip(wants, turns, strict=True)
        }

    def _want(self, message: DelayerMessage | ExecutorMessage, limit: Block, ready: Millis) -> Want:
        """In a comeback the pace is another one soon: so nobody books far ahead, and the younger, the less so."""
        earliest, latest = max(due_of(message), ready), self.latest(message, limit)
        if limit.is_comeback:
            latest = min(latest, earliest + patience(limit, message.schedule.point_in_time, self.clock.now()))
        return Want(earliest=earliest, latest=latest)

    def latest(self, message: DelayerMessage | ExecutorMessage, limit: Block) -> Millis:
        """After that it is given up, or dropped by its own rule: a later turn is of no use. Raises Malformed.

        However old it is, if its turn is near, it does not wait because of the limit.
        """
        schedule, definition = message.schedule, message.schedule.definition
        now = self.clock.now()
        too_old = max(waits_since(message, limit, now) + policy_of(definition).max_age, now + MAX_HOLD)
        is_unclaimed = isinstance(message, DelayerMessage)
        too_late = last_instant(definition.on_late, schedule.point_in_time) if is_unclaimed else None
        bounds = [too_old, schedule.address.due + STALE_AFTER, *([] if too_late is None else [too_late])]
        return min(bounds)

    def _too_long(self, limit: Block, message: DelayerMessage | ExecutorMessage) -> Come:
        """It waits without a turn, until it is given up: unless the limit is raised before, as a comeback's is."""
        now = self.clock.now()
        at = min(max(self.latest(message, limit) + SECOND, now + 5 * SECOND), now + MAX_DELAY_SECONDS * SECOND)
        if limit.is_comeback:
            wait = comeback_wait(limit, message.nonce, message.schedule.point_in_time, now)
            at = min(at, now + wait.seconds * SECOND)
        return Come(at=at, limit=limit, has_turn=False)

    def turn(self, message: ExecutorMessage) -> tuple[ExecutorMessage, Come | None]:
        """Waits until it is its turn, books what it lacks. Come: that is too far away to wait for it here.

        What is not due for long has no turn: its row says when it is. Raises Unavailable.
        """
        for _ in range(ROUNDS):
            now, due = self.clock.now(), due_of(message)
            limits = self.open(message)
            age_from = aging_from(message, now) if limits else message.age_from
            message = evolve(message, slots=held(message.slots, limits, now), age_from=age_from)
            if not limits or (not message.slots and due - now > MAX_HOLD):
                return message, None
            match decide_turn(message.slots, limits, self.booking.ends, due, now):
                case Near():
                    return message, None
                case Come() as come if come.at - now > MAX_HOLD:
                    return message, come
                case Come(at=at):
                    self.clock.sleep_until(at - PREPARE)
                case Book() as book:
                    message, too_long = self._book_alone(message, book)
                    if too_long:
                        return message, too_long
        return message, Come(at=max(turn_of(message.slots, due), now + SECOND), limit=limits[0], has_turn=True)

    def _book_alone(self, message: ExecutorMessage, book: Book) -> tuple[ExecutorMessage, Come | None]:
        for limit in book.limits:
            [got] = self._booked(limit, {"": message}, book.earliest).values()
            if isinstance(got, Unavailable):
                raise got
            if isinstance(got, Come):
                return message, got
            message = evolve(message, slots=(*_without(message.slots, limit), *got))
        return message, None

    def begin(self, message: ExecutorMessage) -> None:
        """The last look before an attempt, which waits for the rest of the time. Raises Missed, Unavailable."""
        limits = self.about(message.schedule)
        if not limits:
            return
        until = turn_of(message.slots, 0)
        if 0 < until - self.clock.now() <= PREPARE:
            self.clock.sleep_until(until)
        if not is_in_time(message.slots, limits, self.clock.now()):
            raise Missed


def due_of(message: DelayerMessage | ExecutorMessage) -> Millis:
    """When its attempt is due without any limit, as far as the message says it."""
    later = message.not_before if isinstance(message, ExecutorMessage) else 0
    return max(message.schedule.point_in_time, later)


def _without(slots: Sequence[Slot], limit: Block) -> tuple[Slot, ...]:
    return tuple(slot for slot in slots if slot.line != line_of(limit))
