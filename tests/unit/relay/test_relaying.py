"""What the relay decides: nothing handed over before its lead, nothing left in a hold."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.enqueue.rules import MoveToDeadLetters
from delayer.execute.rules import Made, carried
from delayer.flow.rules.block import Party
from delayer.flow.rules.gate import Go, Later
from delayer.flow.words import limited
from delayer.ledger.model import ENDS, MAX_DETAIL, Refuse
from delayer.ledger.rules import Claim, decide_claim
from delayer.relay.rules import ADDED, LAST_CALL, STALE, WaitForExecutor, decide, delay_of, next_group
from delayer.schedule.instants import (
    DAY,
    MAX_DELAY_SECONDS,
    MAX_HOLD,
    MINUTE,
    ROW_LIFETIME,
    SECOND,
    STALE_AFTER,
    YEAR,
    Malformed,
    Millis,
)
from delayer.schedule.messages import MAX_BYTES, DelayerMessage, encode
from tests.samples import LEASE, NOW, a_claim, a_delayer_message, an_executor_message

offsets = st.one_of(st.integers(-60 * DAY, YEAR), st.integers(-5 * SECOND, 20 * MINUTE))
leads = st.integers(0, 1000)
LARGEST = 2**63 - 1  # a number longer than any in a message
TYPES = frozenset({"http-request"})
batches = st.lists(st.integers(-MINUTE, MAX_HOLD), min_size=1, max_size=10)


@given(offsets)
@example(MAX_HOLD)
@example(MAX_HOLD + 1)
@example(-STALE_AFTER)
@example(-STALE_AFTER - 1)
def test_every_message_is_held_or_sent_again_or_stale(offset: Millis) -> None:
    match decide(a_delayer_message(NOW + offset), NOW, TYPES):
        case MoveToDeadLetters():
            assert offset < -STALE_AFTER
        case Later() as later:
            assert offset > MAX_HOLD
            assert 0 < delay_of(later, NOW) <= MAX_DELAY_SECONDS
            assert delay_of(later, NOW) * SECOND <= offset, "it would come back after its point in time"
        case Go():
            assert -STALE_AFTER <= offset <= MAX_HOLD


@given(st.integers(0, STALE_AFTER))
def test_an_overdue_message_fires(late: Millis) -> None:
    """However late, until its ledger row may be gone."""
    message = a_delayer_message(NOW - late)
    assert decide(message, NOW, TYPES) == Go(message=message, at=NOW - late)


@given(st.integers(1, DAY))
def test_a_copy_more_than_29_days_late_is_not_fired_while_its_ledger_row_still_stands(more: Millis) -> None:
    due = NOW - STALE_AFTER - more
    message = a_delayer_message(due)
    assert decide(message, NOW, TYPES) == MoveToDeadLetters(reason=STALE, schedule=message.schedule)
    assert due + ROW_LIFETIME >= NOW


def test_what_has_no_executor_waits_when_it_is_due() -> None:
    """Until then it is sent again like any other: the executor may be there by then."""
    message = a_delayer_message(NOW)
    waits = WaitForExecutor(reason="no executor for the action 'http-request'", schedule_id=message.schedule.id)
    assert decide(message, NOW, frozenset()) == waits
    assert isinstance(decide(a_delayer_message(NOW + MINUTE), NOW, frozenset()), Later)


def test_what_its_queue_cannot_take_is_malformed() -> None:
    """To the byte, and before it is claimed. Until it is due, it is sent again: the delayer queue has taken it."""
    message = a_delayer_message(NOW)
    assert isinstance(decide(message, NOW, TYPES, MAX_BYTES - ADDED), Go)
    with pytest.raises(Malformed, match=r"too large for the queue of its action: 1,044,481 bytes"):
        decide(message, NOW, TYPES, MAX_BYTES - ADDED + 1)
    assert isinstance(decide(message, NOW - MINUTE, TYPES, MAX_BYTES), Later)


@given(
    st.builds(Retry, detail=st.text(max_size=300), after_seconds=st.none() | st.integers(0, LARGEST))
    | st.builds(Done, st.text(max_size=300) | st.just("x" * MAX_DETAIL))
    | st.builds(Refused, st.text(max_size=300) | st.just("x" * MAX_DETAIL)),
    st.integers(1, LARGEST),
    st.integers(0, LARGEST),
    st.text(max_size=300),
)
def test_no_message_that_follows_is_larger(result: Result, attempt: int, lateness: Millis, payload: str) -> None:
    """By more than is reckoned with, whatever is in it."""
    text = json.dumps([payload], ensure_ascii=False)
    following = an_executor_message(fence="f" * 64, attempt=attempt, payload=text)
    outcome = carried(Made(message=following, result=result, lateness=lateness))
    largest = len(encode(a_delayer_message(payload=text)).encode()) + ADDED
    assert len(encode(following).encode()) <= largest
    assert len(encode(outcome).encode()) <= largest


def test_a_copy_whose_schedule_has_ended_is_dropped() -> None:
    """A restored record may come twice: the ledger still knows."""
    claim = Claim(message=a_delayer_message(), fence="d2", now=NOW, lease=LEASE)
    for state in ENDS:
        assert isinstance(decide_claim(claim, a_claim(state=state)), Refuse)


def test_a_message_sent_again_stays_as_it_is() -> None:
    """A re-send is decided by its delay alone: nonce and body are the message's own."""
    message = a_delayer_message(NOW + MINUTE, hops=3)
    assert decide(message, NOW, TYPES) == Later(message=message, at=NOW + MINUTE, why=None)


