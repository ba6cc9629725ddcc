"""What an executor decides: never early, each attempt by one message only, retries that end."""

import json
import re

import pytest
from attrs import evolve
from hypothesis import example, given, settings
from hypothesis import strategies as st

from delayer.actions.rules.model import Refused, Retry
from delayer.execute.rules import (
    Attempt,
    DropStopped,
    GiveUp,
    Made,
    Orphan,
    SendNext,
    Take,
    TryAgain,
    age_from,
    at_last,
    attempted_at,
    decide_attempt,
    decide_later,
    decide_next,
    hop_seconds,
    lateness,
    seconds_until,
)
from delayer.flow.rules.block import CROWDED, Block, BlockKind, Party, opened
from delayer.flow.rules.gate import Later
from delayer.flow.words import suspended
from delayer.ledger.model import ENDS, Arrival, LedgerRow, Refuse, State
from delayer.ledger.rules import contested, hopped, retried, taken
from delayer.schedule.instants import DAY, HOUR, MAX_DELAY_SECONDS, MAX_HOLD, MINUTE, SECOND, STALE_AFTER, YEAR, Millis
from delayer.schedule.messages import Slot
from delayer.schedule.retrying import MAX_AGE_SECONDS, MAX_ATTEMPTS, RetryPolicy, retry_seconds
from tests.looking import put_row
from tests.samples import NOW, OWNER, a_claim, an_executor_message, an_id
from tests.unit.execute.test_execute import delivered
from tests.world import ACTION, World

attempts = st.integers(1, MAX_ATTEMPTS)


def an_executor_with(row: LedgerRow | None = None) -> World:
    """At NOW. Each of its functions may run as long as a test does."""
    world = World()
    world.clock.sleep_until(NOW)
    if row:
        put_row(world.ledger, row)
    return world


of_a_world = settings(max_examples=25)  # to make one takes most of the time
around = st.one_of(st.integers(-YEAR, YEAR), st.integers(-5 * SECOND, 5 * SECOND))


@of_a_world
@given(around)
@example(0)
@example(1)
@example(MAX_HOLD)
@example(MAX_HOLD + 1)
def test_no_attempt_begins_before_the_point_in_time(offset: Millis) -> None:
    """Due: now. A little early: when it is due. Far too early: back into the queue, to be looked at again."""
    world = an_executor_with(a_claim(NOW + offset))
    left = world.execute(delivered(an_executor_message(NOW + offset)))
    reached = [at for at, _ in world.target.reached]
    if offset <= MAX_HOLD:
        assert (left, reached) == ([], [max(NOW + offset, NOW)])
    else:
        assert (left, reached, world.clock.now()) == (["m0"], [], NOW)
    assert world.http_queue.sent == 0


@of_a_world
@given(st.lists(st.integers(-5 * SECOND, 5 * SECOND), min_size=1, max_size=10))
def test_each_message_of_a_batch_is_attempted_when_it_is_due_and_not_when_another_is(offsets: list[Millis]) -> None:
    world = an_executor_with()
    messages = [
        an_executor_message(
            NOW + offset, randomness=bytes([at] * 8), action=json.dumps({**ACTION, "url": f"http://{at}/"})
        )
        for at, offset in enumerate(offsets)
    ]
    for message in messages:
        put_row(world.ledger, evolve(a_claim(), schedule_id=message.schedule.id))
    left = world.execute(delivered(*messages))
    assert left == [f"m{at}" for at, offset in enumerate(offsets) if offset > MAX_HOLD]
    reached = {message.schedule.id: at for at, message in world.target.reached}
    assert reached == {
        message.schedule.id: max(NOW + offset, NOW)
        for message, offset in zip(messages, offsets, strict=True)
        if offset <= MAX_HOLD
    }


