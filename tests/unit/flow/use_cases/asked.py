"""A stack of which nothing but flow control is asked: a line, and rooms; and attempts that do not end."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from attrs import define, evolve, field

from delayer.engines.ports import Unavailable
from delayer.engines.store.model import entry_key
from delayer.flow.repository import HOLD, SLOTS_LIST
from delayer.flow.room import Answer, Line, Room
from delayer.flow.rules.block import Block, BlockKind, Party
from delayer.flow.rules.gate import SLOTS, Go, Later, SeatHold, seats_of
from delayer.flow.rules.limit import line_of
from delayer.flow.words import limited
from delayer.schedule.instants import MAX_HOLD, MINUTE, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage
from delayer.wiring import use_cases
from tests.fakes.faults import FaultPlan, faulty
from tests.fakes.stack import StackInMemory
from tests.looking import all_rows, put_item
from tests.samples import NOW, OWNER, a_delayer_message, an_executor_message

PARTY = Party(owner=OWNER, target="http-request target")
TEN = limited(PARTY, NOW - MINUTE, 100_000, "")  # a second
TWO = limited(PARTY, NOW - MINUTE, 0, "", concurrency=2)


@define(kw_only=True, slots=False)
class Asked(StackInMemory):
    """Requests that write turns and seats are in `plan`."""

    plan: FaultPlan = field(factory=FaultPlan)

    def __attrs_post_init__(self) -> None:
        self.prepare()
        self.lines, self.seat_rows = faulty(self.lines, self.plan), faulty(self.seat_rows, self.plan)

    def room(self) -> Room:
        """Of one more execution environment."""
        return use_cases.room(self.ports("execute"))

    def line(self) -> Line:
        """The same."""
        return use_cases.line(self.ports("relay"))

    def writes(self, what: str) -> int:
        """Requests that write `Lines` or `Seats`."""
        return self.plan.seen.count(f"Stored{what}.write")

    def ahead(self, limit: Block, by: Millis) -> None:
        """Others have booked the line so far."""
        put_item(self.lines, entry_key(SLOTS_LIST, line_of(limit)), {"next": (self.clock.now() + by) * 1_000})

    def taken(self, *holds: SeatHold, limit: Block = TWO) -> None:
        """They stand in the row of the limit, whatever stood there."""
        texts = {HOLD + one.id: one.text for one in holds}
        put_item(
            self.seat_rows, entry_key(SLOTS_LIST, seats_of(limit)), {"taken": sum(one.number for one in holds), **texts}
        )

    def crowds(self) -> list[Block]:
        """All that are written."""
        return [block for block in all_rows(self.blocks).values() if block.kind is BlockKind.CROWD]


def asked(*blocks: Block) -> Asked:
    stack = Asked()
    for block in blocks:
        assert stack.blocks.change(evolve(block, revision=1))
    return stack


def claimed(number: int, due: Millis = NOW, first: int = 0, **changes: Any) -> dict[str, ExecutorMessage]:
    """So many messages, by their receipts."""
    return {
        f"r{at}": an_executor_message(due, nonce=f"n{at}", randomness=(at + 1).to_bytes(8, "big"), **changes)
        for at in range(first, first + number)
    }


def unclaimed(number: int, due: Millis = NOW, **changes: Any) -> dict[str, DelayerMessage]:
    """The same, of the delayer queue."""
    return {
        f"m{at}": a_delayer_message(due, nonce=f"n{at}", randomness=(at + 1).to_bytes(8, "big"), **changes)
        for at in range(number)
    }


@contextmanager
def occupied(room: Room, number: int = SLOTS // 2, **changes: Any) -> Iterator[None]:
    """By attempts that do not end. `changes` are of their schedules."""
    inside = {f"inside {changes} {at}": an_executor_message(nonce=f"inside {at}", **changes) for at in range(number)}
    for receipt, message in inside.items():  # also beside a circuit
        assert isinstance(room.enter(message, receipt, is_taken=True), Go)
    try:
        yield
    finally:
        for receipt, message in inside.items():
            room.over(message, receipt)


def answered(answer: Answer[ExecutorMessage]) -> Go[ExecutorMessage] | Later[ExecutorMessage]:
    """One that is known."""
    assert not isinstance(answer, Unavailable), answer
    return answer


def seconds(answer: Answer[ExecutorMessage]) -> float:
    """From NOW until it may go, or asks again."""
    return (answered(answer).at - NOW) / 1_000


def held_until(stack: Asked, room: Room, messages: Mapping[str, ExecutorMessage]) -> Answer[ExecutorMessage]:
    """The answer for the only one, after those for which it is held here."""
    for _ in range(1_000):
        [(receipt, answer)] = room.line_up(messages).items()
        if not isinstance(answer, Later) or answer.at - stack.clock.now() > MAX_HOLD:
            return answer
        messages = {receipt: answer.message}
        stack.clock.sleep_until(max(answer.at, stack.clock.now() + 1))
    raise AssertionError("it is held for ever")
