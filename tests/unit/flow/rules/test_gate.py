"""Whether a schedule that is due may reach its target now."""

from collections import Counter

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.flow.rules.block import (
    EVERY,
    FIRST_PAUSE,
    FORGOTTEN,
    LONGEST_PAUSE,
    PROBE_OVER,
    Block,
    Party,
    crowded,
    opened,
    opened_again,
    pause_after,
    probing,
)
from delayer.flow.rules.comeback import IN_A_ROW, Health
from delayer.flow.rules.gate import SHORTEST_WAIT, Probe, Wait, crowd_wait, decide_gate
from delayer.flow.words import suspended
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis
from tests.samples import NOW

PARTY = Party(owner="o", target="http-request t.example")
OPEN = opened(PARTY, NOW, "HTTP 503")
OF_OWNER = suspended(Party(owner="o", target=EVERY), NOW, "it floods", "")


def test_nothing_is_in_the_way_of_another() -> None:
    other = Party(owner="o", target="http-request u.example")
    assert decide_gate([OPEN], other, "n", NOW, NOW) is None
    assert decide_gate([OF_OWNER], Party(owner="p", target=PARTY.target), "n", NOW, NOW) is None
    assert decide_gate([], PARTY, "n", NOW, NOW) is None


def test_an_open_circuit_is_waited_for() -> None:
    """One in eight asks in the first quarter of the time of their spread, here of ten seconds; the others after it."""
    waits = Counter(spread([OPEN], NOW, at=NOW))
    assert set(waits) == {11, 12, 13}
    assert waits[11] + waits[12] == pytest.approx(125 * 4 / 5, abs=30)
    last = spread([OPEN], OPEN.until, at=NOW)
    assert max(last) == 21
    assert Counter(last)[21] == pytest.approx(875, abs=35)


def test_what_waits_for_a_circuit_for_long_is_spread_over_two_minutes_by_when_it_fell_due() -> None:
    """The first quarter is for those that are to probe. Then the place goes by the root of the share of the hour."""
    block = evolve(OPEN, until=NOW + HOUR)
    for minutes, place in ((0, 30), (15, 75), (60, 120)):
        waits = Counter(spread([block], NOW + minutes * MINUTE, at=NOW + HOUR))
        assert waits == {}, "whoever comes when the pause is over may probe"
        waits = Counter(spread([block], NOW + minutes * MINUTE, at=NOW + HOUR - MINUTE))
        assert sum(waits[second] for second in range(60 + place, 60 + place + 3)) == pytest.approx(875, abs=35)


def test_after_its_pause_one_probes_and_the_others_wait() -> None:
    assert decide_gate([OPEN], PARTY, "n1", NOW, OPEN.until) == Probe(OPEN)
    probed = probing(OPEN, "n1", OPEN.until)
    assert decide_gate([probed], PARTY, "n1", NOW, OPEN.until) is None
    assert set(spread([probed], NOW, at=OPEN.until)) == {10}


def test_a_probe_that_never_came_back_is_followed_by_another() -> None:
    probed = probing(OPEN, "n1", OPEN.until)
    assert isinstance(decide_gate([probed], PARTY, "n2", NOW, OPEN.until + PROBE_OVER - 1), Wait)
    assert decide_gate([probed], PARTY, "n2", NOW, OPEN.until + PROBE_OVER) == Probe(probed)


def test_a_suspension_counts_more_than_a_probe() -> None:
    probed = probing(OPEN, "n1", OPEN.until)
    decision = decide_gate([probed, OF_OWNER], PARTY, "n1", NOW, OPEN.until)
    assert isinstance(decision, Wait)
    assert decision.block == OF_OWNER


@pytest.mark.parametrize(("waited", "seconds"), [(0, 5), (MINUTE, 30), (10 * MINUTE, 300), (HOUR, 900), (DAY, 900)])
def test_what_is_suspended_asks_more_and_more_rarely(waited: int, seconds: int) -> None:
    """So it is on its way again after half as long as it has waited, 15 minutes at most, and not all at once."""
    waits = spread([OF_OWNER], NOW, at=NOW + waited)
    assert max(waits) == seconds
    assert min(waits) >= max(SHORTEST_WAIT, seconds * 3 // 4 - 1)


def test_a_crowd_is_spread_and_forgets_nobody() -> None:
    """What has waited for an hour asks at least once in a minute: else all that come later would be before it."""
    block = crowded(PARTY, NOW + HOUR, None)
    assert block
    waits = spread([block], NOW, at=NOW + HOUR)
    assert (min(waits), max(waits)) == (31, 60)
    assert spread([block], NOW, at=block.until) == []
    assert crowd_wait(PARTY, "n", NOW, NOW + 10 * SECOND).seconds == SHORTEST_WAIT
    assert 30 <= crowd_wait(PARTY, "n", NOW, NOW + HOUR).seconds <= 60


def spread(blocks: list[Block], due: Millis, at: Millis) -> list[int]:
    """The waits of a thousand that are due then, in seconds."""
    decisions = [decide_gate(blocks, PARTY, f"n{number}", due, at) for number in range(1_000)]
    return [decision.seconds for decision in decisions if isinstance(decision, Wait)]


def test_what_fell_due_during_a_suspension_counts_from_then() -> None:
    due = NOW + DAY
    assert decide_gate([OF_OWNER], PARTY, "n", due, due) == Wait(block=OF_OWNER, seconds=5)


def test_each_pause_is_twice_as_long_up_to_five_minutes() -> None:
    assert [pause_after(number) for number in range(7)] == [
        FIRST_PAUSE,
        20 * SECOND,
        40 * SECOND,
        80 * SECOND,
        160 * SECOND,
        LONGEST_PAUSE,
        LONGEST_PAUSE,
    ]
    again = opened_again(probing(OPEN, "n1", OPEN.until), OPEN.until, "HTTP 500")
    assert (again.until, again.pauses, again.probe) == (OPEN.until + 20 * SECOND, 2, "")
    assert (again.since, again.reason) == (NOW, "HTTP 500")


@given(st.integers(0, 2 * DAY), st.sampled_from([OPEN, probing(OPEN, "x", OPEN.until), OF_OWNER]))
def test_a_wait_is_what_sqs_can_delay(later: int, block: object) -> None:
    decision = decide_gate([block], PARTY, "n", NOW, NOW + later)  # type: ignore[list-item]
    if isinstance(decision, Wait):
        assert SHORTEST_WAIT <= decision.seconds <= 900


def test_five_failures_in_a_row_within_a_minute_of_each_other() -> None:
    health = Health()
    for at in range(IN_A_ROW):
        assert not health.is_dead
        health = health.failed(NOW + at * (FORGOTTEN - 1))
    assert health.is_dead


def test_what_failed_long_ago_counts_no_more() -> None:
    health = evolve(Health(), failures=IN_A_ROW - 1, last=NOW)
    assert not health.failed(NOW + FORGOTTEN).is_dead
    assert health.failed(NOW + FORGOTTEN - 1).is_dead
