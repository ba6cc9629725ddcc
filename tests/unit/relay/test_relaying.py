"""What the relay decides: nothing handed over before its lead, nothing left in a hold."""

import json

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.execute.rules import Made, carried
from delayer.ledger.model import ENDS, Refuse
from delayer.ledger.rules import Claim, decide_claim
from delayer.relay import rules as relaying
from delayer.relay.rules import (
    ADDED,
    LAST_CALL,
    SURELY_FITS,
    Group,
    Hold,
    Resend,
    Stale,
    WaitForExecutor,
    bytes_of_largest,
    decide,
    next_group,
)
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
TYPES = frozenset({"http-request"})
batches = st.lists(st.integers(-MINUTE, MAX_HOLD), min_size=1, max_size=10)


@given(offsets)
@example(MAX_HOLD)
@example(MAX_HOLD + 1)
@example(-STALE_AFTER)
@example(-STALE_AFTER - 1)
def test_every_message_is_held_or_sent_again_or_stale(offset: Millis) -> None:
    match decide(a_delayer_message(NOW + offset), NOW, TYPES):
        case Stale():
            assert offset < -STALE_AFTER
        case Resend(delay):
            assert offset > MAX_HOLD
            assert 0 < delay <= MAX_DELAY_SECONDS
            assert delay * SECOND <= offset, "it would come back after its point in time"
        case Hold():
            assert -STALE_AFTER <= offset <= MAX_HOLD


@given(st.integers(0, STALE_AFTER))
def test_an_overdue_message_fires(late: Millis) -> None:
    """However late, until its ledger row may be gone."""
    assert decide(a_delayer_message(NOW - late), NOW, TYPES) == Hold()


@given(st.integers(1, DAY))
def test_a_copy_more_than_29_days_late_is_not_fired_while_its_ledger_row_still_stands(more: Millis) -> None:
    due = NOW - STALE_AFTER - more
    assert decide(a_delayer_message(due), NOW, TYPES) == Stale()
    assert due + ROW_LIFETIME >= NOW


def test_what_has_no_executor_waits_when_it_is_due() -> None:
    """Until then it is sent again like any other: the executor may be there by then."""
    assert decide(a_delayer_message(NOW), NOW, frozenset()) == WaitForExecutor(
        "no executor for the action 'http-request'"
    )
    assert isinstance(decide(a_delayer_message(NOW + MINUTE), NOW, frozenset()), Resend)


def of_bytes(size: int) -> DelayerMessage:
    """A due message whose largest follower has this size. Characters of three bytes, so that these are not counted."""
    empty = bytes_of_largest(a_delayer_message(payload='""'))
    wide, narrow = divmod(size - empty, 3)
    return a_delayer_message(payload=f'"{chr(0x20AC) * wide}{"x" * narrow}"')


def test_what_its_queue_cannot_take_is_malformed() -> None:
    """To the byte, and before it is claimed. Until it is due, it is sent again: the delayer queue has taken it."""
    assert decide(of_bytes(MAX_BYTES), NOW, TYPES) == Hold()
    with pytest.raises(Malformed, match=r"too large for the queue of its action: 1,048,577 bytes"):
        decide(of_bytes(MAX_BYTES + 1), NOW, TYPES)
    assert isinstance(decide(of_bytes(MAX_BYTES + 1), NOW - MINUTE, TYPES), Resend)


@given(st.text(max_size=300), st.text(max_size=300))
def test_what_surely_fits_does(payload: str, value: str) -> None:
    """To the character: a body of this length, all of it of four bytes, and the most that may follow it."""
    message = a_delayer_message(payload=json.dumps([payload, value], ensure_ascii=False))
    assert bytes_of_largest(message) <= len(encode(message).encode()) + ADDED
    assert 4 * SURELY_FITS + ADDED <= MAX_BYTES


def test_what_surely_fits_is_not_encoded_to_learn_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    def encoded(message: DelayerMessage) -> int:
        raise AssertionError("encoded")

    monkeypatch.setattr(relaying, "bytes_of_largest", encoded)
    assert decide(a_delayer_message(NOW), NOW, TYPES, SURELY_FITS) == Hold()
    with pytest.raises(AssertionError, match="encoded"):
        decide(a_delayer_message(NOW), NOW, TYPES, SURELY_FITS + 1)