@of_a_world
@given(st.integers(-MINUTE, MINUTE), st.lists(st.integers(0, MINUTE), max_size=20))
def test_however_often_it_comes_it_is_never_attempted_early(offset: Millis, waits: list[Millis]) -> None:
    """Following what the executor says, whenever the message comes, ends at or after the point in time."""
    message = an_executor_message(NOW + offset)
    world = an_executor_with(a_claim(NOW + offset))
    for wait in [*waits, MINUTE, 0]:
        if not world.execute(delivered(message)):
            break
        world.clock.move(wait)
    assert [at >= NOW + offset for at, _ in world.target.reached] == [True]


def test_the_message_with_the_fencing_token_of_the_row_may_attempt() -> None:
    assert decide_attempt(an_executor_message(), a_claim()) == Attempt()


def test_without_a_row_nothing_is_attempted() -> None:
    assert decide_attempt(an_executor_message(), None) == Orphan()


@pytest.mark.parametrize("state", sorted(ENDS))
def test_after_an_end_nothing_is_attempted(state: State) -> None:
    decision = decide_attempt(an_executor_message(), a_claim(state=state))
    assert decision == Refuse(f"already {state}")


def test_another_copy_holds_the_claim() -> None:
    assert isinstance(decide_attempt(an_executor_message(nonce="n2"), a_claim()), Refuse)


def test_a_failed_message_that_comes_again_sends_the_next_attempt_again() -> None:
    """It may have died between the ledger and the queue; it must not attempt once more itself."""
    row = retried(a_claim(), "d2", NOW)
    message = an_executor_message()
    assert decide_attempt(message, row) == SendNext()
    assert decide_attempt(evolve(message, fence="d2", attempt=2), row) == Attempt()


def test_of_several_messages_for_one_retry_the_first_that_arrives_makes_it() -> None:
    """Nobody knows which of them were sent: each may be the only one, until one has said that it is there."""
    row = contested(retried(a_claim(), "d2", NOW))
    first, again = an_executor_message(fence="d2", attempt=2), an_executor_message(fence="d3", attempt=2)
    failed = an_executor_message()
    assert decide_attempt(first, row) == decide_attempt(again, row) == Take()
    assert decide_attempt(failed, row) == SendNext(), "it comes again: whatever it has sent may not have arrived"
    after = taken(row, "d3")
    assert decide_attempt(again, after) == Attempt()
    assert isinstance(decide_attempt(first, after), Refuse)
    assert isinstance(decide_attempt(failed, after), Refuse)
    following = retried(after, "d4", NOW)
    assert decide_attempt(again, following) == SendNext()
    assert isinstance(decide_attempt(first, following), Refuse)


def test_of_two_hand_overs_the_first_that_arrives_makes_the_attempt() -> None:
    """The relay claimed again, because it did not know whether its first hand-over had arrived."""
    row = a_claim(fence="d2", arrival=Arrival.CONTESTED)
    first, second = an_executor_message(fence="d1"), an_executor_message(fence="d2")
    assert decide_attempt(first, row) == decide_attempt(second, row) == Take()
    after = taken(row, "d1")
    assert decide_attempt(first, after) == Attempt()
    assert isinstance(decide_attempt(second, after), Refuse)
    assert isinstance(decide_attempt(evolve(first, nonce="n2"), row), Refuse), "another copy of the schedule"


def test_what_may_be_made_is_stopped_by_its_owner() -> None:
    row = a_claim(fence="d2", arrival=Arrival.CONTESTED, stopped_at=NOW)
    assert decide_attempt(an_executor_message(fence="d1"), row) == DropStopped()


@given(st.integers(1, 8))
def test_each_attempt_belongs_to_one_fencing_token(failures: int) -> None:
    """After any number of failures, of all messages there ever were one attempts, one repeats its send, and the
    others are dropped."""
    row: LedgerRow = a_claim()
    messages = [an_executor_message()]
    for attempt in range(2, failures + 2):
        row = retried(row, f"d{attempt}", NOW)
        messages.append(evolve(messages[-1], fence=f"d{attempt}", attempt=attempt))
    decisions = [decide_attempt(message, row) for message in messages]
    assert decisions[-1] == Attempt()
    assert decisions[-2] == SendNext()
    assert all(isinstance(decision, Refuse) for decision in decisions[:-2])
    assert row.attempt == messages[-1].attempt == failures + 1


