"""What has waited for a target comes back oldest first, at a pace that grows, and falls when the target fails."""

import random

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.flow.rules.block import (
    COMEBACK_FORGOTTEN_AFTER,
    LONGEST_SPREAD,
    Block,
    Party,
    opened,
    opened_again,
    probing,
)
from delayer.flow.rules.comeback import (
    IN_A_ROW,
    LOOK_AHEAD,
    SECOND_LOOK,
    STEP,
    Seen,
    after_attempt,
    asks_from,
    coming_back,
    faster,
    patience,
    second_look,
    slower,
)
from delayer.flow.rules.gate import SHORTEST_WAIT, Probe, Wait, decide_gate
from delayer.schedule.instants import HOUR, MINUTE, SECOND, Millis
from tests.samples import NOW

PARTY = Party(owner="o", target="http-request t.example")
PAUSED = evolve(opened(PARTY, NOW, "HTTP 503"), until=NOW + 3 * HOUR, pauses=38)
ANSWERED_AT = PAUSED.until + SECOND
BACK = coming_back(probing(PAUSED, "n0", PAUSED.until), ANSWERED_AT)


def per_second(block: Block) -> float:
    return 1_000_000 / block.every


def test_it_begins_with_one_a_second() -> None:
    assert (BACK.is_comeback, per_second(BACK), BACK.until) == (True, 1, ANSWERED_AT + STEP)
    assert (BACK.probe, BACK.probe_until, BACK.pauses, BACK.since) == ("", 0, 38, NOW)
    assert not PAUSED.is_comeback


def test_an_answer_doubles_the_pace_every_ten_seconds_until_none_is_needed() -> None:
    """1, 2, 4 and so on up to 512 a second: by then, after 100 seconds, 10,230 may have come back."""
    block, paces, now = BACK, [], ANSWERED_AT
    while True:
        assert faster(block, now + STEP - 1) == block, "one step is not over"
        paces.append(per_second(block))
        now += STEP
        if (following := faster(block, now)) is None:
            break
        block = following
    assert paces == pytest.approx([2**number for number in range(10)], rel=0.002)
    assert now - ANSWERED_AT == 100 * SECOND


def test_what_comes_rarely_has_shown_after_a_minute_what_many_have_shown_step_by_step() -> None:
    later = faster(BACK, ANSWERED_AT + 60 * SECOND)
    assert later
    assert per_second(later) == 64
    assert faster(BACK, ANSWERED_AT + 100 * SECOND) is None


def test_each_failure_halves_it_and_below_one_in_four_seconds_the_circuit_opens_again() -> None:
    once = slower(BACK, NOW, "HTTP 500")
    twice = slower(once, NOW, "HTTP 500")
    assert [per_second(block) for block in (once, twice)] == [0.5, 0.25]
    again = slower(twice, NOW, "HTTP 500")
    assert (again.is_comeback, again.until, again.pauses, again.since) == (False, NOW + 5 * MINUTE, 39, BACK.since)
    assert again == evolve(opened_again(twice, NOW, "HTTP 500"), paused_until=0)


def test_some_failures_among_many_answers_change_nothing() -> None:
    """Seen from the last change of the row on, and once in a step."""
    seen = Seen()
    for is_outage, changes in ((False, False), (True, False), (True, True)):
        seen = seen.after(BACK, is_outage=is_outage)
        assert after_attempt(BACK, seen, BACK.until - 1, "", is_outage=is_outage) == BACK, "the step is not over"
        assert (after_attempt(BACK, seen, BACK.until, "", is_outage=is_outage) != BACK) is (changes or not is_outage)
    assert after_attempt(BACK, seen, BACK.until, "", is_outage=False) == BACK, "most have failed"
    other = evolve(BACK, revision=BACK.revision + 1)
    after = seen.after(other, is_outage=True)
    assert after == Seen(revision=other.revision, since=other.since, outages=1, in_a_row=1)


def test_what_is_dead_opens_the_circuit_at_once() -> None:
    seen = Seen()
    for _ in range(IN_A_ROW - 1):
        seen = seen.after(BACK, is_outage=True)
        assert after_attempt(BACK, seen, ANSWERED_AT, "", is_outage=True) == BACK
    opened = after_attempt(BACK, seen.after(BACK, is_outage=True), ANSWERED_AT, "HTTP 503", is_outage=True)
    assert opened
    assert not opened.is_comeback