@given(
    st.builds(Retry, detail=st.text(max_size=300), after_seconds=st.none() | st.integers(0, 10**12))
    | st.builds(Done, st.text(max_size=300))
    | st.builds(Refused, st.text(max_size=300)),
    st.integers(1, 20),
    st.integers(0, STALE_AFTER),
)
def test_no_message_that_follows_is_larger(result: Result, attempt: int, lateness: Millis) -> None:
    following = an_executor_message(fence="f" * 16, attempt=attempt)
    outcome = carried(Made(message=following, result=result, lateness=lateness))
    largest = bytes_of_largest(a_delayer_message())
    assert len(encode(following).encode()) <= largest
    assert len(encode(outcome).encode()) <= largest


def test_a_copy_whose_schedule_has_ended_is_dropped() -> None:
    """A restored record may come twice: the ledger still knows."""
    claim = Claim(message=a_delayer_message(), fence="d2", now=NOW, lease=LEASE)
    for state in ENDS:
        assert isinstance(decide_claim(claim, a_claim(state=state)), Refuse)


def test_a_message_sent_again_stays_as_it_is() -> None:
    """A re-send is decided by its delay alone: nonce and body are the message's own."""
    assert [field.name for field in attrs.fields(Resend)] == ["delay_seconds"]


def batch(offsets: list[Millis]) -> list[DelayerMessage]:
    return [a_delayer_message(NOW + offset, nonce=str(at)) for at, offset in enumerate(offsets)]


@given(batches, leads)
def test_a_group_is_handed_over_within_the_lead_and_before_anything_in_it_is_late(
    offsets: list[Millis], lead: Millis
) -> None:
    messages = batch(offsets)
    group = next_group(messages, lead)
    first = min(message.schedule.point_in_time for message in messages)
    assert first - lead <= group.at <= first
    assert group.messages
    for message in group.messages:
        assert group.at >= message.schedule.point_in_time - lead, "handed over before its lead"
    for message in messages:
        assert message in group.messages or message.schedule.point_in_time - lead > group.at


@given(batches, leads)
def test_a_batch_is_handed_over_whole_in_due_order(offsets: list[Millis], lead: Millis) -> None:
    """Each message once; each at its own time or with an earlier neighbour; the hold ends with the last."""
    waiting, at = batch(offsets), 0
    order: list[DelayerMessage] = []
    while waiting:
        group = next_group(waiting, lead)
        assert group.at >= at, "a hold never goes back in time"
        at = group.at
        order += group.messages
        waiting = [message for message in waiting if message not in group.messages]
    assert sorted(message.nonce for message in order) == sorted(message.nonce for message in batch(offsets))
    assert at <= NOW + max(offsets)


@pytest.mark.parametrize(("behind", "goes_along"), [(0, True), (149, True), (150, True), (151, False), (250, False)])
def test_who_goes_along(behind: Millis, goes_along: bool) -> None:
    """The first is handed over 100 ms before it is due, and no later: 150 ms behind is just within its own lead."""
    messages = batch([0, behind])
    assert (messages[1] in next_group(messages, 250).messages) == goes_along


@given(st.lists(st.integers(-MINUTE, MAX_HOLD) | st.integers(0, SECOND), min_size=1, max_size=10), leads)
def test_it_waits_for_nobody_who_cannot_go_along(offsets: list[Millis], lead: Millis) -> None:
    """A millisecond earlier, one of the group would be left behind; at the last call, no other would go along."""
    messages = batch(offsets)
    group = next_group(messages, lead)
    assert group.at == max(message.schedule.point_in_time for message in group.messages) - lead
    last_call = min(message.schedule.point_in_time for message in messages) - min(lead, LAST_CALL)
    assert group.at <= last_call
    assert set(group.messages) == {one for one in messages if one.schedule.point_in_time - lead <= last_call}


@given(st.integers(-MINUTE, MAX_HOLD), st.integers(1, 10), leads)
def test_what_is_due_at_the_same_instant_is_handed_over_with_the_whole_lead(
    offset: Millis, number: int, lead: Millis
) -> None:
    """Alone, too: the executor may have to start, and the lead is there to cover that."""
    messages = batch([offset] * number)
    assert next_group(messages, lead) == Group(at=NOW + offset - lead, messages=tuple(messages))


@given(batches)
def test_without_a_lead_nothing_is_handed_over_early(offsets: list[Millis]) -> None:
    group = next_group(batch(offsets), 0)
    assert all(message.schedule.point_in_time <= group.at for message in group.messages)


def test_the_longest_hold_fits_the_lease() -> None:
    """Three seconds of hold leave the relay most of its ten."""
    assert MAX_HOLD == 3 * SECOND
    assert LAST_CALL < SECOND