# ------------------------------------------------------------ delays that take several messages


@of_a_world
@given(st.one_of(st.integers(-DAY, 14 * DAY), st.integers(-5 * SECOND, 5 * SECOND)))
@example(0)
@example(1)
@example(MAX_HOLD)
@example(MAX_HOLD + 1)
def test_no_attempt_is_made_before_its_delay_is_over(left: Millis) -> None:
    """A little early: it is held. Earlier: another message waits on, for as long as SQS can delay it."""
    message, row = an_executor_message(), a_claim(retry_at=NOW + left)
    later = decide_later(message, row, None, NOW)
    assert (later is None) == (left <= 0)
    if later:
        assert (later.at, later.why) == (NOW + left, None)
        assert min(left, MAX_DELAY_SECONDS * SECOND) <= seconds_until(later.at, NOW) * SECOND < left + SECOND
    world = an_executor_with(row)
    assert world.execute(delivered(message)) == []
    reached = [at for at, _ in world.target.reached]
    assert reached == ([max(NOW + left, NOW)] if left <= MAX_HOLD else [])
    assert world.http_queue.sent == (left > MAX_HOLD)


@of_a_world
@given(st.integers(0, 14 * DAY), st.integers(1, 8))
def test_a_delay_of_any_length_ends_with_one_attempt_at_its_time(left: Millis, steps: int) -> None:
    """By as many messages as it takes; each comes within a second after SQS gives it out."""
    world = an_executor_with(a_claim(retry_at=NOW + left))
    batch = delivered(an_executor_message())
    for _ in range(14 * DAY // (MAX_DELAY_SECONDS * SECOND) + 2):
        assert world.execute(batch) == []
        if not (waiting := world.http_queue.messages):
            break
        [one] = waiting
        world.clock.sleep_until(one.visible_at + steps)
        batch = world.http_queue.receive()
        for received in batch:
            world.http_queue.delete(received)
    [(at, _)] = world.target.reached
    assert NOW + left <= at <= NOW + left + SECOND + steps
    row = world.ledger.read(an_id())
    assert row
    assert (row.attempt, row.state) == (1, State.EXECUTED)


PARTY = Party(owner=OWNER, target="http-request target")
CLOSED = opened(PARTY, NOW, "HTTP 503")
COMEBACK = evolve(CLOSED, every=SECOND)
LIMIT = Block(kind=BlockKind.LIMIT, party=PARTY, revision=1, since=NOW, reason="a limit")
CROWD = Block(kind=BlockKind.CROWD, party=PARTY, revision=1, since=NOW, reason=CROWDED, until=NOW)
reasons = st.sampled_from([suspended(PARTY, NOW, "maintenance", "eve"), CLOSED, COMEBACK, LIMIT, CROWD])


@given(reasons, st.integers(1, HOUR), st.integers(-DAY, DAY))
def test_what_waits_for_its_target_waits_on_unless_its_delay_is_longer(why: Block, wait: Millis, left: Millis) -> None:
    """A delay that is held here does not end what it waits for: another look may find that over, and others gone by."""
    message = an_executor_message()
    found = Later(message=message, at=NOW + wait, why=why)
    later = decide_later(message, a_claim(retry_at=NOW + left), found, NOW)
    assert later == (found if left <= MAX_HOLD else Later(message=message, at=NOW + left, why=None))


@given(st.none() | reasons, st.integers(1, HOUR))
def test_what_was_taken_waits_for_room_alone(why: Block | None, wait: Millis) -> None:
    """It was in time by the clock of its executor, which may have made it."""
    message = an_executor_message()
    taken_row = a_claim(retry_at=NOW + HOUR, arrival=Arrival.TAKEN)
    assert decide_later(message, taken_row, None, NOW) is None
    found = Later(message=message, at=NOW + wait, why=why)
    assert decide_later(message, taken_row, found, NOW) == (found if why in (COMEBACK, LIMIT, CROWD) else None)


def test_a_first_attempt_has_no_delay() -> None:
    assert decide_later(an_executor_message(), a_claim(), None, NOW) is None


@given(reasons, st.integers(1, DAY), st.integers(0, DAY))
def test_what_waits_is_looked_at_again_as_soon_as_it_is_too_old_at_the_latest(
    why: Block, wait: Millis, age: Millis
) -> None:
    """A suspension gives nothing up: there it asks when it would anyway."""
    message, policy = an_executor_message(), RetryPolicy(max_age=HOUR)
    row = a_claim(age_from=NOW - age)
    again = at_last(message, row, Later(message=message, at=NOW + wait, why=why), policy, NOW)
    assert again == (NOW + wait if why.kind is BlockKind.SUSPENSION else min(NOW + wait, NOW - age + HOUR + 1))
    assert at_last(message, row, Later(message=message, at=NOW + wait, why=None), policy, NOW) == NOW + wait


def test_a_hop_is_no_attempt_and_belongs_to_one_message() -> None:
    """Whoever died before the send sends another; of those, too, the first that arrives goes on."""
    row = hopped(retried(a_claim(), "d2", NOW, retry_at=NOW + DAY), "d3", NOW, after="d2")
    early = an_executor_message(fence="d2", attempt=2)
    following = evolve(early, fence="d3", generation=2)
    assert (row.attempt, row.retry_at, row.at, row.generation) == (2, NOW + DAY, NOW, 2)
    assert decide_attempt(following, row) == Attempt()
    assert decide_attempt(early, row) == SendNext()
    assert isinstance(decide_attempt(an_executor_message(), row), Refuse), "the one whose attempt has failed"
    again = contested(row)
    assert decide_attempt(following, again) == decide_attempt(evolve(following, fence="d4"), again) == Take()
    assert decide_attempt(early, again) == SendNext(), "it may be deleted by another delivery of it"
    assert decide_attempt(evolve(early, generation=0), again) == Take(), "of a version that does not count"
    assert decide_attempt(early, evolve(again, generation=0)) == Take(), "its row is of such a version"
    assert decide_attempt(following, evolve(again, stopped_at=NOW)) == DropStopped(), "and not only when it is due"
    after = hopped(again, "d5", NOW, after="d4")
    assert isinstance(decide_attempt(early, after), Refuse)
    assert isinstance(decide_attempt(following, after), Refuse)


# ------------------------------------------------------------ what follows an attempt that failed

policies = st.builds(
    RetryPolicy,
    max_attempts=attempts,
    max_age=st.integers(1, MAX_AGE_SECONDS).map(lambda seconds: seconds * SECOND),
    first=st.integers(1, 86_400),
    factor=st.floats(1, 10),
    longest=st.integers(1, MAX_AGE_SECONDS),
)
asked_for = st.none() | st.integers(0, 20 * DAY // SECOND)


def a_failure(attempt: int = 1, late: Millis = 0) -> Made:
    message = evolve(an_executor_message(), attempt=attempt)
    return Made(message=message, result=Retry(detail="HTTP 503"), lateness=late)


@given(policies, attempts, st.integers(0, 29 * DAY), st.integers(0, 14 * DAY), asked_for)
def test_retries_end(policy: RetryPolicy, attempt: int, late: Millis, age: Millis, asked: int | None) -> None:
    """By their number, or when the next one would be too late; nothing else ends them.

    If the target asks for a delay that is too long, the last attempt is made at the last moment, unless the schedule's
    own delay is too long as well.
    """
    made = a_failure(attempt, late + age)
    decision = decide_next(made, Retry(detail="HTTP 503", after_seconds=asked), policy, NOW + late)
    delay = retry_seconds(policy, made.message.schedule.id, attempt, asked)
    left = min(policy.max_age - age, STALE_AFTER - late - age) // SECOND
    shortest = min(delay, retry_seconds(policy, made.message.schedule.id, attempt))
    if attempt < policy.max_attempts and shortest <= left:
        assert decision == TryAgain(min(delay, left))
    else:
        assert isinstance(decision, GiveUp)
        assert "HTTP 503" in decision.reason
        assert f"gave up after {attempt} attempt" in decision.reason
        assert "maxAgeSeconds" in decision.reason or "29 days" in decision.reason or attempt >= policy.max_attempts


@pytest.mark.parametrize(
    ("attempt", "policy", "late", "age", "reason"),
    [
        (10, RetryPolicy(), 0, 0, "gave up after 10 attempts: HTTP 503"),
        (
            1,
            RetryPolicy(max_age=HOUR, first=7200, longest=7200),
            0,
            0,
            "gave up after 1 attempt, as maxAgeSeconds (3600) ends before the next one in … s: HTTP 503",
        ),
        (
            2,
            RetryPolicy(max_age=14 * DAY, first=86_400, longest=86_400),
            20 * DAY,
            9 * DAY,
            "gave up after 2 attempts, as 29 days from its due time end before the next one in … s: HTTP 503",
        ),
    ],
)
def test_the_reason_says_which_limit_it_was(
    attempt: int, policy: RetryPolicy, late: Millis, age: Millis, reason: str
) -> None:
    found = decide_next(a_failure(attempt, late + age), Retry(detail="HTTP 503"), policy, NOW + late)
    assert isinstance(found, GiveUp)
    assert re.sub(r"in \d+ s", "in … s", found.reason) == reason


@given(st.integers(0, 29 * DAY - HOUR))
def test_however_late_the_first_attempt_is_its_age_begins_with_it(late: Millis) -> None:
    """After an outage nothing has expired: the age does not count from the point in time."""
    made = a_failure(late=late)
    row = a_claim(lateness=late)
    assert attempted_at(made) == age_from(made, row) == NOW + late
    assert isinstance(decide_next(made, Retry(detail="x"), RetryPolicy(max_age=MINUTE), NOW + late), TryAgain)


def test_the_age_goes_on_counting_from_the_first_attempt() -> None:
    """Rows of an older version do not say when that was; its lateness does."""
    made = a_failure(attempt=3, late=2 * HOUR)
    assert age_from(made, a_claim(age_from=NOW + 5, lateness=7)) == NOW + 5
    assert age_from(made, a_claim(lateness=7)) == NOW + 7


@given(attempts)
def test_a_refusal_is_final(attempt: int) -> None:
    assert decide_next(a_failure(attempt), Refused("HTTP 404"), RetryPolicy(), NOW) == GiveUp("HTTP 404")


@pytest.mark.parametrize("asked", [77, 7200])
def test_the_delay_that_a_target_asks_for_is_passed_on(asked: int) -> None:
    """Also one of hours."""
    decision = decide_next(a_failure(), Retry(detail="HTTP 429", after_seconds=asked), RetryPolicy(), NOW)
    assert decision == TryAgain(asked)


@given(st.integers(0, YEAR))
def test_lateness(late: Millis) -> None:
    assert lateness(an_executor_message(NOW), NOW + late) == late


def test_a_message_comes_before_its_turn_and_not_before_a_retry() -> None:
    """By a second: a turn that it comes too late for is missed. An attempt that is later than its turns has none."""
    message = evolve(an_executor_message(), slots=(Slot(line="l", at=NOW + 10_500),))
    assert hop_seconds(message, NOW + 10_500, NOW) == 9
    assert hop_seconds(message, NOW + 20_500, NOW) == 21
    assert hop_seconds(an_executor_message(), NOW + 10_500, NOW) == 11
