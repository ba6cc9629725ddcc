"""The ledger decides: one claim, one end, each change by compare-and-set."""

from collections.abc import Callable
from itertools import pairwise, product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from delayer.core.executing import Attempt, decide_attempt
from delayer.core.instants import DAY, SECOND, Millis
from delayer.core.ledger import (
    ROW_LIFETIME,
    STALE_AFTER,
    Claim,
    ComeBack,
    Keep,
    LedgerRow,
    Refuse,
    decide_claim,
    decide_set_aside,
    ended,
    first_claim,
    first_end,
    may_end,
    reopened,
    retried,
    settled,
)
from delayer.core.lifecycle import ENDS, State, may_follow
from tests.samples import LEASE, NOW, OWNER, a_claim, a_delayer_message, an_executor_message, an_id

times = st.integers(NOW - 60 * DAY, NOW + 60 * DAY)
states = st.sampled_from(sorted(ENDS | {State.CLAIMED}))


def a_wanted(nonce: str = "n1", now: Millis = NOW, delivery: str = "fresh") -> LedgerRow:
    return first_claim(a_delayer_message(nonce=nonce), delivery, now, LEASE)


def test_the_first_claims() -> None:
    wanted = a_wanted()
    assert decide_claim(wanted, None) == Claim(wanted)
    assert (wanted.state, wanted.revision, wanted.attempt) == (State.CLAIMED, 1, 1)
    assert wanted.lease_until == NOW + LEASE


@given(states, st.sampled_from(["n1", "n2", ""]), st.sampled_from(["", "d0"]), st.integers(-DAY, DAY))
@example(State.CLAIMED, "n1", "", LEASE)
@example(State.CLAIMED, "n1", "", LEASE - 1)
@example(State.CLAIMED, "n1", "d0", LEASE)
@example(State.CLAIMED, "n2", "", LEASE)
@example(State.EXECUTED, "n1", "", LEASE)
def test_against_any_standing_row(state: State, nonce: str, retry_of: str, later: Millis) -> None:
    """All combinations: a claim is written over a row only if it is the same message's own, its lease has lapsed,
    nothing was attempted and nothing has ended."""
    standing = a_claim(nonce=nonce, state=state, retry_of=retry_of, revision=4)
    wanted = a_wanted(now=NOW + later)
    verdict = decide_claim(wanted, standing)
    mine = state is State.CLAIMED and nonce == "n1" and not retry_of
    match verdict:
        case Claim(row, over):
            assert mine
            assert later >= LEASE
            assert over == standing
            assert (row.revision, row.claimed_at, row.delivery) == (5, standing.claimed_at, "fresh")
        case ComeBack():
            assert mine
            assert later < LEASE
        case Refuse(reason):
            assert not mine
            assert reason


def test_a_second_copy_is_not_fired_however_long_the_lease_has_lapsed() -> None:
    assert isinstance(decide_claim(a_wanted("n2", NOW + 20 * DAY), a_claim(nonce="n1")), Refuse)


@given(times, times)
def test_rows_outlive_every_copy_that_may_still_fire(due: Millis, now: Millis) -> None:
    """A copy fires until 29 days after due; the row stands for 30 days after the later of due and the write."""
    claim = first_claim(a_delayer_message(due), "d", now, LEASE)
    rows = [claim, ended(claim, State.EXECUTED, now), retried(claim, "d2", now)]
    rows += [first_end(an_id(due), OWNER, State.SET_ASIDE, now, "why"), reopened(claim, "n2", now)]
    for row in rows:
        assert row.expires_at >= max(due, now) + ROW_LIFETIME
        assert row.expires_at - (due + STALE_AFTER) >= DAY
    later = ended(claim, State.FAILED, now + 40 * DAY)
    assert later.expires_at >= now + 40 * DAY + ROW_LIFETIME


@given(st.sampled_from(sorted(ENDS)), st.text(max_size=20))
def test_an_end_keeps_what_was_known(state: State, detail: str) -> None:
    claim = a_claim()
    row = ended(claim, state, NOW + 1, detail)
    assert row.ended
    assert (row.state, row.revision, row.at, row.detail) == (state, 2, NOW + 1, detail)
    assert (row.nonce, row.attempt, row.claimed_at) == (claim.nonce, claim.attempt, claim.claimed_at)


def test_a_claim_is_no_end() -> None:
    assert not a_claim().ended


def test_a_retry_passes_the_attempt_on() -> None:
    row = retried(a_claim(), "d2", NOW + 1)
    assert (row.attempt, row.delivery, row.retry_of, row.revision) == (2, "d2", "d1", 2)
    assert row.state is State.CLAIMED


RETRIED = a_claim(nonce="n1", attempt=3, delivery="d3", retry_of="d2")
PUT_BACK = reopened(a_claim(state=State.SET_ASIDE), "n5", NOW)


