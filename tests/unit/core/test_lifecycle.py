"""The table of states."""

from itertools import pairwise
from pathlib import Path

import pytest

from delayer.core.lifecycle import ENDS, TRANSITIONS, State, Transition, may_follow

ROOT = Path(__file__).parents[3]
IN_LEDGER = set(State) - {State.SCHEDULED, State.ENQUEUED}
BODY_KEPT = {State.FAILED, State.SET_ASIDE}
CLIENT = {State.CANCELLED: "cancel", State.REPLACED: "replace", State.CLAIMED: "stop"}  # the use case behind it


@pytest.mark.parametrize("transition", TRANSITIONS, ids=str)
def test_each_transition_names_a_decision_and_who_makes_it(transition: Transition) -> None:
    """A function, or the use case behind a call of the client."""
    assert list(ROOT.glob(f"adr/{transition.adr:04}-*.md")), f"there is no ADR {transition.adr}"
    if transition.by == "client":
        assert (ROOT / f"shared/delayer/use_cases/{CLIENT[transition.target]}.py").is_file()
        return
    assert list(ROOT.glob(f"functions/{transition.by}*/app.py")), f"there is no function {transition.by}"


def test_every_state_is_reached() -> None:
    reached = {State.SCHEDULED}
    while following := {t.target for t in TRANSITIONS if t.source in reached} - reached:
        reached |= following
    assert reached == set(State)


def test_no_transition_stands_twice() -> None:
    assert len({(t.source, t.target, t.by) for t in TRANSITIONS}) == len(TRANSITIONS)


def test_nothing_leaves_an_end_but_what_could_be_put_back() -> None:
    """By an operator or its owner. But that the target took it is truer than what was written meanwhile."""
    assert {t.source for t in TRANSITIONS if t.source in ENDS} == BODY_KEPT | {State.DROPPED}
    others = [t for t in TRANSITIONS if t.source in ENDS and t.by not in ("operator-set-aside", "client")]
    assert {(t.target, t.by) for t in others} == {(State.EXECUTED, "executor")}


def test_what_a_client_takes_back_is_over() -> None:
    """Never a claim, which it can only stop; and it goes nowhere from there."""
    asked = [t for t in TRANSITIONS if t.by == "client"]
    assert [t.target for t in asked if t.source is State.CLAIMED] == [State.CLAIMED]
    taken = {t.target for t in asked if t.source is not State.CLAIMED}
    assert taken == {State.CANCELLED, State.REPLACED}
    assert not {t.source for t in TRANSITIONS} & taken


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