Held = dict[str, Go[DelayerMessage]]


def batch(offsets: list[Millis]) -> Held:
    messages = [a_delayer_message(NOW + offset, nonce=str(at)) for at, offset in enumerate(offsets)]
    return {one.nonce: Go(message=one, at=one.schedule.point_in_time) for one in messages}


@given(batches, leads)
def test_a_group_is_handed_over_within_the_lead_and_before_anything_in_it_is_late(
    offsets: list[Millis], lead: Millis
) -> None:
    held = batch(offsets)
    at, group = next_group(held, lead)
    first = min(one.at for one in held.values())
    assert first - lead <= at <= first
    assert group
    for key in group:
        assert at >= held[key].at - lead, "handed over before its lead"
    for key, one in held.items():
        assert key in group or one.at - lead > at


@given(batches, leads)
def test_a_batch_is_handed_over_whole_in_due_order(offsets: list[Millis], lead: Millis) -> None:
    """Each message once; each at its own time or with an earlier neighbour; the hold ends with the last."""
    waiting, before = batch(offsets), 0
    order: list[str] = []
    while waiting:
        at, group = next_group(waiting, lead)
        assert at >= before, "a hold never goes back in time"
        before = at
        order += group
        waiting = {key: one for key, one in waiting.items() if key not in group}
    assert sorted(order) == sorted(batch(offsets))
    assert before <= NOW + max(offsets)


@pytest.mark.parametrize(("behind", "goes_along"), [(0, True), (149, True), (150, True), (151, False), (250, False)])
def test_who_goes_along(behind: Millis, goes_along: bool) -> None:
    """The first is handed over 100 ms before it is due, and no later: 150 ms behind is just within its own lead."""
    _, group = next_group(batch([0, behind]), 250)
    assert ("1" in group) == goes_along


@given(st.lists(st.integers(-MINUTE, MAX_HOLD) | st.integers(0, SECOND), min_size=1, max_size=10), leads)
def test_it_waits_for_nobody_who_cannot_go_along(offsets: list[Millis], lead: Millis) -> None:
    """A millisecond earlier, one of the group would be left behind; at the last call, no other would go along."""
    held = batch(offsets)
    at, group = next_group(held, lead)
    assert at == max(held[key].at for key in group) - lead
    last_call = min(one.at for one in held.values()) - min(lead, LAST_CALL)
    assert at <= last_call
    assert group == [key for key, one in held.items() if one.at - lead <= last_call]


@given(st.integers(-MINUTE, MAX_HOLD), st.integers(1, 10), leads)
def test_what_is_due_at_the_same_instant_is_handed_over_with_the_whole_lead(
    offset: Millis, number: int, lead: Millis
) -> None:
    """Alone, too: the executor may have to start, and the lead is there to cover that."""
    held = batch([offset] * number)
    assert next_group(held, lead) == (NOW + offset - lead, list(held))


@given(batches)
def test_without_a_lead_nothing_is_handed_over_early(offsets: list[Millis]) -> None:
    held = batch(offsets)
    at, group = next_group(held, 0)
    assert all(held[key].at <= at for key in group)


def test_what_waits_for_a_turn_comes_a_second_before_it() -> None:
    """What waits for its point in time comes as late as SQS can count before it."""
    message = a_delayer_message(NOW)
    limit = limited(Party(owner="o", target="t"), NOW, 1_000, "")
    at = NOW + 10 * SECOND + 999
    assert delay_of(Later(message=message, at=at, why=None), NOW) == 10
    assert delay_of(Later(message=message, at=at, why=limit), NOW) == 9
    assert delay_of(Later(message=message, at=at - 10 * SECOND, why=limit), NOW) == 0


def test_the_longest_hold_fits_the_lease() -> None:
    """Three seconds of hold leave the relay most of its ten."""
    assert MAX_HOLD == 3 * SECOND
    assert LAST_CALL < SECOND
