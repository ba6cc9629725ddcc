"""The table of states."""

from itertools import pairwise
from pathlib import Path

import pytest

from delayer.core.lifecycle import ENDS, TRANSITIONS, State, Transition, may_follow

ROOT = Path(__file__).parents[3]
IN_LEDGER = set(State) - {State.SCHEDULED, State.ENQUEUED}
LATER = {State.CANCELLED, State.REPLACED}  # ends that the ledger knows and no function writes yet


@pytest.mark.parametrize("transition", TRANSITIONS, ids=str)
def test_each_transition_names_a_decision_and_a_function(transition: Transition) -> None:
    assert list(ROOT.glob(f"adr/{transition.adr:04}-*.md")), f"there is no ADR {transition.adr}"
    assert list(ROOT.glob(f"functions/{transition.by}*/app.py")), f"there is no function {transition.by}"


def test_every_state_is_reached() -> None:
    reached = {State.SCHEDULED}
    while following := {t.target for t in TRANSITIONS if t.source in reached} - reached:
        reached |= following
    assert reached == set(State) - LATER


def test_no_transition_stands_twice() -> None:
    assert len({(t.source, t.target, t.by) for t in TRANSITIONS}) == len(TRANSITIONS)


def test_nothing_leaves_an_end_but_by_an_operator() -> None:
    """But that the target took it is truer than that it was set aside meanwhile."""
    others = [(t.source, t.target, t.by) for t in TRANSITIONS if t.source in ENDS and t.by != "operator-set-aside"]
    assert others == [(State.SET_ASIDE, State.EXECUTED, "executor")]


def test_nothing_goes_back_before_its_claim_but_by_an_operator() -> None:
    """What the ledger says never becomes untrue by itself."""
    assert {t.by for t in TRANSITIONS if t.source in IN_LEDGER and t.target not in IN_LEDGER} == {"operator-set-aside"}


def test_every_state_but_the_ends_leads_on() -> None:
    """Nothing stays: each way ends in an end."""
    sources = {t.source for t in TRANSITIONS}
    assert set(State) - ENDS <= sources


def test_the_way_of_a_firing_is_four_writes() -> None:
    """Put, delete, claim, outcome: one transition and one write each."""
    way = [State.SCHEDULED, State.ENQUEUED, State.CLAIMED, State.EXECUTED]
    assert all(may_follow(source, target) for source, target in pairwise(way))
    assert not may_follow(State.SCHEDULED, State.CLAIMED)
    assert not may_follow(State.ENQUEUED, State.EXECUTED)


def test_words() -> None:
    """The same words in the API, the ledger and the logs."""
    assert [str(state) for state in State] == [
        "scheduled",
        "enqueued",
        "claimed",
        "executed",
        "failed",
        "cancelled",
        "replaced",
        "dropped",
        "set-aside",
    ]
