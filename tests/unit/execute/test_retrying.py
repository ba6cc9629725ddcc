"""A schedule with a retry policy of its own: delays of hours, an age, and nothing that is used up by waiting."""

import json

import pytest
from attrs import evolve

from delayer.accept.rules.status import Status
from delayer.accept.use_cases.cancel import Stop, Stopped
from delayer.accept.use_cases.lookup import Lookup
from delayer.actions.rules.model import Done, Result, Retry
from delayer.engines.memory import AtOnce
from delayer.engines.ports import ReceivedMessage
from delayer.execute.rules import Made, carried
from delayer.ledger.model import LedgerChange, LedgerRow, State
from delayer.ledger.ports import Written
from delayer.ledger.rules import retried, stopped
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis
from delayer.schedule.messages import encode
from delayer.schedule.schedule import Schedule
from delayer.wiring.build import build
from tests.looking import put_row
from tests.samples import ACTION, NOW, a_claim, an_executor_message, an_id
from tests.world import START, World

BUSY = Retry(detail="HTTP 503")
OWNER = "owner"


def failing(*answers: Result, due: Millis = START + SECOND, **retry: object) -> tuple[World, Schedule]:
    """A schedule with this policy, before anything of it has happened."""
    world = World()
    world.ticking = False
    world.target.answers = list(answers)
    schedule = world.post(due, retry=retry)
    assert schedule
    return world, schedule


def the_row(world: World, schedule: Schedule) -> LedgerRow:
    row = world.row(schedule)
    assert row
    return row


def shown(world: World, schedule: Schedule) -> Status:
    found = build(Lookup, world.ports("lookup")).by_id(schedule.id, OWNER)
    assert isinstance(found, Status)
    return found


# ------------------------------------------------------------ long delays


