"""What an owner is told about what waits."""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.flow.rules.block import (
    ASKED_SOON,
    CROWDED,
    CROWDED_FOR,
    EVERY,
    Block,
    BlockKind,
    Party,
    aging_from,
    crowded,
    opened,
    probing,
    waiting_for,
)
from delayer.flow.rules.gate import Wait, decide_gate
from delayer.flow.words import limited, suspended
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis
from tests.samples import NOW, OWNER, a_delayer_message

PARTY = Party(owner=OWNER, target="http-request target")
OPEN = opened(PARTY, NOW, "HTTP 503")
OF_OWNER = suspended(Party(owner=OWNER, target=EVERY), NOW - MINUTE, "it floods", "ann")


def said(
    *blocks: Block, next_attempt_at: Millis = 0, now: Millis = NOW
) -> tuple[BlockKind, str, Millis, Millis] | None:
    found = waiting_for(blocks, PARTY, next_attempt_at, now)
    return (found.kind, found.reason, found.since, found.until) if found else None


def test_nothing_is_said_without_a_block() -> None:
    assert said() is None
    assert said(suspended(Party(owner="another", target=EVERY), NOW, "", "")) is None


def test_a_suspension_has_no_end() -> None:
    assert said(OF_OWNER) == (BlockKind.SUSPENSION, "it floods", NOW - MINUTE, 0)


def test_a_circuit_says_until_when_and_then_nothing_of_it() -> None:
    assert said(OPEN) == (BlockKind.CIRCUIT, "HTTP 503", NOW, NOW + 10 * SECOND)
    assert said(OPEN, now=NOW + 10 * SECOND) == (BlockKind.CIRCUIT, "HTTP 503", NOW, 0)
    assert said(probing(OPEN, "n1", NOW + 10 * SECOND), now=NOW + 11 * SECOND) == (
        BlockKind.CIRCUIT,
        "HTTP 503",
        NOW,
        0,
    )


@pytest.mark.parametrize("blocks", [(OPEN, OF_OWNER), (OF_OWNER, OPEN)], ids=["first", "second"])
def test_a_suspension_is_said_before_a_circuit(blocks: tuple[Block, ...]) -> None:
    """It is what lasts longer."""
    found = said(*blocks)
    assert found
    assert found[0] is BlockKind.SUSPENSION


def test_an_attempt_that_is_planned_for_later_does_not_wait_for_a_circuit() -> None:
    """But it does for a suspension, which lasts until somebody ends it."""
    assert said(OPEN, next_attempt_at=NOW + HOUR) is None
    assert said(OPEN, next_attempt_at=NOW + 10 * SECOND + ASKED_SOON)
    assert said(OPEN, OF_OWNER, next_attempt_at=NOW + HOUR)


def test_a_crowd_is_said_until_it_is_over() -> None:
    """Its row stays for a day, and nobody waits for it."""
    block = crowded(PARTY, NOW, None)
    assert block
    assert said(block, now=NOW + CROWDED_FOR - 1) == (BlockKind.CROWD, CROWDED, NOW, NOW + CROWDED_FOR)
    assert said(block, now=NOW + CROWDED_FOR) is None
    assert said(block, next_attempt_at=NOW + HOUR) is None, "it waits for its own time"


def test_a_crowd_that_is_over_hides_no_circuit() -> None:
    block = crowded(PARTY, NOW - HOUR, None)
    assert block
    found = said(block, OPEN)
    assert found
    assert found[0] is BlockKind.CIRCUIT


@given(st.integers(0, DAY), st.integers(0, 10), st.booleans())
def test_what_waits_at_the_gate_is_said(after: Millis, pauses: int, is_probed: bool) -> None:
    """With the next attempt as the gate has put it off."""
    block = OPEN if not is_probed else probing(OPEN, "another", OPEN.until)
    decision = decide_gate([block], PARTY, "mine", NOW, NOW + after)
    if isinstance(decision, Wait):
        assert said(block, next_attempt_at=NOW + after + decision.seconds * SECOND, now=NOW + after)


def test_a_limit_is_said_last_and_has_no_end() -> None:
    """Only what comes too fast waits for it; all else for which it waits lasts longer."""
    limit = limited(PARTY, NOW - DAY, 100_000, "")
    assert said(limit) == (BlockKind.LIMIT, "at most 10 a second reach target", NOW - DAY, 0)
    found = said(limit, OPEN)
    assert found
    assert found[0] is BlockKind.CIRCUIT
    assert said(limit, next_attempt_at=NOW + HOUR) is None, "it waits for its own time"


@pytest.mark.parametrize(("looked_at", "since"), [(NOW - 900, NOW), (NOW, NOW), (NOW + 900, NOW + 900)])
def test_nothing_gets_older_before_it_is_due(looked_at: Millis, since: Millis) -> None:
    """The relay looks at a limit a little earlier: with `maxAgeSeconds` of a minute, that would be a second too few."""
    assert aging_from(a_delayer_message(NOW), looked_at) == since
    assert aging_from(evolve(a_delayer_message(NOW), age_from=NOW - MINUTE), looked_at) == NOW - MINUTE
