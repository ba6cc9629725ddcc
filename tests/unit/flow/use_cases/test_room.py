"""A room says at once which attempts may begin now, and of all others when they are to be looked at again."""

import itertools
import json
from collections import Counter
from contextlib import ExitStack

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.engines.ports import Unavailable
from delayer.flow.room import PATIENCE, STEP
from delayer.flow.rules.block import CROWDED, EVERY, Block, BlockKind, Party, opened, probing
from delayer.flow.rules.comeback import IN_A_ROW, coming_back
from delayer.flow.rules.gate import NEEDED, SHORTEST_WAIT, SLOTS, TERM, Go, Later, SeatHold, has_room
from delayer.flow.rules.limit import PREPARE, TOLERANCE, line_of
from delayer.flow.use_cases.seats import ASKED_AGAIN
from delayer.flow.words import limited, suspended
from delayer.schedule.instants import HOUR, MAX_HOLD, MINUTE, SECOND
from delayer.schedule.messages import ExecutorMessage, Slot
from tests.looking import all_rows, put_row
from tests.samples import NOW
from tests.tables import preceded
from tests.unit.flow.use_cases.asked import (
    PARTY,
    TEN,
    TWO,
    Asked,
    answered,
    asked,
    claimed,
    held_until,
    occupied,
    seconds,
)

OUTAGE = Retry(detail="HTTP 503", is_outage=True)
OPEN = opened(PARTY, NOW, "HTTP 503")
OVER = opened(PARTY, NOW - 20 * SECOND, "HTTP 503")  # its pause is
ELSEWHERE = limited(Party(owner="another", target=EVERY), NOW, 1_000_000, "", concurrency=1)
BOTH = limited(PARTY, NOW - MINUTE, 100_000, "", concurrency=2)
OF_ALL = limited(Party(owner=EVERY, target=PARTY.target), NOW - MINUTE, 1_000_000, "")


def down() -> None:
    raise Unavailable("down")


def circuit(stack: Asked) -> Block:
    blocks: list[Block] = [block for block in all_rows(stack.blocks).values() if block.kind is BlockKind.CIRCUIT]
    [block] = blocks
    return block


def is_probe(entered: Go[ExecutorMessage] | Later[ExecutorMessage]) -> bool:
    return isinstance(entered, Go) and entered.is_probe


# ------------------------------------------------------------ without blocks


def test_without_blocks_all_that_is_due_goes_by_one_read_in_two_seconds() -> None:
    stack, reads = asked(), []
    stack.blocks = preceded(stack.blocks, lambda: reads.append(1), ["query"])
    room = stack.room()
    for first in range(0, 100, 10):
        messages = claimed(10, first=first)
        assert {type(answer) for answer in room.line_up(messages).values()} == {Go}
        for receipt, message in messages.items():
            go = room.enter(message, receipt, is_taken=False)
            assert isinstance(go, Go)
            assert (go.at, go.is_probe) == (NOW, False)
            room.made(message, receipt, Done(""))
            room.over(message, receipt)
    assert len(reads) == 1
    assert stack.plan.seen == []


@pytest.mark.parametrize("blocks", [(), (ELSEWHERE,)], ids=["no blocks", "of others"])
def test_what_is_not_due_is_looked_at_when_it_is(blocks: tuple[Block, ...]) -> None:
    stack = asked(*blocks)
    room = stack.room()
    [(receipt, message)] = claimed(1, NOW + 2 * SECOND).items()
    answer = room.line_up({receipt: message})[receipt]
    assert answer == Later(message=message, at=NOW + 2 * SECOND, why=None)
    [(other, later)] = {"x": evolve(claimed(1)["r0"], not_before=NOW + SECOND)}.items()
    assert room.line_up({other: later})[other] == Later(message=later, at=NOW + SECOND, why=None)
    stack.clock.move(2 * SECOND)
    assert isinstance(room.line_up({receipt: message})[receipt], Go)


def test_if_the_blocks_were_never_read_nobody_knows() -> None:
    stack = asked()
    stack.blocks = preceded(stack.blocks, down, ["query"])
    room, messages = stack.room(), claimed(2)
    assert {type(answer) for answer in room.line_up(messages).values()} == {Unavailable}
    with pytest.raises(Unavailable):
        room.enter(messages["r0"], "r0", is_taken=False)
    room.over(messages["r0"], "r0")
    room.made(messages["r0"], "r0", OUTAGE)


