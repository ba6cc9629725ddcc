"""Before its attempt a schedule has a turn on each line, all at the same time."""

import pytest
from attrs import evolve

from delayer.flow.rules.block import EVERY, Block, Party
from delayer.flow.rules.limit import (
    PREPARE,
    TOLERANCE,
    Book,
    Come,
    Near,
    decide_turn,
    held,
    is_in_time,
    lead_of,
    line_of,
    seconds_before,
)
from delayer.flow.words import limited
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.messages import Slot
from tests.samples import NOW, OWNER

SLOW = limited(Party(owner=OWNER, target="http-request target"), NOW, 1_000_000, "")
FAST = limited(Party(owner=EVERY, target="http-request target"), NOW, 100_000, "")
BOTH = (SLOW, FAST)


def slot(limit: Block, at: Millis) -> Slot:
    return Slot(line=line_of(limit), at=NOW + at)


def test_the_slowest_is_booked_first_unless_another_line_is_known_to_be_longer() -> None:
    assert decide_turn((), BOTH, {}, NOW, NOW) == Book(limits=(SLOW,), earliest=NOW)
    ends = {line_of(FAST): (NOW + SECOND) * 1_000, line_of(SLOW): NOW * 1_000}
    assert decide_turn((), BOTH, ends, NOW, NOW) == Book(limits=(FAST,), earliest=NOW)
    assert lead_of(BOTH, {}) == SLOW


def test_no_turn_is_booked_before_it_is_due() -> None:
    assert decide_turn((), (SLOW,), {}, NOW + 700, NOW) == Book(limits=(SLOW,), earliest=NOW + 700)


def test_its_turn_is_waited_for_and_the_others_are_booked_when_it_has_come() -> None:
    """Booked now, it would be wasted, or keep all others from their line until then."""
    mine = (slot(SLOW, 5_000),)
    assert decide_turn(mine, BOTH, {}, NOW, NOW) == Come(at=NOW + 5_000, limit=SLOW, has_turn=True)
    near = NOW + 5_000 - PREPARE
    assert decide_turn(mine, BOTH, {}, NOW, near) == Book(limits=(FAST,), earliest=NOW + 5_000)
    assert decide_turn(mine, (SLOW,), {}, NOW, near) == Near()


def test_turns_that_are_not_at_the_same_time_are_booked_anew_at_the_later_one() -> None:
    apart = (slot(SLOW, 0), slot(FAST, TOLERANCE + 1))
    assert decide_turn(apart, BOTH, {}, NOW, NOW + 50) == Book(limits=(SLOW,), earliest=NOW + TOLERANCE + 1)
    together = (slot(SLOW, 0), slot(FAST, TOLERANCE))
    assert decide_turn(together, BOTH, {}, NOW, NOW + 50) == Near()


def test_a_turn_of_another_limit_and_a_missed_one_are_void() -> None:
    changed = evolve(SLOW, revision=2)
    assert held((slot(SLOW, 0),), (SLOW,), NOW + TOLERANCE) == (slot(SLOW, 0),)
    assert held((slot(SLOW, 0),), (SLOW,), NOW + TOLERANCE + 1) == ()
    assert held((slot(SLOW, 0),), (changed,), NOW) == ()
    assert held((slot(SLOW, 0),), (), NOW) == ()


@pytest.mark.parametrize(("at", "in_time"), [(-1, False), (0, True), (TOLERANCE, True), (TOLERANCE + 1, False)])
def test_an_attempt_is_made_in_its_turn_alone(at: Millis, *, in_time: bool) -> None:
    assert is_in_time((slot(SLOW, 0),), (SLOW,), NOW + at) is in_time
    assert is_in_time((slot(SLOW, 0),), BOTH, NOW + at) is False
    assert is_in_time((), (), NOW + at)


@pytest.mark.parametrize(("ahead", "seconds"), [(0, 0), (1_999, 0), (3_001, 2), (3_600_000, 900)])
def test_a_message_comes_before_its_turn(ahead: Millis, seconds: int) -> None:
    assert seconds_before(NOW + ahead, NOW) == seconds
