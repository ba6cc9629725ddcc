"""The table of states, and that every ledger row is made through it."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.dead_letters.rules import redriven
from delayer.ledger import model as lifecycle
from delayer.ledger.model import (
    ENDS,
    TRANSITIONS,
    EventType,
    IllegalTransition,
    LedgerRow,
    State,
    Transition,
    amended,
    following,
    new_row,
)
from delayer.ledger.rules import Claim, decide_claim
from delayer.schedule.schedule_id import IdKind
from tests.samples import LEASE, NOW, OWNER, a_claim, a_delayer_message, an_id
from tests.transitions import is_allowed, may_follow, stands_for

ROOT = Path(__file__).parents[3]
IN_LEDGER = set(State) - {State.SCHEDULED, State.ENQUEUED, State.UNDECIDED}
BODY_STORED = {State.FAILED, State.DEAD_LETTERED}
CLIENT = {  # the file of the use case behind it
    State.SCHEDULED: "accept",
    State.UNDECIDED: "accept",
    State.CANCELLED: "cancel",
    State.REPLACED: "replace",
    State.CLAIMED: "cancel",
    State.DROPPED: "cancel",
}
FROM_NOTHING = {None, State.SCHEDULED, State.ENQUEUED}  # where a schedule may be that has no row


@pytest.mark.parametrize("transition", TRANSITIONS, ids=str)
def test_each_transition_names_a_decision_and_who_makes_it(transition: Transition) -> None:
    """A function, or the use case behind a call of the client."""
    assert list(ROOT.glob(f"adr/{transition.adr:04}-*.md")), f"there is no ADR {transition.adr}"
    if transition.by == "client":
        assert (ROOT / f"shared/delayer/accept/use_cases/{CLIENT[transition.target]}.py").is_file()
        return
    assert list(ROOT.glob(f"functions/{transition.by}*/app.py")), f"there is no function {transition.by}"


def test_every_state_is_reached() -> None:
    reached: set[State | None] = {None}
    while following := {t.target for t in TRANSITIONS if t.source in reached} - reached:
        reached |= following
    assert reached == {None, *State}


def test_no_transition_is_in_the_table_twice() -> None:
    assert len({(t.source, t.target, t.event, t.by) for t in TRANSITIONS}) == len(TRANSITIONS)


def test_nothing_leaves_an_end_but_what_could_be_redriven() -> None:
    """By an operator or its owner. But that the target took it is truer than what was written meanwhile."""
    assert {t.source for t in TRANSITIONS if t.source in ENDS} == BODY_STORED | {State.DROPPED}
    others = [t for t in TRANSITIONS if t.source in ENDS and t.by not in ("operator-dead-letters", "client")]
    assert {(t.target, t.by) for t in others} == {(State.EXECUTED, "executor")}


def test_what_a_client_takes_back_is_over() -> None:
    """Never a claim, which it can only stop; and it goes nowhere from there, unless an attempt was under way."""
    asked = [t for t in TRANSITIONS if t.by == "client" and t.source]
    assert [t.target for t in asked if t.source is State.CLAIMED] == [State.CLAIMED]
    taken = {t.target for t in asked if t.source is not State.CLAIMED}
    assert taken == {State.CANCELLED, State.REPLACED, State.DROPPED}
    assert {(t.source, t.target) for t in TRANSITIONS if t.source in taken} == {(State.DROPPED, State.EXECUTED)}


def test_a_schedule_begins_once() -> None:
    """It is its client's doing, and has a time, or waits for one."""
    assert [(t.target, t.event, t.by) for t in TRANSITIONS if t.source is None] == [
        (State.SCHEDULED, EventType.SCHEDULED, "client"),
        (State.UNDECIDED, EventType.SCHEDULED, "client"),
    ]


def test_nothing_goes_back_before_its_claim_but_by_an_operator() -> None:
    """What the ledger says never becomes untrue by itself."""
    back = {t.by for t in TRANSITIONS if t.source in IN_LEDGER and t.target not in IN_LEDGER}
    assert back == {"operator-dead-letters"}


def test_every_state_but_the_ends_leads_on() -> None:
    """Nothing stays: each way ends in an end."""
    sources = {t.source for t in TRANSITIONS}
    assert set(State) - ENDS <= sources


def test_the_way_of_a_firing_is_four_writes() -> None:
    """Put, delete, claim, outcome: one transition and one write each."""
    way = [None, State.SCHEDULED, State.ENQUEUED, State.CLAIMED, State.EXECUTED]
    assert all(target and may_follow(source, target) for source, target in pairwise(way))
    assert not may_follow(State.SCHEDULED, State.CLAIMED)
    assert not may_follow(State.ENQUEUED, State.EXECUTED)


def test_words() -> None:
    """The same words in the API, the ledger and the logs."""
    assert [str(state) for state in State] == [
        "undecided",
        "decided",
        "scheduled",
        "enqueued",
        "claimed",
        "executed",
        "failed",
        "cancelled",
        "replaced",
        "dropped",
        "dead-lettered",
    ]


# ------------------------------------------------------------ every row is made through it