# ------------------------------------------------------------ a slot


def test_a_slot_is_given_back_after_an_attempt_and_without_one() -> None:
    room = asked().room()
    for at in range(SLOTS):
        messages = claimed(SLOTS // 2, first=at * SLOTS)
        assert {type(answer) for answer in room.line_up(messages).values()} == {Go}
        for receipt, message in messages.items():
            if at % 2:
                room.made(message, receipt, Done(""))
            room.over(message, receipt)
            room.over(message, receipt)  # once more does no harm


def test_to_ask_twice_takes_nothing_twice() -> None:
    stack = asked(TWO)
    room, messages = stack.room(), claimed(2)
    for _ in range(3):
        assert {type(answer) for answer in room.line_up(messages).values()} == {Go}
    assert stack.writes("Seats") == 1
    assert isinstance(room.line_up(claimed(1, first=2))["r2"], Later)


def test_the_oldest_take_what_is_free() -> None:
    room = asked().room()
    late = claimed(SLOTS // 2 + 3)
    messages = late | claimed(4, NOW - HOUR, first=50)
    went = {key for key, answer in room.line_up(messages).items() if isinstance(answer, Go)}
    assert set(claimed(4, first=50)) <= went
    assert len(went) == SLOTS // 2


def test_one_more_waits_a_second_for_a_slot_and_then_all_that_is_unclaimed_waits_too() -> None:
    stack = asked()
    room, messages = stack.room(), claimed(1)
    with occupied(room):
        first = room.line_up(messages)["r0"]
        assert isinstance(first, Later)
        assert first.why
        assert (first.at, first.why.kind, first.message.age_from) == (NOW + STEP, BlockKind.CROWD, NOW)
        assert stack.crowds() == []
        last = held_until(stack, room, messages)
    assert stack.clock.now() == NOW + PATIENCE
    assert isinstance(last, Later)
    assert last.why
    assert (last.at, last.why.party) == (NOW + PATIENCE + 5 * SECOND, PARTY)
    [crowd] = stack.crowds()
    assert (crowd.party, crowd.reason) == (PARTY, CROWDED)


def test_whoever_asks_again_has_all_its_patience_again() -> None:
    stack = asked()
    room, messages = stack.room(), claimed(1)
    with occupied(room):
        for message in (answered(held_until(stack, room, messages)).message, messages["r0"]):
            room.over(message, "r0")
            before = stack.clock.now()
            held_until(stack, room, {"r0": message})
            assert stack.clock.now() == before + PATIENCE


def test_what_was_claimed_takes_the_next_slot_that_is_free_crowd_or_not() -> None:
    stack = asked()
    room = stack.room()
    with occupied(room):
        last = held_until(stack, room, claimed(1))
    assert stack.crowds()
    assert isinstance(last, Later)
    assert isinstance(room.line_up({"r0": last.message})["r0"], Go)


def test_what_finds_no_room_for_long_asks_at_least_once_in_a_minute() -> None:
    stack = asked()
    room = stack.room()
    [(key, message)] = claimed(1).items()
    stack.clock.move(HOUR)
    with occupied(room):
        last = held_until(stack, room, {key: evolve(message, age_from=NOW)})
    assert 30 * SECOND <= answered(last).at - stack.clock.now() <= MINUTE


def test_others_have_room() -> None:
    room = asked().room()
    with occupied(room):
        assert isinstance(room.line_up(claimed(1, owner="another"))["r0"], Go)
        elsewhere = claimed(1, first=1, action=json.dumps({"type": "http-request", "url": "http://quick/"}))
        assert isinstance(room.line_up(elsewhere)["r1"], Go)


def test_if_the_crowd_cannot_be_written_nobody_knows() -> None:
    stack = asked()
    stack.blocks = preceded(stack.blocks, down)
    room = stack.room()
    with occupied(room):
        assert isinstance(held_until(stack, room, claimed(1)), Unavailable)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.booleans()), max_size=40))
