"""The ledger decides: one claim, one end, each change by compare-and-set."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from delayer.core.executing import Attempt, decide_attempt
from delayer.core.instants import DAY, SECOND, Millis
from delayer.core.ledger import (
    ROW_LIFETIME,
    STALE_AFTER,
    Claim,
    ComeBack,
    Drop,
    Keep,
    LedgerRow,
    decide_claim,
    decide_set_aside,
    ended,
    first_claim,
    retried,
    set_aside_row,
)
from delayer.core.lifecycle import ENDS, State
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
        case Drop(reason):
            assert not mine
            assert reason


def test_a_second_copy_is_not_fired_however_long_the_lease_has_lapsed() -> None:
    assert isinstance(decide_claim(a_wanted("n2", NOW + 20 * DAY), a_claim(nonce="n1")), Drop)


@given(times, times)
def test_rows_outlive_every_copy_that_may_still_fire(due: Millis, now: Millis) -> None:
    """A copy fires until 29 days after due; the row stands for 30 days after the later of due and the write."""
    claim = first_claim(a_delayer_message(due), "d", now, LEASE)
    rows = [claim, ended(claim, State.EXECUTED, now), retried(claim, "d2", now)]
    rows.append(set_aside_row(an_id(due), OWNER, None, due, now, "why"))
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


@pytest.mark.parametrize(
    ("standing", "nonce", "verdict"),
    [
        (None, "", Keep.MARK),
        (None, "n1", Keep.MARK),
        (a_claim(nonce="n1"), "n1", Keep.MARK),
        (a_claim(nonce="n1"), "n2", Keep.NEEDLESS),
        (a_claim(nonce="n1"), "", Keep.NEEDLESS),
        (a_claim(state=State.SET_ASIDE), "n1", Keep.ALREADY),
        (a_claim(state=State.SET_ASIDE), "n2", Keep.ALREADY),
        *[(a_claim(state=state), "n1", Keep.NEEDLESS) for state in sorted(ENDS - {State.SET_ASIDE})],
    ],
)
def test_setting_aside(standing: LedgerRow | None, nonce: str, verdict: Keep) -> None:
    """The last copy is marked; one of several is thrown away; what ended otherwise stays ended."""
    assert decide_set_aside(standing, nonce) is verdict


def test_the_row_of_what_is_set_aside() -> None:
    fresh = set_aside_row(an_id(), OWNER, None, NOW, NOW + 1, "why")
    assert (fresh.state, fresh.revision, fresh.detail, fresh.nonce) == (State.SET_ASIDE, 1, "why", "")
    over = set_aside_row(an_id(), OWNER, a_claim(revision=3), NOW, NOW + 1, "why")
    assert (over.state, over.revision, over.nonce) == (State.SET_ASIDE, 4, "n1")


class OneSchedule(RuleBasedStateMachine):
    """Relays, executors and set-asides of one schedule, each of which reads, decides, and writes some time later."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.row: LedgerRow | None = None
        self.history: list[LedgerRow] = []
        self.pending: list[tuple[int, LedgerRow]] = []  # the revision it was decided on, and the row to write
        self.fresh = 0

    def token(self) -> str:
        self.fresh += 1
        return f"d{self.fresh}"

    def decide(self, row: LedgerRow) -> None:
        self.pending.append((self.row.revision if self.row else 0, row))

    @initialize(nonce=st.sampled_from(["n1", "n2"]))
    def first_message(self, nonce: str) -> None:
        self.relay(nonce)

    @rule(by=st.integers(0, 15 * SECOND))
    def time_passes(self, by: Millis) -> None:
        self.now += by

    @rule(nonce=st.sampled_from(["n1", "n2"]))
    def relay(self, nonce: str) -> None:
        verdict = decide_claim(a_wanted(nonce, self.now, self.token()), self.row)
        if isinstance(verdict, Claim):
            assert verdict.over == self.row
            self.decide(verdict.row)

    @precondition(lambda self: self.history)
    @rule(
        pick=st.integers(0, 30),
        outcome=st.sampled_from([State.EXECUTED, State.FAILED, State.CLAIMED]),
    )
    def execute(self, pick: int, outcome: State) -> None:
        """Any delivery that ever was comes again."""
        seen = self.history[pick % len(self.history)]
        if not seen.delivery:
            return
        message = an_executor_message(nonce=seen.nonce, delivery=seen.delivery, attempt=seen.attempt)
        if self.row and decide_attempt(message, self.row) == Attempt():
            later: dict[bool, Callable[[LedgerRow], LedgerRow]] = {
                True: lambda row: retried(row, self.token(), self.now),
                False: lambda row: ended(row, outcome, self.now),
            }
            self.decide(later[outcome is State.CLAIMED](self.row))

    @rule(nonce=st.sampled_from(["", "n1", "n2"]))
    def set_aside(self, nonce: str) -> None:
        if decide_set_aside(self.row, nonce) is Keep.MARK:
            self.decide(set_aside_row(an_id(), OWNER, self.row, NOW, self.now, "why"))

    @precondition(lambda self: self.pending)
    @rule(pick=st.integers(0, 30))
    def write(self, pick: int) -> None:
        """In any order; the compare-and-set goes by the revision."""
        revision, row = self.pending.pop(pick % len(self.pending))
        if revision == (self.row.revision if self.row else 0):
            self.row = row
            self.history.append(row)

    @invariant()
    def each_write_is_one_revision(self) -> None:
        assert [row.revision for row in self.history] == list(range(1, len(self.history) + 1))

    @invariant()
    def one_nonce_holds_the_claim(self) -> None:
        assert len({row.nonce for row in self.history if row.state is State.CLAIMED}) <= 1

    @invariant()
    def nothing_follows_an_end(self) -> None:
        assert not any(row.ended for row in self.history[:-1])

    @invariant()
    def attempts_only_grow(self) -> None:
        attempts = [row.attempt for row in self.history]
        assert attempts == sorted(attempts)

    @invariant()
    def a_delivery_belongs_to_one_attempt(self) -> None:
        pairs = {(row.delivery, row.attempt) for row in self.history if row.delivery}
        assert len({delivery for delivery, _ in pairs}) == len(pairs)


OneSchedule.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestOneSchedule = OneSchedule.TestCase
