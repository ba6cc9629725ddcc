"""Whether a schedule that is due may go on now, and if not, when it is to be looked at again (ADR 0110 to 0115, 0154).

A relay asks a Line before it claims, an executor a Room before an attempt. Both answer at once: nothing in here waits.
A line is asked by one thread, a room by several. Whoever asks has seen that the action and the policy of each schedule
can be read: else Malformed is raised.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Final

from attrs import evolve, field, frozen

from delayer.actions.rules.model import Result
from delayer.engines.ports import Clock, Unavailable
from delayer.flow.rules.block import Block, Party, aging_from
from delayer.flow.rules.gate import SHORTEST_WAIT, SLOTS, Go, Later, Message, Wait, crowd_wait, has_room, seat_wait
from delayer.flow.rules.limit import PREPARE, Come, turn_of
from delayer.flow.use_cases.breaker import Breaker
from delayer.flow.use_cases.gate import Gate, at_a_time, by_rate
from delayer.flow.use_cases.seats import HeldSeats, Seats
from delayer.flow.use_cases.turns import InLine, Turns, due_of
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage

PATIENCE: Final[Millis] = SECOND  # for a seat and a slot: targets that answer give theirs back by then
STEP: Final[Millis] = 20  # between two looks at them


Answer = Go[Message] | Later[Message] | Unavailable  # the last: nobody knows


@frozen(kw_only=True)
class Line:
    """A relay has this one: what waits in it is not claimed. Without blocks it costs one read in two seconds."""

    clock: Clock
    gate: Gate
    turns: Turns

    def line_up(self, messages: Mapping[str, DelayerMessage], ready: Millis) -> dict[str, Answer[DelayerMessage]]:
        """An answer for each message of a batch that is due within MAX_HOLD, by its key.

        Of a circuit whose pause is over, one passes: the one whose nonce was written first. What is limited books its
        turn, not before `ready`, with one write for each limit.
        """
        try:
            is_free = not self.gate.view()
        except Unavailable as error:
            return dict.fromkeys(messages, error)
        if is_free:
            return {key: _go(_voided(message)) for key, message in messages.items()}
        found: dict[str, Answer[DelayerMessage]] = {}
        limited: dict[str, InLine[DelayerMessage]] = {}
        for key, message in messages.items():
            now = self.clock.now()
            if wait := self.gate.closed(message.schedule, message.nonce):
                found[key] = Later(message=message, at=now + wait.seconds * SECOND, why=wait.block)
            elif limits := self.gate.limits(message.schedule, by_rate):
                aged = evolve(message, age_from=aging_from(message, now))
                limited[key] = InLine(message=aged, limits=limits)
            else:
                found[key] = _go(_voided(message))
        self.turns.ahead(limited.values(), ready)
        for key, one in limited.items():
            if isinstance(one.come, Come):
                self.over(one.message)
                found[key] = Later(message=one.message, at=one.come.at, why=one.come.limit)
            else:
                found[key] = one.come or _go(one.message)
        return found

    def over(self, message: DelayerMessage, receipt: str = "") -> None:
        """It reaches no target now: if it was to probe, another one may at once. Never raises."""
        self.gate.give_back(message.nonce, receipt)


@frozen(kw_only=True)
class Room:
    """An executor has this one: what was claimed goes in for an attempt, with a slot and its seats, until it leaves.

    A receipt tells a delivery of a message from another one of the same. Without blocks it costs one read in two
    seconds.
    """

    clock: Clock
    gate: Gate
    turns: Turns
    seats: Seats
    breaker: Breaker
    slots: int = SLOTS  # attempts at a time
    step: Millis = STEP  # between two looks of what finds no seat or slot
    _inside: dict[str, tuple[Party, list[HeldSeats]]] = field(factory=dict, init=False)  # by receipt: each has a slot
    _number: Counter[Party | str] = field(factory=Counter, init=False)  # of those inside, by party and by owner
    # By receipt: since when there is no seat or slot, and for whom.
    _refused: dict[str, tuple[Millis, Party]] = field(factory=dict, init=False)
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)  # of who is inside; AWS is not asked in it

    def line_up(self, messages: Mapping[str, ExecutorMessage]) -> dict[str, Answer[ExecutorMessage]]:
        """An answer for each message, by its receipt. Nothing is written but turns and seats, once for each limit.

        What goes keeps its seats and its slot until `made` or `over`, and to ask twice takes nothing twice. What finds
        none looks again soon; when that has lasted for PATIENCE, all that is not claimed is to wait, too.
        """
        try:
            return self._answers(messages, self.gate.view(), is_gated=True)
        except Unavailable as error:
            return dict.fromkeys(messages, error)

    def enter(
        self, message: ExecutorMessage, receipt: str, *, is_taken: bool
    ) -> Go[ExecutorMessage] | Later[ExecutorMessage]:
        """The last look, when its row was read and before its attempt is taken. Raises Unavailable.

        `is_taken`: its attempt was taken before. It waits because of limits alone. Whoever is told to come later has
        left the room.
        """
        blocks = self.gate.view()
        if blocks and not is_taken and (wait := self.gate.closed(message.schedule, message.nonce, receipt)):
            return self._sent_out(message, receipt, self.clock.now() + wait.seconds * SECOND, wait.block)
        if receipt not in self._inside:
            answer = self._answers({receipt: message}, blocks, is_gated=False)[receipt]
            if not isinstance(answer, Go):
                self.gate.give_back(message.nonce, receipt)
            if isinstance(answer, Unavailable):
                raise answer
            if isinstance(answer, Later):
                return answer
            message = answer.message
        if not blocks:
            return _go(_voided(message))
        now, one = self.clock.now(), self._in_line(message)
        one.keep(one.usable(now))
        counts = self.gate.limits(message.schedule, at_a_time)
        if limit := one.missed(now) or self.seats.lacking(self._inside[receipt][1], counts):
            return self._sent_out(one.message, receipt, now, limit)
        return evolve(_go(one.message), is_probe=self.gate.is_probe(message.schedule, message.nonce))

    def made(self, message: ExecutorMessage, receipt: str, result: Result) -> None:
        """After its attempt: it has left the room, and the circuit of its target is told. Never raises."""
        self._leave(receipt)
        self.breaker.made(message, result, receipt)

    def over(self, message: ExecutorMessage, receipt: str) -> None:
        """It makes no attempt, or has made it: what it has is given back, also the probe. Never raises."""
        self._leave(receipt)
        self._refused.pop(receipt, None)
        self.gate.give_back(message.nonce, receipt)

    def pause(self, message: ExecutorMessage) -> int:
        """Seconds until another look at its target makes sense, after a probe in vain. Raises Unavailable."""
        wait = self.gate.wait_for(message.schedule, message.nonce)
        return wait.seconds if wait else SHORTEST_WAIT

    def refused(self) -> Counter[Party]:
        """How many there are of each party that look again soon, because there is no seat or slot."""
        return Counter([party for _, party in list(self._refused.values())])

    def give_back(self) -> None:
        """At the end of an invocation: the seats that no attempt uses are free for others. Never raises."""
        self._refused.clear()
        self.seats.give_back()

    def _answers(
        self, messages: Mapping[str, ExecutorMessage], blocks: Sequence[Block], *, is_gated: bool
    ) -> dict[str, Answer[ExecutorMessage]]:
        """The oldest first."""
        oldest = dict(sorted(messages.items(), key=lambda pair: due_of(pair[1])))
        if not blocks:
            return {key: self._placed(key, _voided(message), ()) for key, message in oldest.items()}
        found: dict[str, Answer[ExecutorMessage]] = {}
        asking: dict[str, InLine[ExecutorMessage]] = {}
        for key, message in oldest.items():
            if is_gated and (wait := self.gate.wait_for(message.schedule, message.nonce)):  # it books no turn
                found[key] = self._closed(message, wait)
            else:
                asking[key] = self._in_line(message)
        found |= self._in_turn(asking)
        for key, answer in found.items():
            if not isinstance(answer, Go):
                self._leave(key)
        return found

    def _closed(self, message: ExecutorMessage, wait: Wait) -> Later[ExecutorMessage]:
        """As long as it is not due, it does not wait for that."""
        now, due = self.clock.now(), due_of(message)
        at, why = (now + wait.seconds * SECOND, wait.block) if due <= now else (due, None)
        return Later(message=_voided(message), at=at, why=why)

    def _in_turn(self, asking: Mapping[str, InLine[ExecutorMessage]]) -> dict[str, Answer[ExecutorMessage]]:
        """Seats are taken for all whose turn is near, also if it has not come."""
        found: dict[str, Answer[ExecutorMessage]] = {}
        self.turns.near(asking.values())
        now = self.clock.now()
        near = {key: one for key, one in asking.items() if one.is_near(now)}
        limits = {key: self.gate.limits(one.message.schedule, at_a_time) for key, one in near.items()}
        self._take_seats(limits)
        for key, one in asking.items():
            if isinstance(one.come, Come):
                at = max(one.come.at - PREPARE, due_of(one.message)) if key in near else one.come.at
                found[key] = Later(message=one.message, at=at, why=one.come.limit)
            else:
                found[key] = one.come or self._placed(key, one.message, limits.get(key, ()))
        return found

    def _in_line(self, message: ExecutorMessage) -> InLine[ExecutorMessage]:
        """From its first look at a limit, its age counts."""
        limits = self.gate.limits(message.schedule, by_rate)
        age_from = aging_from(message, self.clock.now()) if limits else message.age_from
        return InLine(message=evolve(message, age_from=age_from), limits=limits)

    def _take_seats(self, limits: Mapping[str, Sequence[Block]]) -> None:
        """For all that have none: one write for each limit. Those that a limit does not count any more are left."""
        wanted: Counter[Block] = Counter()
        for key, its in limits.items():
            if key in self._inside and self.seats.lacking(self._inside[key][1], its):
                self._leave(key)
            if key not in self._inside:
                wanted.update(its)
        self.seats.expect(wanted)

    def _placed(self, key: str, message: ExecutorMessage, limits: Sequence[Block]) -> Answer[ExecutorMessage]:
        """Its turn has come: it goes if it is due, and there is a seat of each limit, and a slot."""
        if (due := due_of(message)) > self.clock.now():
            return Later(message=message, at=due, why=None)
        if key in self._inside:
            return _go(message)
        party = self.gate.party_of(message.schedule)
        try:
            is_inside, limit = self._taken_in(key, party, limits)
            if not is_inside:
                return self._without_place(key, message, party, limit)
        except Unavailable as error:
            return error
        self._refused.pop(key, None)
        return _go(message)

    def _taken_in(self, key: str, party: Party, limits: Sequence[Block]) -> tuple[bool, Block | None]:
        """Whether there is room; if not, the limit that has no seat, unless it is a slot that is missing."""
        with self._lock:
            mine = self.seats.one(limits)
            if isinstance(mine, Block):
                return False, mine
            if not self._has_slot(party):
                self.seats.leave(mine)
                return False, None
            self._inside[key] = party, mine
            self._number.update((party, party.owner))
            return True, None

    def _has_slot(self, party: Party) -> bool:
        """Slots cost nothing: each environment sees to its own (ADR 0113)."""
        return has_room(self._number[party], self._number[party.owner], len(self._inside), self.slots)

    def _without_place(
        self, key: str, message: ExecutorMessage, party: Party, limit: Block | None
    ) -> Later[ExecutorMessage]:
        """It looks again soon, for a second; then all that is not claimed yet is to wait, too. Raises Unavailable."""
        now = self.clock.now()
        aged = evolve(message, age_from=aging_from(message, now))
        asked = aged.nonce, aged.age_from, now
        wait = seat_wait(limit, *asked) if limit else crowd_wait(party, *asked)
        if now - self._refused.setdefault(key, (now, party))[0] < PATIENCE:
            return Later(message=aged, at=now + self.step, why=wait.block)
        del self._refused[key]
        self.breaker.crowded(party)
        return Later(message=aged, at=now + wait.seconds * SECOND, why=wait.block)

    def _sent_out(self, message: ExecutorMessage, receipt: str, at: Millis, why: Block) -> Later[ExecutorMessage]:
        self.over(message, receipt)
        return Later(message=message, at=at, why=why)

    def _leave(self, receipt: str) -> None:
        with self._lock:
            if receipt in self._inside:
                party, seats = self._inside.pop(receipt)
                for one in (party, party.owner):
                    self._number[one] -= 1
                    if not self._number[one]:
                        del self._number[one]
                self.seats.leave(seats)


def _go(message: Message) -> Go[Message]:
    return Go(message=message, at=turn_of(message.slots, due_of(message)))


def _voided(message: Message) -> Message:
    """Without turns: nothing that is limited counts it now."""
    return evolve(message, slots=()) if message.slots else message