def test_a_slot_goes_by_the_shares(wishes: list[tuple[str, str, bool]]) -> None:
    room, inside = ROOM, dict[str, tuple[ExecutorMessage, str, str]]()
    for at, (owner, host, leaves) in enumerate(wishes):
        if leaves and inside:
            receipt, (message, *_) = inside.popitem()
            room.over(message, receipt)
        [(_, message)] = claimed(
            1, owner=owner, action=json.dumps({"type": "http-request", "url": f"http://{host}/"})
        ).items()
        of_owner = sum(one[1] == owner for one in inside.values())
        of_target = sum(one[1:] == (owner, host) for one in inside.values())
        may = has_room(of_target, of_owner, len(inside))
        assert isinstance(room.line_up({str(at): message})[str(at)], Go) is may
        if may:
            inside[str(at)] = (message, owner, host)
        else:
            room.over(message, str(at))
    for receipt, (message, *_) in inside.items():
        room.over(message, receipt)


ROOM = asked().room()


# ------------------------------------------------------------ what waits for another reason


@pytest.mark.parametrize("block", [suspended(PARTY, NOW, "", ""), OPEN], ids=["suspension", "circuit"])
def test_what_waits_for_another_reason_takes_no_slot_no_seat_and_no_turn(block: Block) -> None:
    """Else each of them would hold one for a second, only to be put off."""
    stack = asked(BOTH, block)
    room = stack.room()
    answers = room.line_up(claimed(SLOTS))
    assert {answer.why for answer in answers.values() if isinstance(answer, Later)} == {block}
    assert all(answered(answer).at - NOW >= SHORTEST_WAIT * SECOND for answer in answers.values())
    assert stack.plan.seen == []
    assert stack.crowds() == []


def test_what_is_not_due_yet_waits_for_its_time_and_not_for_that() -> None:
    room, messages = asked(OPEN).room(), claimed(1, NOW + SECOND)
    assert room.line_up(messages)["r0"] == Later(message=messages["r0"], at=NOW + SECOND, why=None)


def test_one_probes_and_the_others_wait() -> None:
    stack = asked(OVER)
    room, messages = stack.room(), claimed(3)
    assert {type(answer) for answer in room.line_up(messages).values()} == {Go}, "nothing is written before `enter`"
    entered = [room.enter(message, receipt, is_taken=False) for receipt, message in messages.items()]
    assert [isinstance(one, Go) and one.is_probe for one in entered] == [True, False, False]
    assert [type(one) for one in entered] == [Go, Later, Later]
    assert circuit(stack).probe == "n0"


@pytest.mark.parametrize("named", ["by its relay", "by its executor"])
def test_a_copy_of_what_probes_neither_probes_nor_gives_back_its_probe(named: str) -> None:
    """Both have the same nonce. Else another schedule would reach the target while the first is there."""
    stack = asked(probing(OVER, "n0", NOW) if named == "by its relay" else OVER)
    one, other = stack.room(), stack.room()
    message = claimed(1)["r0"]
    one.line_up({"first": message})
    assert is_probe(one.enter(message, "first", is_taken=False))
    other.line_up({"second": message})
    assert isinstance(other.enter(message, "second", is_taken=False), Later)
    other.over(message, "second")
    other.made(message, "second", Retry(detail="a defect", reached=False))
    assert circuit(stack).probe == "n0"
    one.over(message, "first")
    assert circuit(stack).probe == ""


def test_who_enters_no_more_lets_another_one_probe() -> None:
    """No time, a stop, an attempt that another message has taken."""
    stack = asked(OVER)
    room, messages = stack.room(), claimed(2)
    for receipt, message in messages.items():
        room.line_up({receipt: message})
        assert is_probe(room.enter(message, receipt, is_taken=False))
        room.over(message, receipt)


def test_who_is_to_probe_and_misses_its_turn_lets_another_one_probe() -> None:
    stack = asked(OVER, TEN)
    room, messages = stack.room(), claimed(1)
    go = room.line_up(messages)["r0"]
    stack.clock.move(SECOND)
    later = room.enter(answered(go).message, "r0", is_taken=False)
    assert isinstance(later, Later)
    assert (later.at, later.why) == (NOW + SECOND, TEN)
    assert circuit(stack).probe == ""


def test_what_was_taken_waits_because_of_limits_alone() -> None:
    stack = asked(OPEN)
    room, messages = stack.room(), claimed(1)
    assert isinstance(room.line_up(messages)["r0"], Later)
    assert isinstance(room.enter(messages["r0"], "r0", is_taken=False), Later)
    go = room.enter(messages["r0"], "r0", is_taken=True)
    assert isinstance(go, Go)
    assert not go.is_probe


