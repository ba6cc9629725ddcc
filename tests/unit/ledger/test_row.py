"""The ledger decides: one claim, one end, each change by compare-and-set."""

from collections.abc import Callable
from itertools import pairwise, product

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from delayer.dead_letters.model import Disposition, decide_disposition
from delayer.dead_letters.rules import redriven
from delayer.execute.rules import Attempt, decide_attempt
from delayer.ledger.model import LedgerChange, LedgerRow, State
from delayer.ledger.rules import decide_claim, ended, ended_unclaimed, may_end, retried
from delayer.schedule.instants import DAY, ROW_LIFETIME, SECOND, STALE_AFTER, Millis
from tests.samples import NOW, OWNER, a_schedule, a_wanted, an_executor_message, an_id, claimed
from tests.transitions import may_follow, stands_for

times = st.integers(NOW - 60 * DAY, NOW + 60 * DAY)


@given(times, times)
def test_rows_outlive_every_copy_that_may_still_fire(due: Millis, now: Millis) -> None:
    """A copy fires until 29 days after due; the row is stored until 30 days after the later of due and the write."""
    claim = claimed(a_schedule(due), now=now)
    rows = [claim, ended(claim, State.EXECUTED, now), retried(claim, "d2", now)]
    unclaimed = ended_unclaimed(an_id(due), OWNER, State.DEAD_LETTERED, now, "why")
    rows += [unclaimed, redriven(an_id(due), OWNER, unclaimed, "n2", now)]
    rows += [redriven(an_id(due), OWNER, ended(claim, State.FAILED, now), "n2", now)]
    for row in rows:
        assert row.expires_at >= max(due, now) + ROW_LIFETIME
        assert row.expires_at - (due + STALE_AFTER) >= DAY
    later = ended(claim, State.FAILED, now + 40 * DAY)
    assert later.expires_at >= now + 40 * DAY + ROW_LIFETIME


Write = Callable[[LedgerRow | None], LedgerRow | None]  # the row to write over the current one, None: give up


class OneSchedule(RuleBasedStateMachine):
    """Relays, executors, an operator, and functions that make dead letters of one schedule.

    Each reads, decides, and writes some time later, by compare-and-set on the revision it read.
    """

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

        def claim(current: LedgerRow | None) -> LedgerRow | None:
            verdict = decide_claim(wanted, current)
            return verdict.row if isinstance(verdict, LedgerChange) else None

        self.later(claim)

    @precondition(lambda self: self.history)
    @rule(pick=st.integers(0, 30), outcome=st.sampled_from([State.EXECUTED, State.FAILED, State.CLAIMED]))
    def execute(self, pick: int, outcome: State) -> None:
        """Any message that ever was comes again."""
        seen = self.history[pick % len(self.history)]
        message = an_executor_message(nonce=seen.nonce, fence=seen.fence or "d?", attempt=seen.attempt)
        read = self.row
        if read is None or decide_attempt(message, read) != Attempt():
            return

        def end(current: LedgerRow | None) -> LedgerRow | None:
            held = (message.nonce, message.fence, message.attempt)
            if current is None or (current != read and not may_end(current, *held, outcome)):
                return None
            return ended(current, outcome, self.now)

        def retry(current: LedgerRow | None) -> LedgerRow | None:
            return retried(read, self.token(), self.now) if current == read else None

        self.later(retry if outcome is State.CLAIMED else end)

    @rule(nonce=st.sampled_from(["", "n1", "n2"]), pick=st.integers(0, 30))
    def dead_letters(self, nonce: str, pick: int) -> None:
        fence = self.history[pick % len(self.history)].fence if self.history and nonce else ""

        def mark(current: LedgerRow | None) -> LedgerRow | None:
            if decide_disposition(current, nonce, fence) is not Disposition.MARK:
                return None
            if current:
                return ended(current, State.DEAD_LETTERED, self.now, "why")
            return ended_unclaimed(an_id(), OWNER, State.DEAD_LETTERED, self.now, "why")

        self.later(mark)

    @precondition(lambda self: self.row and self.row.state in (State.DEAD_LETTERED, State.FAILED))
    @rule()
    def redrive(self) -> None:
        read = self.row
        self.later(lambda current: redriven(an_id(), OWNER, read, "n3", self.now) if read and current == read else None)

    @precondition(lambda self: self.pending)
    @rule(pick=st.integers(0, 30))
    def write(self, pick: int) -> None:
        """In any order. If another was faster, the decision is made again by the current row, as the use cases do."""
        read, decide = self.pending.pop(pick % len(self.pending))
        if read != self.row:
            read = self.row
        row = decide(read)
        if row is not None:
            assert row.revision == (self.row.revision if self.row else 0) + 1
            self.row = row
            self.history.append(row)

    def eras(self) -> list[list[LedgerRow]]:
        """The history, cut where an operator redrove the schedule."""
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
        """A row that was redriven stands for scheduled and for enqueued."""
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
    def a_fence_belongs_to_one_attempt(self) -> None:
        pairs = {(row.fence, row.attempt) for row in self.history if row.fence}
        assert len({fence for fence, _ in pairs}) == len(pairs)


OneSchedule.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestOneSchedule = OneSchedule.TestCase