def played(share: float, environments: int, seed: int) -> tuple[str, Millis]:
    """What becomes of a comeback whose attempts fail independently of each other, and after how long."""
    draws, now, block = random.Random(seed), ANSWERED_AT, BACK
    seen = [Seen()] * environments
    for _ in range(20_000):
        now += max(block.every // 1000, 1)
        one, is_outage = draws.randrange(environments), draws.random() < share
        seen[one] = seen[one].after(block, is_outage=is_outage)
        after = after_attempt(block, seen[one], now, "HTTP 503", is_outage=is_outage)
        if after is None:
            return "closed", now - ANSWERED_AT
        if not after.is_comeback:
            return "open", now - ANSWERED_AT
        block = after
    return "neither", now - ANSWERED_AT


@pytest.mark.parametrize("environments", [1, 5, 20])
def test_a_target_that_fails_now_and_then_ends_its_comeback(environments: int) -> None:
    """With one failure in five it is back in minutes in at least 18 of 20 comebacks; one that is dead in none."""
    found = [played(0.2, environments, seed) for seed in range(20)]
    assert [end for end, _ in found].count("closed") >= 18
    assert max(took for end, took in found if end == "closed") <= 10 * MINUTE
    assert {played(1.0, environments, seed)[0] for seed in range(5)} == {"open"}


def test_a_comeback_of_which_nothing_is_heard_any_more_is_over() -> None:
    """Its last attempts may have been cancelled. What is due hours later is not slowed down."""
    assert not BACK.is_over(BACK.until + COMEBACK_FORGOTTEN_AFTER - 1)
    assert BACK.is_over(BACK.until + COMEBACK_FORGOTTEN_AFTER)
    assert not PAUSED.is_over(PAUSED.until + HOUR)


@given(st.integers(-HOUR, 4 * HOUR), st.integers(0, HOUR))
def test_what_fell_due_first_asks_first(due: Millis, later: Millis) -> None:
    """Within two minutes after the first quarter of them, in which those ask that are to probe."""
    first, second = asks_from(PAUSED, NOW + due), asks_from(PAUSED, NOW + due + later)
    assert PAUSED.until + LONGEST_SPREAD // 4 <= first <= second <= PAUSED.until + LONGEST_SPREAD
    assert asks_from(BACK, NOW + due) == first, "also when its target answers by then"


def test_ever_more_ask_at_a_time_as_the_pace_grows() -> None:
    """Of 300 that fell due evenly, no more ask in any ten seconds than may go on in these."""
    dues = [NOW + number * 36 * SECOND for number in range(300)]
    asks = [(asks_from(PAUSED, due) - PAUSED.until - 30 * SECOND) // SECOND for due in dues]
    assert asks == sorted(asks)
    for step in range(9):
        assert sum(step * 10 <= one < step * 10 + 10 for one in asks) <= 10 * 2**step


def test_the_older_the_longer_the_line_that_it_puts_up_with_and_the_sooner_it_asks_again() -> None:
    middle = NOW + (ANSWERED_AT - NOW) // 2
    dues = (NOW - HOUR, NOW, middle, ANSWERED_AT)
    assert [patience(BACK, due, ANSWERED_AT) for due in dues] == [LOOK_AHEAD, LOOK_AHEAD, LOOK_AHEAD // 2, SECOND]
    assert [second_look(BACK, due, ANSWERED_AT) for due in dues] == [0, 0, SECOND_LOOK // 2, SECOND_LOOK]


def test_in_a_comeback_whoever_asks_too_early_waits_for_its_place() -> None:
    """A few have asked first, by chance, and are not to come before those that are older."""
    place = asks_from(BACK, NOW + HOUR)
    decision = decide_gate([BACK], PARTY, "n", NOW + HOUR, place - 20 * SECOND)
    assert isinstance(decision, Wait)
    assert decision.seconds == 20
    assert decide_gate([BACK], PARTY, "n", NOW + HOUR, place - SHORTEST_WAIT * SECOND) is None


def test_some_ask_first_by_chance_and_others_each_time() -> None:
    """Else a schedule that always fails would probe each time, and the circuit of all others would stay open."""
    firsts = [first_of(evolve(PAUSED, revision=revision)) for revision in range(1, 21)]
    assert len(set(firsts)) > 4


def first_of(block: Block) -> int:
    waits = {}
    for number in range(40):
        decision = decide_gate([block], PARTY, f"n{number}", NOW + number * MINUTE, block.until - MINUTE)
        assert isinstance(decision, Wait)
        waits[number] = decision.seconds
    assert isinstance(decide_gate([block], PARTY, "n0", NOW, block.until), Probe)
    return min(waits, key=lambda number: waits[number])