def test_what_was_taken_has_its_turn_its_seat_and_its_slot_all_the_same() -> None:
    stack = asked(OPEN, BOTH)
    room, messages = stack.room(), claimed(3)
    room.line_up(messages)
    entered = [room.enter(message, receipt, is_taken=True) for receipt, message in messages.items()]
    assert isinstance(entered[0], Go)
    assert entered[0].at == NOW + PREPARE // 2
    assert [one.why for one in entered[1:] if isinstance(one, Later)] == [BOTH, BOTH]
    assert stack.writes("Seats") == 2, "each for itself"


def test_what_was_taken_has_no_more_than_its_share() -> None:
    crowded = asked(OPEN).room()
    for receipt, message in claimed(SLOTS // 2).items():
        assert isinstance(crowded.enter(message, receipt, is_taken=True), Go)
    assert isinstance(crowded.enter(claimed(1, first=99)["r99"], "r99", is_taken=True), Later)


# ------------------------------------------------------------ what attempts say


def test_five_failures_in_a_row_open_a_circuit() -> None:
    stack = asked()
    room = stack.room()
    for at, (receipt, message) in enumerate(claimed(IN_A_ROW).items()):
        assert bool(all_rows(stack.blocks)) is False, at
        room.line_up({receipt: message})
        room.made(message, receipt, OUTAGE)
    assert circuit(stack).until == NOW + 10 * SECOND


@pytest.mark.parametrize("answer", [Done("HTTP 200"), Refused("HTTP 404"), Retry(detail="HTTP 429")], ids=str)
def test_a_probe_that_is_answered_begins_a_comeback(answer: Result) -> None:
    stack = asked(OVER)
    room, message = stack.room(), claimed(1)["r0"]
    room.line_up({"r0": message})
    room.enter(message, "r0", is_taken=False)
    room.made(message, "r0", answer)
    assert circuit(stack).is_comeback


def test_after_a_probe_in_vain_it_waits_as_long_as_all_others() -> None:
    stack = asked(OVER)
    room, message = stack.room(), claimed(1)["r0"]
    assert room.pause(message) == SHORTEST_WAIT
    room.line_up({"r0": message})
    room.enter(message, "r0", is_taken=False)
    room.made(message, "r0", OUTAGE)
    assert stack.clock.now() + room.pause(message) * SECOND >= circuit(stack).until


def test_what_cannot_be_reported_is_reported_after_the_next_attempt() -> None:
    stack = asked()
    real = stack.blocks
    stack.blocks = preceded(real, down)
    room = stack.room()
    for receipt, message in claimed(IN_A_ROW).items():
        room.made(message, receipt, OUTAGE)
    assert all_rows(real) == {}
    assert stack.observer.lines


# ------------------------------------------------------------ turns


def test_a_batch_books_its_turns_with_one_write_and_each_waits_for_its_own() -> None:
    stack = asked(TEN)
    room, messages = stack.room(), claimed(3)
    answers = room.line_up(messages)
    assert stack.writes("Lines") == 1
    assert [seconds(answer) for answer in answers.values()] == [0.05, 0.05, 0.15], "PREPARE before its turn"
    assert [answered(answer).message.slots[0].at - NOW for answer in answers.values()] == [50, 150, 250]
    later = answers["r1"]
    assert isinstance(later, Later)
    assert (later.why, later.message.age_from) == (TEN, NOW)
    stack.clock.move(50)
    go = room.line_up({"r1": later.message})["r1"]
    assert isinstance(go, Go)
    assert (go.at, stack.writes("Lines")) == (NOW + 150, 1)
    entered = room.enter(answered(go).message, "r1", is_taken=False)
    assert isinstance(entered, Go)
    assert entered.at == NOW + 150


def test_no_row_is_read_before_it_is_due_however_near_its_turn_is() -> None:
    stack = asked(TEN)
    room, messages = stack.room(), claimed(1, NOW + PREPARE // 2)
    assert seconds(room.line_up(messages)["r0"]) == 0.05
    far = room.line_up(claimed(1, NOW + 2 * SECOND, first=1))["r1"]
    assert isinstance(far, Later)
    assert (far.at, far.message.slots[0].at) == (NOW + 2 * SECOND, NOW + 2 * SECOND)


def test_a_turn_that_is_far_away_is_no_hold() -> None:
    stack = asked(TEN, evolve(TWO, party=Party(owner=EVERY, target=PARTY.target)))
    stack.ahead(TEN, MINUTE)
    room = stack.room()
    later = room.line_up(claimed(1))["r0"]
    assert isinstance(later, Later)
    assert (later.at, later.why) == (NOW + MINUTE, TEN)
    assert stack.writes("Seats") == 0, "a seat is taken for what is near"
    room.over(later.message, "r0")
    stack.clock.move(MINUTE - SECOND)
    writes = stack.writes("Lines")
    again = room.line_up({"again": later.message})["again"]
    assert isinstance(again, Later)
    assert (again.at, stack.writes("Lines")) == (NOW + MINUTE - PREPARE, writes)


def test_what_is_not_due_for_long_books_no_turn_and_takes_no_seat() -> None:
    stack = asked(TEN, evolve(TWO, party=Party(owner=EVERY, target=PARTY.target)))
    room, due = stack.room(), NOW + MAX_HOLD + 1
    [(receipt, message)] = claimed(1).items()
    later = room.line_up({receipt: evolve(message, not_before=due)})[receipt]
    assert isinstance(later, Later)
    assert (later.at, later.why) == (due, None)
    assert stack.plan.seen == []


def test_what_finds_no_turn_asks_again_when_it_is_too_old() -> None:
    stack = asked(TEN)
    stack.ahead(TEN, 2 * MINUTE)
    later = stack.room().line_up(claimed(1, retry=json.dumps({"maxAgeSeconds": 60})))["r0"]
    assert isinstance(later, Later)
    assert (later.at, later.message.slots) == (NOW + MINUTE + SECOND, ())


@pytest.mark.parametrize("at", [NOW - TOLERANCE - 1, NOW + MINUTE], ids=["missed", "of another line"])
def test_a_turn_of_no_use_is_booked_anew(at: int) -> None:
    stack = asked(TEN)
    line = line_of(TEN) if at < NOW else "another"
    message = evolve(claimed(1)["r0"], slots=(Slot(line=line, at=at),))
    answer = stack.room().line_up({"r0": message})["r0"]
    assert isinstance(answer, Go)
    assert answer.message.slots == (Slot(line=line_of(TEN), at=NOW + PREPARE // 2),)


@pytest.mark.parametrize("blocks", [(), (ELSEWHERE,)], ids=["no blocks", "of others"])
def test_a_turn_of_a_limit_that_is_gone_is_void(blocks: tuple[Block, ...]) -> None:
    stack = asked(*blocks)
    message = evolve(claimed(1)["r0"], slots=(Slot(line=line_of(TEN), at=NOW + MINUTE),))
    answer = stack.room().line_up({"r0": message})["r0"]
    assert isinstance(answer, Go)
    assert (answer.at, answer.message.slots) == (NOW, ())


@pytest.mark.parametrize("moved", [PREPARE // 2 - 1, PREPARE // 2, PREPARE // 2 + TOLERANCE])
def test_a_turn_is_used_within_its_time(moved: int) -> None:
    stack = asked(TEN)
    room = stack.room()
    go = room.line_up(claimed(1))["r0"]
    stack.clock.move(moved)
    entered = room.enter(answered(go).message, "r0", is_taken=False)
    assert isinstance(entered, Go)
    assert entered.at == NOW + PREPARE // 2


def test_a_turn_that_was_missed_is_not_used_and_nothing_is_kept() -> None:
    stack = asked(TEN, evolve(TWO, party=Party(owner=EVERY, target=PARTY.target)))
    room = stack.room()
    go = room.line_up(claimed(1))["r0"]
    stack.clock.move(PREPARE // 2 + TOLERANCE + 1)
    later = room.enter(answered(go).message, "r0", is_taken=False)
    assert isinstance(later, Later)
    assert (later.at, later.why) == (stack.clock.now(), TEN)
    assert {type(one) for one in room.line_up(claimed(1, first=8)).values()} == {Go}


def test_of_two_limits_both_are_booked_when_the_turn_of_the_longer_line_is_near() -> None:
    stack = asked(TEN, OF_ALL)
    room = stack.room()
    stack.ahead(OF_ALL, 2 * SECOND)
    later = room.line_up(claimed(1))["r0"]
    assert isinstance(later, Later)
    assert [slot.line for slot in later.message.slots] == [line_of(OF_ALL)]
    stack.clock.move(2 * SECOND - PREPARE)
    go = room.line_up({"r0": later.message})["r0"]
    assert isinstance(go, Go)
    assert {slot.line for slot in answered(go).message.slots} == {line_of(TEN), line_of(OF_ALL)}
    assert go.at == NOW + 2 * SECOND


def test_a_limit_of_the_rate_that_is_set_meanwhile_counts_at_the_last_look() -> None:
    stack = asked()
    room, message = stack.room(), claimed(1)["r0"]
    assert isinstance(room.line_up({"r0": message})["r0"], Go)
    stack.blocks.change(TEN)
    stack.clock.move(3 * SECOND)
    later = room.enter(message, "r0", is_taken=False)
    assert isinstance(later, Later)
    assert later.why == TEN
    assert isinstance(held_until(stack, room, {"r0": later.message}), Go)


def test_if_no_turn_can_be_booked_nobody_knows_and_others_go_on() -> None:
    stack = asked(TEN)
    stack.lines = preceded(stack.lines, down)
    room = stack.room()
    answers = room.line_up({**claimed(2), **claimed(1, first=2, owner="another")})
    assert [type(answers[key]) for key in ("r0", "r1", "r2")] == [Unavailable, Unavailable, Go]


def test_those_that_come_back_take_turns_a_second_apart_and_the_youngest_ask_again_last() -> None:
    back = coming_back(probing(evolve(OVER, until=NOW - HOUR, since=NOW - 2 * HOUR), "n0", NOW), NOW)
    stack = asked()
    put_row(stack.blocks, back)
    room = stack.room()
    answers = room.line_up(claimed(30, NOW - 2 * HOUR))
    turns = sorted(slot.at for one in answers.values() for slot in answered(one).message.slots)
    assert len(turns) == 11
    assert {later - earlier for earlier, later in itertools.pairwise(turns)} == {SECOND}
    rest = [one for one in map(answered, answers.values()) if not one.message.slots]
    assert all(5 * SECOND <= one.at - NOW <= 15 * SECOND for one in rest)


# ------------------------------------------------------------ seats


def test_a_batch_takes_its_seats_with_one_write_and_its_end_is_another() -> None:
    stack = asked(TWO)
    room, messages = stack.room(), claimed(5)
    answers = room.line_up(messages)
    assert [type(answer) for answer in answers.values()] == [Go, Go, Later, Later, Later]
    for receipt, message in messages.items():
        assert isinstance(room.line_up({receipt: message})[receipt], Go)
        assert isinstance(room.enter(message, receipt, is_taken=False), Go)
        room.made(message, receipt, Done(""))
    assert stack.writes("Seats") == 1
    room.give_back()
    room.give_back()
    assert stack.writes("Seats") == 2
    assert {row.taken for row in all_rows(stack.seat_rows).values()} == {0}


def test_seats_are_taken_for_what_is_due_soon_too() -> None:
    stack = asked(TWO)
    room = stack.room()
    assert seconds(room.line_up(claimed(2, NOW + SECOND))["r0"]) == 1
    stack.clock.move(SECOND)
    assert {type(answer) for answer in room.line_up(claimed(2, NOW + SECOND)).values()} == {Go}
    assert stack.writes("Seats") == 1


def test_who_finds_none_waits_a_second_asks_rarely_and_then_the_relay_knows() -> None:
    stack = asked(TWO)
    stack.taken(SeatHold(id="x", number=2, until=NOW + 10 * MINUTE))
    room = stack.room()
    first = room.line_up(claimed(1))["r0"]
    assert isinstance(first, Later)
    assert (first.at, first.why, first.message.age_from) == (NOW + STEP, TWO, NOW)
    last = held_until(stack, room, claimed(1))
    assert isinstance(last, Later)
    assert (stack.clock.now(), last.at, last.why) == (NOW + PATIENCE, NOW + PATIENCE + 5 * SECOND, TWO)
    assert stack.writes("Seats") <= 1 + PATIENCE // ASKED_AGAIN
    assert [crowd.party for crowd in stack.crowds()] == [PARTY]


def test_who_finds_a_seat_and_no_slot_keeps_no_seat() -> None:
    stack = asked(evolve(TWO, concurrency=1))
    room = stack.room()
    of_its_owner = [json.dumps({"type": "http-request", "url": f"http://{host}/"}) for host in "abcd"]
    with ExitStack() as full:
        for number, action in zip((10, 5, 1), of_its_owner, strict=False):  # four fifths of all
            full.enter_context(occupied(room, number, action=action))
        assert isinstance(room.line_up(claimed(1))["r0"], Later)
        assert [held.used for held in room.seats.held] == [0]
    assert isinstance(room.line_up(claimed(1, first=1))["r1"], Go)


def test_no_attempt_begins_that_would_outlast_its_seat() -> None:
    one = evolve(TWO, concurrency=1)
    stack = asked(one)
    room, message = stack.room(), claimed(1)["r0"]
    room.line_up({"r0": message})
    stack.clock.move(TERM - NEEDED)
    assert isinstance(room.enter(message, "r0", is_taken=False), Go)
    stack.clock.move(1)
    later = room.enter(message, "r0", is_taken=False)
    assert isinstance(later, Later)
    assert later.why == one
    assert isinstance(room.line_up({"r0": message})["r0"], Later), "another seat is asked for, and none is free"


def test_a_limit_of_the_number_that_is_set_meanwhile_counts_at_the_last_look() -> None:
    stack = asked()
    room, message = stack.room(), claimed(1)["r0"]
    assert isinstance(room.line_up({"r0": message})["r0"], Go)
    stack.blocks.change(TWO)
    stack.clock.move(3 * SECOND)
    assert isinstance(room.enter(message, "r0", is_taken=False), Later)
    assert isinstance(room.line_up({"r0": message})["r0"], Go)
    assert isinstance(room.enter(message, "r0", is_taken=False), Go)
    assert stack.writes("Seats") == 1


def test_what_has_its_seat_of_a_limit_that_is_changed_asks_anew() -> None:
    stack = asked(TWO)
    room, message = stack.room(), claimed(1)["r0"]
    assert isinstance(room.line_up({"r0": message})["r0"], Go)
    stack.blocks.change(limited(PARTY, NOW, 0, "", over=TWO, concurrency=1))
    stack.clock.move(3 * SECOND)
    assert isinstance(room.line_up({"r0": message})["r0"], Later), "the one that it had counts"


def test_if_no_seat_can_be_taken_nobody_knows_and_others_go_on() -> None:
    stack = asked(TWO)
    stack.seat_rows = preceded(stack.seat_rows, down)
    room = stack.room()
    answers = room.line_up({**claimed(2), **claimed(1, first=2, owner="another")})
    assert [type(answers[key]) for key in ("r0", "r1", "r2")] == [Unavailable, Unavailable, Go]
    room.give_back()


def test_a_rate_and_a_number_at_a_time_are_both_kept() -> None:
    stack = asked(BOTH)
    room, messages = stack.room(), claimed(3)
    answers = room.line_up(messages)
    assert [answered(answer).message.slots[0].at - NOW for answer in answers.values()] == [50, 150, 250]
    stack.clock.move(PREPARE // 2)
    answers |= room.line_up({"r1": answered(answers["r1"]).message})
    assert [type(answer) for answer in answers.values()] == [Go, Go, Later]
    room.made(messages["r0"], "r0", Done(""))
    stack.clock.move(PREPARE)
    assert isinstance(room.line_up({"r2": answered(answers["r2"]).message})["r2"], Go)
    assert (stack.writes("Lines"), stack.writes("Seats")) == (1, 1)


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["ask", "made", "over"])), max_size=60))
def test_whatever_is_asked_there_are_never_more_inside_than_seats(steps: list[tuple[int, str]]) -> None:
    room = SEATED.room()
    inside: Counter[str] = Counter()
    for number, step in steps:
        receipt, message = f"r{number}", ALL[f"r{number}"]
        if step == "ask":
            inside[receipt] = int(isinstance(room.line_up({receipt: message})[receipt], Go))
        elif step == "made":
            room.made(message, receipt, Done(""))
            inside[receipt] = 0
        else:
            room.over(message, receipt)
            inside[receipt] = 0
        assert inside.total() <= 2
    for receipt, message in ALL.items():
        room.over(message, receipt)
    room.give_back()
    assert {row.taken for row in all_rows(SEATED.seat_rows).values()} <= {0}


SEATED, ALL = asked(TWO), claimed(6)