def test_a_delay_of_a_day_is_kept_and_costs_a_write_for_each_quarter_of_an_hour() -> None:
    """Nobody receives a message twice: what is merely early does not become a suspect."""
    world, schedule = failing(BUSY, Done("HTTP 200"), maxAgeSeconds=172_800, backoff={"first": 86_400})
    world.run_until(START + 2 * DAY)
    first, second = world.reached(schedule)
    planned = next(row.retry_at for _, row in world.feed.ledger if row.retry_at)
    assert DAY * 3 // 4 <= planned - first <= DAY
    assert 0 <= second - planned < SECOND
    row = the_row(world, schedule)
    assert (row.state, row.attempt) == (State.EXECUTED, 2)
    hops = -(-(planned - first) // (900 * SECOND)) - 1
    assert 70 < hops < 96
    assert len(world.feed.ledger) == len(["claim", "retry", "outcome"]) + hops
    assert world.http_queue.sent == len(["hand-over", "retry"]) + hops
    assert world.suspects.sent == 0
    world.check_nothing_left()


@pytest.mark.parametrize("asked", [901, 902, 1800, 7200])
def test_the_delay_that_a_target_asks_for_is_kept(asked: int) -> None:
    """No longer cut to what SQS can delay; and not shortened by the second that is left after a message."""
    world, schedule = failing(Retry(detail="HTTP 429", after_seconds=asked), Done("HTTP 200"))
    world.run_until(START + DAY)
    first, second = world.reached(schedule)
    assert asked * SECOND <= second - first < (asked + 1) * SECOND


def test_a_message_that_is_a_little_early_is_held_and_reads_the_ledger_again() -> None:
    """Meanwhile its owner may have stopped it."""
    world = World()
    message = an_executor_message(fence="d2", attempt=2)
    waiting = retried(a_claim(), "d2", NOW, retry_at=NOW + 2 * SECOND)
    for row, reached in ((waiting, 1), (stopped(waiting, NOW), 0)):
        world = World()
        put_row(world.ledger, waiting)
        clock = Stopping(world, row) if row is not waiting else world.clock
        execute = evolve(world.execute, clock=clock, workers=AtOnce(clock))
        assert execute([ReceivedMessage(message_id="m", body=encode(message))]) == []
        assert [at for at, _ in world.target.reached] == [NOW + 2 * SECOND] * reached
        assert world.http_queue.sent == 0


class Stopping:
    """A clock that somebody does not wait for: the row changes while a function sleeps."""

    def __init__(self, world: World, row: LedgerRow) -> None:
        self.world, self.row = world, row

    def now(self) -> Millis:
        return self.world.clock.now()

    def sleep_until(self, instant: Millis) -> None:
        current = self.world.ledger.read(self.row.schedule_id)
        assert self.world.ledger.write([LedgerChange(row=self.row, over=current)]) == [Written()]
        self.world.clock.sleep_until(instant)


def test_a_stop_ends_a_long_delay_within_a_quarter_of_an_hour() -> None:
    world, schedule = failing(BUSY, backoff={"first": 36_000})
    world.run_until(START + HOUR)
    assert isinstance(build(Stop, world.ports("stop"))(schedule.id, OWNER), Stopped)
    world.run_until(START + HOUR + 15 * MINUTE + SECOND)
    row = the_row(world, schedule)
    assert (row.state, row.attempt) == (State.DROPPED, 1)
    assert row.detail == "stopped by its owner; before that: HTTP 503"
    assert len(world.reached(schedule)) == 1


def test_an_outage_during_a_long_delay_uses_up_nothing() -> None:
    """Its message comes again until the queue takes the next one; then there is one attempt, and not one for each."""
    world, schedule = failing(BUSY, Done("HTTP 200"), backoff={"first": 7200})
    world.run_until(START + 20 * MINUTE)
    send = world.http_queue.send
    lost = list[int]()

    def no_answer(messages: object) -> list[int]:
        send(messages)  # type: ignore[arg-type] # it arrives, and nobody hears of it
        lost.append(1)
        return [0]

    world.execute = evolve(world.execute, own_queue=type("Q", (), {"send": staticmethod(no_answer)})())
    world.run_until(START + 80 * MINUTE)
    world.execute = evolve(world.execute, own_queue=world.http_queue)
    assert 3 < len(lost) < 200
    world.run_until(START + DAY)
    assert len(world.reached(schedule)) == 2
    assert the_row(world, schedule).state is State.EXECUTED
    world.check_nothing_left()


# ------------------------------------------------------------ its age


def test_when_the_age_would_be_exceeded_it_fails_then_and_its_body_is_stored() -> None:
    world, schedule = failing(*[BUSY] * 9, maxAgeSeconds=3600, backoff={"first": 1200, "factor": 2, "max": 9999})
    world.run_until(START + DAY)
    row = the_row(world, schedule)
    assert row.state is State.FAILED
    assert row.detail.startswith("gave up after 3 attempts, as maxAgeSeconds (3600) ends before the next one in ")
    assert row.detail.endswith(": HTTP 503")
    assert row.at - world.reached(schedule)[2] < SECOND, "and not only when its time is over"
    assert len(world.store.list("failed/", "", 10)) == 1


def test_after_an_outage_of_days_the_first_attempt_is_made_and_the_age_begins() -> None:
    """It counts from the first attempt, and not from the point in time."""
    world, schedule = failing(BUSY, BUSY, Done("HTTP 200"), maxAgeSeconds=60)
    world.clock.sleep_until(START + 3 * DAY)
    world.run_until(START + 3 * DAY + HOUR)
    assert the_row(world, schedule).state is State.EXECUTED
    assert len(world.reached(schedule)) == 3
    assert the_row(world, schedule).age_from == world.reached(schedule)[0] >= START + 3 * DAY


def test_an_attempt_that_was_planned_is_made_however_late_its_message_comes() -> None:
    world, schedule = failing(BUSY, BUSY, maxAgeSeconds=60)
    world.run_until(START + SECOND + 500)
    world.clock.sleep_until(START + DAY)
    world.run_until(START + DAY + HOUR)
    assert len(world.reached(schedule)) == 2
    assert "maxAgeSeconds (60)" in the_row(world, schedule).detail


def test_an_outcome_that_was_carried_for_long_has_the_age_of_its_attempt() -> None:
    """An outage of the ledger ends no schedule."""
    world = World()
    put_row(world.ledger, a_claim())
    message = an_executor_message(retry=json.dumps({"maxAgeSeconds": 60}))
    made = Made(message=message, result=Retry(detail="HTTP 503", after_seconds=60), lateness=5)
    world.clock.sleep_until(NOW + DAY)
    assert world.execute([ReceivedMessage(message_id="m", body=encode(carried(made)))]) == []
    row = world.ledger.read(an_id())
    assert row
    assert (row.state, row.attempt, row.age_from) == (State.CLAIMED, 2, NOW + 5)
    assert row.retry_at == NOW + DAY + 60 * SECOND


# ------------------------------------------------------------ older schedules


def older(world: World, attempts: int) -> Schedule:
    """Stored before there was a field `retry`."""
    schedule = world.post(START + HOUR)
    assert schedule
    definition = evolve(schedule.definition, action=json.dumps({**ACTION, "maxAttempts": attempts}))
    before = evolve(schedule, definition=definition)
    world.table.put(before)
    return before


def test_the_attempts_of_an_older_schedule_still_count_when_it_fires_and_when_it_is_redriven() -> None:
    world = World()
    world.target.answers = [BUSY] * 20
    schedule = older(world, 3)
    world.run_until(START + 2 * HOUR)
    assert len(world.reached(schedule)) == 3
    assert the_row(world, schedule).detail == "gave up after 3 attempts: HTTP 503"
    [key] = world.store.list("failed/", "", 10)
    world.redrive.redrive(key)
    world.run_until(START + 3 * HOUR)
    assert len(world.reached(schedule)) == 6
    assert the_row(world, schedule).age_from >= START + 2 * HOUR, "and its age counts anew"


def test_the_attempts_of_an_older_schedule_still_count_when_it_is_changed() -> None:
    """A change takes the definition along as it is, without asking the API of today."""
    world = World()
    world.target.answers = [BUSY] * 20
    schedule = older(world, 2)
    answer = world.replace.by_id(schedule.id, OWNER, point_in_time=START + 30 * MINUTE, payload=None)
    new = world.stored(answer.schedule.id)  # type: ignore[union-attr] # it was replaced
    assert new.id != schedule.id
    world.run_until(START + 2 * HOUR)
    assert len(world.reached(new)) == 2
    assert world.reached(schedule) == []


def test_a_policy_that_cannot_be_read_is_a_dead_letter_before_its_claim() -> None:
    world = World()
    schedule = world.post(START + HOUR)
    assert schedule
    world.table.put(evolve(schedule, definition=evolve(schedule.definition, retry='{"maxAttempts": "many"}')))
    world.run_until(START + 2 * HOUR)
    assert world.reached(schedule) == []
    row = the_row(world, schedule)
    assert (row.state, row.claimed_at) == (State.DEAD_LETTERED, 0)
    assert row.detail.startswith("a retry policy that cannot be read")


# ------------------------------------------------------------ when the next attempt is


def test_the_next_attempt_is_shown_while_it_is_waited_for() -> None:
    """In the schedule and in its history; what has ended, or was stopped, waits for none."""
    world, schedule = failing(BUSY, Done("HTTP 200"), backoff={"first": 7200})
    world.run_until(START + SECOND - 1)
    assert shown(world, schedule).next_attempt_at == 0
    world.run_until(START + HOUR)
    world.update_journal()
    found, planned = shown(world, schedule), the_row(world, schedule).retry_at
    assert found.next_attempt_at == planned > START + HOUR
    assert [event.next_attempt_at for event in found.history][-1] == planned
    assert [str(event.type) for event in found.history].count("claimed-again") == 0, "a hop is no event"
    assert isinstance(build(Stop, world.ports("stop"))(schedule.id, OWNER), Stopped)
    assert shown(world, schedule).next_attempt_at == 0


def test_what_is_executed_after_a_long_delay_waits_for_nothing() -> None:
    world, schedule = failing(BUSY, Done("HTTP 200"), backoff={"first": 7200})
    world.run_until(START + DAY)
    world.update_journal()
    found = shown(world, schedule)
    assert found.next_attempt_at == 0
    assert [bool(event.next_attempt_at) for event in found.history] == [False, False, False, True, False]


def test_a_message_in_the_queue_says_nothing_of_the_attempts_of_its_hops() -> None:
    """Each has the number of the attempt that it is for."""
    world, _ = failing(BUSY, backoff={"first": 7200})
    world.run_until(START + HOUR)
    [message] = world.http_queue.messages
    assert json.loads(message.body)["attempt"] == 2