@pytest.mark.parametrize(
    ("standing", "nonce", "delivery", "verdict"),
    [
        (None, "", "", Keep.MARK),
        (None, "n1", "", Keep.MARK),
        (None, "n1", "d1", Keep.MARK),
        (a_claim(nonce="n1"), "n1", "", Keep.MARK),
        (a_claim(nonce="n1"), "n1", "d1", Keep.MARK),
        (a_claim(nonce="n1"), "n1", "d0", Keep.MARK),
        (a_claim(nonce="n1"), "n2", "", Keep.NEEDLESS),
        (a_claim(nonce="n1"), "", "", Keep.NEEDLESS),
        (RETRIED, "n1", "d3", Keep.MARK),
        (RETRIED, "n1", "d2", Keep.MARK),
        (RETRIED, "n1", "d1", Keep.NEEDLESS),
        (RETRIED, "n1", "", Keep.NEEDLESS),
        (PUT_BACK, "n5", "", Keep.MARK),
        (PUT_BACK, "n1", "", Keep.ALREADY),
        (settled(reopened(a_claim(), "", NOW)), "n1", "", Keep.MARK),
        (a_claim(state=State.SET_ASIDE), "n1", "", Keep.ALREADY),
        (a_claim(state=State.SET_ASIDE), "n2", "d7", Keep.ALREADY),
        *[(a_claim(state=state), "n1", "", Keep.NEEDLESS) for state in sorted(ENDS - {State.SET_ASIDE})],
    ],
)
def test_setting_aside(standing: LedgerRow | None, nonce: str, delivery: str, verdict: Keep) -> None:
    """What may be the last copy is marked; one that another has overtaken is thrown away; an end stays an end."""
    assert decide_set_aside(standing, nonce, delivery) is verdict


def test_an_end_without_a_claim() -> None:
    row = first_end(an_id(), OWNER, State.SET_ASIDE, NOW + 1, "why")
    assert (row.state, row.revision, row.detail, row.nonce) == (State.SET_ASIDE, 1, "why", "")
    assert row.ended


def test_what_is_put_back_into_the_queue_is_claimed_by_its_own_copy_only() -> None:
    """An older copy may have lost its message meanwhile: if its relay died after the claim, nothing would be left."""
    standing = a_claim(state=State.SET_ASIDE, revision=7, attempt=3, retry_of="d2")
    row = reopened(standing, "n5", NOW + 1)
    assert (row.state, row.revision, row.attempt, row.retry_of) == (State.SCHEDULED, 8, 0, "")
    assert not row.ended
    assert isinstance(decide_claim(a_wanted("n1", NOW + 2), row), Refuse)
    verdict = decide_claim(a_wanted("n5", NOW + 2), row)
    assert isinstance(verdict, Claim)
    assert (verdict.over, verdict.row.revision, verdict.row.nonce) == (row, 9, "n5")
    assert isinstance(decide_claim(a_wanted("n6", NOW + 20 * DAY), verdict.row), Refuse)


def test_what_is_put_back_into_the_table_is_claimed_by_any_copy() -> None:
    """The sweep gives it its nonce. Until its body is deleted it is not set aside again."""
    row = reopened(a_claim(state=State.SET_ASIDE), "", NOW)
    assert isinstance(decide_claim(a_wanted("n6", NOW + 2), row), Claim)
    assert decide_set_aside(row, "") is Keep.ALREADY
    assert decide_set_aside(settled(row), "") is Keep.MARK


@pytest.mark.parametrize("state", [State.EXECUTED, State.FAILED])
@pytest.mark.parametrize("standing", sorted(ENDS | {State.CLAIMED, State.SCHEDULED}))
@pytest.mark.parametrize("nonce", ["n1", "n2"])
@pytest.mark.parametrize("delivery", ["d1", "d2"])
def test_an_outcome_over_a_row_that_has_changed(state: State, standing: State, nonce: str, delivery: str) -> None:
    """That the target took it is true whoever holds the claim now; that it failed is this delivery's own word."""
    allowed = may_end(a_claim(nonce=nonce, delivery=delivery, state=standing), an_executor_message(), state)
    if nonce != "n1" or standing in (State.EXECUTED, State.CANCELLED, State.REPLACED):
        assert not allowed
    elif state is State.EXECUTED:
        assert allowed
    else:
        assert allowed == (delivery == "d1" and standing not in ENDS)


Write = Callable[[LedgerRow | None], LedgerRow | None]  # the row to write over the one that stands, None: give up


def stands_for(state: State) -> set[State]:
    return {State.SCHEDULED, State.ENQUEUED} if state is State.SCHEDULED else {state}


