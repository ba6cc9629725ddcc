"""Cancelling and replacing: the ledger row alone decides, whatever it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.accept.rules.status import (
    Expired,
    MayBeRunning,
    NotFound,
    TooEarly,
    TooLate,
    decide_cancel,
    decide_replace,
    decide_stop,
    is_live,
    is_over,
)
from delayer.dead_letters.rules import redriven
from delayer.execute.rules import DropStopped, decide_attempt
from delayer.ledger.model import ENDS, Already, LedgerChange, LedgerRow, Refuse, State, named
from delayer.ledger.rules import Claim, decide_claim, ended, ended_unclaimed, stopped
from delayer.schedule.instants import ATTEMPT_OVER, DAY, MINUTE, ROW_LIFETIME, STALE_AFTER, Millis
from tests.samples import LEASE, NOW, OWNER, a_claim, a_delayer_message, an_executor_message, an_id
from tests.transitions import may_follow, stands_for

OLD, NEW = an_id(), an_id(NOW + DAY)
BEFORE_ITS_CLAIM = ended_unclaimed(OLD, OWNER, State.DEAD_LETTERED, NOW, "why")
AFTER_ITS_CLAIM = a_claim(state=State.DEAD_LETTERED)

ROWS: dict[str, LedgerRow | None] = {
    "none": None,
    "named": named(OLD, OWNER, "a name", NOW),
    "redriven": redriven(OLD, OWNER, a_claim(state=State.FAILED), "n5", NOW),
    "claimed": a_claim(),
    "executed": a_claim(state=State.EXECUTED),
    "failed": a_claim(state=State.FAILED),
    "cancelled": a_claim(state=State.CANCELLED),
    "replaced": a_claim(state=State.REPLACED, replaced_by=NEW),
    "dropped": a_claim(state=State.DROPPED),
    "dead-lettered before its claim": BEFORE_ITS_CLAIM,
    "dead-lettered after its claim": AFTER_ITS_CLAIM,
}
CANCELS = {"none", "named", "redriven", "dead-lettered before its claim"}
REPLACES = CANCELS | {"failed", "dead-lettered after its claim"}
RESTLESS = {"redriven", "failed", "dead-lettered after its claim"}  # an attempt may be under way
LIVE = REPLACES | {"claimed"}

rows = st.builds(
    a_claim,
    state=st.sampled_from(State),
    revision=st.integers(1, 9),
    claimed_at=st.sampled_from([0, NOW]),
    name=st.sampled_from(["", "a name"]),
    expires_at=st.integers(NOW, NOW + 60 * DAY),
)
times = st.integers(NOW - DAY, NOW + STALE_AFTER)


@pytest.mark.parametrize("name", ROWS)
def test_a_cancel_against_any_row(name: str) -> None:
    """It is cancelled if no executor has seen it and none will; else the answer is the row that says why not."""
    row = ROWS[name]
    verdict = decide_cancel(OLD, OWNER, row, NOW + ATTEMPT_OVER)
    if name in CANCELS:
        assert isinstance(verdict, LedgerChange)
        assert (verdict.row.state, verdict.over) == (State.CANCELLED, row)
        assert verdict.row.revision == (row.revision + 1 if row else 1)
    elif name == "cancelled":
        assert verdict == Already(row)  # type: ignore[arg-type] # the table has a row there
    else:
        assert verdict == TooLate(row)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ROWS)
def test_a_replacement_against_any_row(name: str) -> None:
    """As a cancel, and what failed or was dead-lettered too: redriven, there would be two of it."""
    row = ROWS[name]
    verdict = decide_replace(OLD, OWNER, row, NEW, NOW + ATTEMPT_OVER)
    if name in REPLACES:
        assert isinstance(verdict, LedgerChange)
        assert (verdict.row.state, verdict.row.replaced_by, verdict.over) == (State.REPLACED, NEW, row)
        assert verdict.row.revision == (row.revision + 1 if row else 1)
    else:
        assert verdict == TooLate(row)  # type: ignore[arg-type] # the table has a row there


@pytest.mark.parametrize("name", ROWS)
def test_nothing_is_taken_back_while_an_attempt_may_be_under_way(name: str) -> None:
    """If it succeeds, a schedule that took its place would fire besides. To the millisecond."""
    row, now = ROWS[name], NOW + ATTEMPT_OVER - 1
    assert (decide_replace(OLD, OWNER, row, NEW, now) == MayBeRunning(row=row, wait=1)) == (name in RESTLESS)  # type: ignore[arg-type]
    restless = name in RESTLESS & CANCELS
    assert (decide_cancel(OLD, OWNER, row, now) == MayBeRunning(row=row, wait=1)) == restless  # type: ignore[arg-type]


def test_what_became_a_dead_letter_again_remembers_the_attempt_before() -> None:
    """Redriven, and dead-lettered before its second claim: the attempt of its first may still be under way."""
    first = a_claim(state=State.DEAD_LETTERED)
    again = ended(redriven(OLD, OWNER, first, "n5", NOW + 1), State.DEAD_LETTERED, NOW + 2)
    assert decide_cancel(OLD, OWNER, again, NOW + 3) == MayBeRunning(row=again, wait=ATTEMPT_OVER - 3)
    assert isinstance(decide_cancel(OLD, OWNER, again, NOW + ATTEMPT_OVER), LedgerChange)


@pytest.mark.parametrize("name", sorted(set(ROWS) - {"none"}))
def test_the_row_of_another_owner_is_not_found(name: str) -> None:
    """The code in the id is right, so its key is in foreign hands: the row still says whose it is."""
    row = ROWS[name]
    assert decide_cancel(OLD, "thief", row, NOW) == NotFound()
    assert decide_replace(OLD, "thief", row, NEW, NOW) == NotFound()
    assert decide_stop(OLD, "thief", row, NOW) == NotFound()


@pytest.mark.parametrize("name", ROWS)
def test_what_is_live(name: str) -> None:
    """What may still fire, or be redriven: a namesake takes the place of nothing else."""
    assert is_live(ROWS[name]) == (name in LIVE)


@given(rows, times)
def test_what_is_revoked_is_claimed_by_nobody(row: LedgerRow, now: Millis) -> None:
    """Neither by a copy in the queue, nor by one that comes again, nor by a second."""
    for verdict in (decide_cancel(OLD, OWNER, row, now), decide_replace(OLD, OWNER, row, NEW, now)):
        if isinstance(verdict, LedgerChange):
            assert verdict.row.ended
            for nonce in ("n1", "n2"):
                wanted = Claim(message=a_delayer_message(nonce=nonce), fence="fresh", now=now + DAY, lease=LEASE)
                assert isinstance(decide_claim(wanted, verdict.row), Refuse)


@given(rows, times)
def test_only_what_the_table_of_states_allows(row: LedgerRow, now: Millis) -> None:
    """A row that says `scheduled` may be of one that is enqueued already."""
    sources = stands_for(row.state)
    for verdict in (decide_cancel(OLD, OWNER, row, now), decide_replace(OLD, OWNER, row, NEW, now)):
        if isinstance(verdict, LedgerChange):
            assert all(may_follow(source, verdict.row.state) for source in sources)


@given(rows, times)
def test_a_row_keeps_its_name_and_never_expires_earlier(row: LedgerRow, now: Millis) -> None:
    """That of what waits for its time is kept for long, until it has a time or an end."""
    for verdict in (decide_cancel(OLD, OWNER, row, now), decide_replace(OLD, OWNER, row, NEW, now)):
        if isinstance(verdict, LedgerChange):
            assert verdict.row.name == row.name
            assert verdict.row.expires_at >= row.expires_at or row.state is State.UNDECIDED


@given(st.none() | rows, times)
def test_a_cancel_repeated_is_answered_the_same(row: LedgerRow | None, now: Millis) -> None:
    verdict = decide_cancel(OLD, OWNER, row, now)
    if isinstance(verdict, LedgerChange):
        assert decide_cancel(OLD, OWNER, verdict.row, now) == Already(verdict.row)


@given(st.none() | rows, st.integers(1, 400 * DAY))
def test_nothing_is_answered_of_what_may_have_expired(row: LedgerRow | None, later: Millis) -> None:
    """A row written now might be the second of its schedule."""
    now = NOW + STALE_AFTER + later
    assert decide_cancel(OLD, OWNER, row, now) == Expired()
    assert decide_replace(OLD, OWNER, row, NEW, now) == Expired()


def test_the_limit_is_29_days() -> None:
    assert isinstance(decide_cancel(OLD, OWNER, None, NOW + STALE_AFTER), LedgerChange)
    assert isinstance(decide_replace(OLD, OWNER, None, NEW, NOW + STALE_AFTER), LedgerChange)


@given(st.integers(0, 3000 * DAY), st.none() | rows)
def test_the_row_of_the_old_one_stands_as_long_as_that_of_the_new(ahead: Millis, row: LedgerRow | None) -> None:
    """Whoever asks for the old one learns of the new one."""
    by = an_id(NOW + ahead)
    verdict = decide_replace(OLD, OWNER, row, by, NOW)
    if isinstance(verdict, LedgerChange):
        assert verdict.row.expires_at >= named(by, OWNER, "", NOW).expires_at


def test_a_far_schedule_without_a_row_gets_one_for_as_long_as_it_could_fire() -> None:
    verdict = decide_cancel(NEW, OWNER, None, NOW)
    assert isinstance(verdict, LedgerChange)
    assert verdict.row.expires_at == NOW + DAY + ROW_LIFETIME
    assert (verdict.row.schedule_id, verdict.row.owner) == (NEW, OWNER)


@pytest.mark.parametrize("text", ["", "no id", OLD.upper(), OLD[:-1]])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a schedule id"):
        decide_cancel(text, OWNER, None, NOW)
    with pytest.raises(ValueError, match="not a schedule id"):
        decide_replace(text, OWNER, None, NEW, NOW)


@given(st.sampled_from(sorted(ENDS - {State.DEAD_LETTERED})))
def test_an_end_that_a_target_may_have_seen_is_never_cancelled(state: State) -> None:
    row = a_claim(state=state, at=NOW + MINUTE)
    if state is not State.CANCELLED:
        assert decide_cancel(OLD, OWNER, row, NOW + MINUTE) == TooLate(row)


@pytest.mark.parametrize("name", ROWS)
def test_a_stop_against_any_row(name: str) -> None:
    """Only what is claimed can be stopped, also as a dead letter; before, it can be cancelled."""
    row = ROWS[name]
    verdict = decide_stop(OLD, OWNER, row, NOW)
    if name == "claimed":
        assert isinstance(verdict, LedgerChange)
        assert (verdict.row.state, verdict.row.stopped_at, verdict.over) == (State.CLAIMED, NOW, row)
        assert decide_stop(OLD, OWNER, verdict.row, NOW + 1) == Already(verdict.row)
    elif name == "dead-lettered after its claim":
        assert isinstance(verdict, LedgerChange)
        assert (verdict.row.state, verdict.row.stopped_at, verdict.over) == (State.DROPPED, NOW, row)
        assert decide_stop(OLD, OWNER, verdict.row, NOW + 1) == Already(verdict.row)
    elif row is None or row.state is State.SCHEDULED:
        assert verdict == TooEarly()
    else:
        assert verdict == TooLate(row)


def test_a_stop_outlives_a_claim_taken_anew() -> None:
    """Its relay has died; the next one hands it over, and the executor sees the mark."""
    row = stopped(a_claim(), NOW)
    verdict = decide_claim(Claim(message=a_delayer_message(), fence="d2", now=NOW + LEASE, lease=LEASE), row)
    assert isinstance(verdict, LedgerChange)
    assert verdict.row.stopped_at == NOW
    assert decide_attempt(an_executor_message(fence="d2"), verdict.row) == DropStopped()


def test_a_name_is_free_when_its_holder_is_over() -> None:
    for name, row in ROWS.items():
        assert is_over(OLD, row, NOW) == (name not in LIVE)
        assert is_over(OLD, row, NOW + STALE_AFTER + 1)