states = st.sampled_from(State)
event_types = st.sampled_from(EventType)
NAMED_AFTER = {
    EventType(state): state for state in State if state is not State.UNDECIDED
}  # the state that an event leads to by its name
TO_A_CLAIM = (EventType.CLAIMED_AGAIN, EventType.ATTEMPT_FAILED, EventType.STOP_REQUESTED)


def target_by(event: EventType, to: State | None) -> State | None:
    """Where the event leads; None for `redriven`, which does not say by itself."""
    return to or NAMED_AFTER.get(event) or (State.CLAIMED if event in TO_A_CLAIM else None)


def check_made(row: LedgerRow, target: State) -> None:
    """It is in the state of the table; a row does not say whether a schedule has left its table."""
    assert row.state is (State.SCHEDULED if target is State.ENQUEUED else target)


@given(states, event_types)
def test_a_row_follows_another_only_by_the_table(state: State, event: EventType) -> None:
    """All states and events: `following` makes exactly the rows of which the table has the transition."""
    row, target = a_claim(state=state), target_by(event, None)
    if target and any(is_allowed(source, event, target) for source in stands_for(state)):
        made = following(row, event, NOW + 1)
        check_made(made, target)
        assert (made.revision, made.at) == (row.revision + 1, NOW + 1)
    else:
        with pytest.raises(IllegalTransition, match=f"no transition {event} leads from "):
            following(row, event, NOW + 1)


@given(st.none() | states, event_types, st.none() | states)
def test_a_row_begins_only_by_the_table(state: State | None, event: EventType, to: State | None) -> None:
    """All states, events and targets: `new_row` makes exactly the rows of which the table has the transition.

    Without a row the schedule is new, in its table, or enqueued.
    """
    over = a_claim(state=state, name="a name") if state else None
    target, sources = target_by(event, to), stands_for(state) if state else FROM_NOTHING
    if target and any(is_allowed(source, event, target) for source in sources):
        made = new_row(event, an_id(), OWNER, NOW + 1, over=over, to=to, name="a name")
        check_made(made, target)
        assert (made.revision, made.name) == (over.revision + 1 if over else 1, "a name")
    else:
        with pytest.raises(IllegalTransition):
            new_row(event, an_id(), OWNER, NOW + 1, over=over, to=to)


def test_each_transition_but_the_one_of_the_table_can_be_written() -> None:
    """So none of them is there in vain: each makes a row in its state."""
    for transition in TRANSITIONS:
        is_written = transition.source and transition.source is not State.ENQUEUED
        over = a_claim(state=transition.source) if is_written else None
        made = new_row(transition.event, an_id(), OWNER, NOW, over=over, to=transition.target)
        check_made(made, transition.target)


@given(states, st.integers(0, 9))
def test_a_note_is_no_transition(state: State, revision: int) -> None:
    """It is allowed in every state, and changes none."""
    row = amended(a_claim(state=state, revision=revision), detail="a note")
    assert (row.state, row.revision, row.detail) == (state, revision + 1, "a note")


@pytest.mark.parametrize("transition", [t for t in TRANSITIONS if t.event in NAMED_AFTER and t.source in IN_LEDGER])
def test_what_is_taken_out_of_the_table_is_refused(transition: Transition, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table works for a living: it is asked for every row, not only by tests."""
    assert transition.source
    row = a_claim(state=transition.source)
    check_made(following(row, transition.event, NOW), transition.target)
    left = {one for one in lifecycle.ALLOWED if one != (transition.source, transition.target, transition.event)}
    monkeypatch.setattr(lifecycle, "ALLOWED", frozenset(left))
    with pytest.raises(IllegalTransition, match=f"from {transition.source} to {transition.target}"):
        following(row, transition.event, NOW)


def test_only_what_waits_for_its_time_is_decided_or_begins_without_one() -> None:
    """The kind of the id says what a schedule without a row is (ADR 0095)."""
    undecided = an_id(kind=IdKind.UNDECIDED)
    made = new_row(EventType.DECIDED, undecided, OWNER, NOW, decided_as=an_id())
    assert (made.state, made.decided_as) == (State.DECIDED, an_id())
    with pytest.raises(IllegalTransition):
        new_row(EventType.DECIDED, an_id(), OWNER, NOW)
    with pytest.raises(IllegalTransition):
        new_row(EventType.CLAIMED, undecided, OWNER, NOW)


def test_claims_and_redrives_go_through_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who make rows by way of `new_row` are refused where they make them."""
    rows = (None, a_claim())
    dead_lettered = a_claim(state=State.DEAD_LETTERED)
    monkeypatch.setattr(lifecycle, "ALLOWED", frozenset[object]())
    claim = Claim(message=a_delayer_message(), fence="d1", now=NOW + LEASE, lease=LEASE)
    for current in rows:
        with pytest.raises(IllegalTransition):
            decide_claim(claim, current)
    for nonce in ("", "n5"):
        with pytest.raises(IllegalTransition):
            redriven(an_id(), OWNER, dead_lettered, nonce, NOW)