class OneSchedule(RuleBasedStateMachine):
    """Relays, executors, set-asides and an operator of one schedule: each reads, decides, and writes some time later,
    by compare-and-set on the revision it read."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.row: LedgerRow | None = None
        self.history: list[LedgerRow] = []
        self.pending: list[tuple[LedgerRow | None, Write]] = []
        self.fresh = 0

    def token(self, prefix: str = "d") -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def later(self, write: Write) -> None:
        self.pending.append((self.row, write))

    @initialize(nonce=st.sampled_from(["n1", "n2"]))
    def first_message(self, nonce: str) -> None:
        self.relay(nonce)

    @rule(by=st.integers(0, 15 * SECOND))
    def time_passes(self, by: Millis) -> None:
        self.now += by

    @rule(nonce=st.sampled_from(["n1", "n2"]))
    def relay(self, nonce: str) -> None:
        wanted = a_wanted(nonce, self.now, self.token())

        def claim(standing: LedgerRow | None) -> LedgerRow | None:
            verdict = decide_claim(wanted, standing)
            return verdict.row if isinstance(verdict, Claim) else None

        self.later(claim)

    @precondition(lambda self: self.history)
    @rule(pick=st.integers(0, 30), outcome=st.sampled_from([State.EXECUTED, State.FAILED, State.CLAIMED]))
    def execute(self, pick: int, outcome: State) -> None:
        """Any delivery that ever was comes again."""
        seen = self.history[pick % len(self.history)]
        message = an_executor_message(nonce=seen.nonce, delivery=seen.delivery or "d?", attempt=seen.attempt)
        read = self.row
        if read is None or decide_attempt(message, read) != Attempt():
            return

        def end(standing: LedgerRow | None) -> LedgerRow | None:
            if standing is None or (standing != read and not may_end(standing, message, outcome)):
                return None
            return ended(standing, outcome, self.now)

        def retry(standing: LedgerRow | None) -> LedgerRow | None:
            return retried(read, self.token(), self.now) if standing == read else None

        self.later(retry if outcome is State.CLAIMED else end)

    @rule(nonce=st.sampled_from(["", "n1", "n2"]), pick=st.integers(0, 30))
    def set_aside(self, nonce: str, pick: int) -> None:
        delivery = self.history[pick % len(self.history)].delivery if self.history and nonce else ""

        def mark(standing: LedgerRow | None) -> LedgerRow | None:
            if decide_set_aside(standing, nonce, delivery) is not Keep.MARK:
                return None
            if standing:
                return ended(standing, State.SET_ASIDE, self.now, "why")
            return first_end(an_id(), OWNER, State.SET_ASIDE, self.now, "why")

        self.later(mark)

    @precondition(lambda self: self.row and self.row.state in (State.SET_ASIDE, State.FAILED))
    @rule()
    def put_back(self) -> None:
        read = self.row
        self.later(lambda standing: reopened(read, "n3", self.now) if read and standing == read else None)

    @precondition(lambda self: self.pending)
    @rule(pick=st.integers(0, 30))
    def write(self, pick: int) -> None:
        """In any order. If another was faster, the decision is made anew on what stands, as the use cases do."""
        read, decide = self.pending.pop(pick % len(self.pending))
        if read != self.row:
            read = self.row
        row = decide(read)
        if row is not None:
            assert row.revision == (self.row.revision if self.row else 0) + 1
            self.row = row
            self.history.append(row)

    def eras(self) -> list[list[LedgerRow]]:
        """The history, cut where an operator put the schedule back."""
        eras: list[list[LedgerRow]] = [[]]
        for row in self.history:
            if row.state is State.SCHEDULED:
                eras.append([])
            eras[-1].append(row)
        return eras

    @invariant()
    def each_write_is_one_revision(self) -> None:
        assert [row.revision for row in self.history] == list(range(1, len(self.history) + 1))

    @invariant()
    def each_change_is_in_the_table_of_states(self) -> None:
        """A row that was put back stands for scheduled and for enqueued."""
        for one, other in pairwise(self.history):
            ways = product(stands_for(one.state), stands_for(other.state))
            assert any(may_follow(source, target) for source, target in ways), f"{one.state} -> {other.state}"

    @invariant()
    def one_nonce_holds_the_claim(self) -> None:
        for era in self.eras():
            assert len({row.nonce for row in era if row.state is State.CLAIMED}) <= 1

    @invariant()
    def what_was_executed_stays_executed(self) -> None:
        assert not any(row.state is State.EXECUTED for row in self.history[:-1])

    @invariant()
    def attempts_only_grow(self) -> None:
        for era in self.eras():
            attempts = [row.attempt for row in era]
            assert attempts == sorted(attempts)

    @invariant()
    def a_delivery_belongs_to_one_attempt(self) -> None:
        pairs = {(row.delivery, row.attempt) for row in self.history if row.delivery}
        assert len({delivery for delivery, _ in pairs}) == len(pairs)


OneSchedule.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestOneSchedule = OneSchedule.TestCase
