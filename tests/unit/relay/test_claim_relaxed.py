"""The stream of the relaxed table: claimed, and handed over once."""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from attrs import evolve

from delayer.accept.use_cases.accept import Accepted
from delayer.accept.use_cases.cancel import Cancelled
from delayer.accept.use_cases.replace import Replaced
from delayer.dead_letters.model import decode as decode_dead_letter
from delayer.dead_letters.model import records_in
from delayer.engines.ports import Unavailable
from delayer.ledger.model import LedgerChange, State
from delayer.ledger.ports import WriteResult
from delayer.ledger.repository import StoredLedgerInBatches
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Malformed, UnknownVersion
from delayer.schedule.messages import ExecutorMessage, decode
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import key_of
from delayer.schedule.table_change import ChangeKind, RecordChange, known
from delayer.schedule.tables import RELAXED, SCHEDULES
from tests.fakes.faults import Crash, Fault, FaultPlan, Faulty
from tests.faults.cases import every_fault
from tests.faults.scenarios import check_fired_once
from tests.looking import all_rows, expire
from tests.samples import a_relaxed_schedule
from tests.tables import on_sqlite
from tests.world import ACTION, LEASE, START, World

OWNER = "owner"


def posted(world: World, due: int = START + HOUR, **more: Any) -> Schedule:
    """A relaxed schedule, over the API."""
    body = {"pointInTime": due / 1000, "action": ACTION, "precision": "relaxed", "payload": 1, **more}
    answer = world.accept(json.dumps(body).encode(), OWNER)
    assert isinstance(answer, Accepted)
    schedule = world.records.read(key_of(answer.schedule_id))
    assert schedule is not None
    return schedule


def expired(world: World, late: int = MINUTE) -> list[RecordChange]:
    """What the TTL has removed, some time after it was due."""
    before = len(world.feed.records[RELAXED])
    world.clock.sleep_until(START + HOUR + late)
    expire(world.relaxed, world.clock.now())
    now = world.clock.now() // SECOND * SECOND
    return [evolve(change, at=now) for change in world.feed.records[RELAXED][before:]]


def handed_over(world: World) -> list[ExecutorMessage]:
    return [decode(one.body, ExecutorMessage) for one in world.http_queue.messages]


def state(world: World, schedule: Schedule) -> State | None:
    row = world.row(schedule)
    return row.state if row else None


def test_it_fires_once_it_has_expired_and_is_nowhere_else() -> None:
    world = World()
    schedule = posted(world)
    assert (len(all_rows(world.relaxed)), len(all_rows(world.table))) == (1, 0)
    world.run_until(START + 2 * HOUR)
    assert world.reached(schedule) == [], "nobody sweeps it"
    expire(world.relaxed, world.clock.now())
    world.run_until(START + 3 * HOUR)
    assert len(world.reached(schedule)) == 1
    assert state(world, schedule) is State.EXECUTED
    assert world.delayer_queue.sent == 0
    world.check_never_early()


def test_the_way_of_a_relaxed_firing_is_three_writes() -> None:
    """Put, claim, outcome. The TTL deletes free of charge."""
    world = World()
    world.ticking = False
    posted(world)
    assert [change.kind for change in world.feed.records[RELAXED]] == [ChangeKind.INSERT]
    assert world.claim_relaxed(expired(world)) == []
    world.run_until(START + 2 * HOUR)
    assert len(world.feed.rows) == 2
    assert world.feed.records[SCHEDULES] == []


def test_its_lateness_is_a_metric_of_its_own() -> None:
    """What is late by nature must not ring for what is not."""
    world = World()
    posted(world)
    world.clock.sleep_until(START + 2 * HOUR)
    expire(world.relaxed, world.clock.now())
    world.run_until(START + 2 * HOUR + MINUTE)
    assert [metric for metric, _ in world.observer.canaries] == ["RelaxedLateness"]
    assert world.observer.lateness == []
    assert world.observer.counts["Late"] == 0


def test_the_nonce_is_the_event_and_a_repeat_hands_over_once() -> None:
    world = World()
    schedule = posted(world)
    changes = expired(world)
    assert world.claim_relaxed(changes) == []
    [message] = handed_over(world)
    assert (message.nonce, message.schedule, message.attempt) == (changes[0].event, schedule, 1)
    assert world.claim_relaxed(changes) == [changes[0].sequence], "its lease is not over"
    assert len(handed_over(world)) == 1


def test_two_messages_of_one_claim_are_one_attempt() -> None:
    """The same removal again after the lease, while the first message waits: the token decides."""
    world = World()
    schedule = posted(world)
    changes = expired(world)
    assert world.claim_relaxed(changes) == []
    world.clock.move(LEASE)
    assert world.claim_relaxed(changes) == []
    assert len({message.fence for message in handed_over(world)}) == 2
    world.run_until(world.clock.now() + HOUR)
    assert len(world.reached(schedule)) == 1


def expires_late(world: World) -> None:
    """Three, two of them removed together. No minute task is needed."""
    world.ticking = False
    for due in (START + 5 * MINUTE, START + 5 * MINUTE + 7, START + 10 * MINUTE):
        world.post(due, precision="relaxed")
    for later in (HOUR, 2 * HOUR):
        world.run_until(START + later)
        expire(world.relaxed, START + 6 * MINUTE if later == HOUR else world.clock.now())
    world.run_until(START + 6 * HOUR)


def test_whatever_fails_and_wherever_it_dies_each_fires_once() -> None:
    """At each call, before and after it: no answer is lost, and a repeat goes on with its claim."""
    for case, world in every_fault("claim_relaxed", expires_late):
        check_fired_once(case, world)
        assert len(world.accepted) == 3, case


def test_each_batch_twice_and_whatever_fails() -> None:
    """While one message waits in the queue, another may be sent: one of them makes the attempt.

    Each fault is played, which takes some seconds.
    """
    for case, world in every_fault("claim_relaxed", expires_late, duplicated=True):
        check_fired_once(case, world)


def test_a_cancel_before_it_expires_is_true_and_a_late_put_brings_nothing_back() -> None:
    world = World()
    schedule = posted(world)
    assert isinstance(world.cancel(schedule.id, OWNER), Cancelled)
    assert all_rows(world.relaxed) == {}
    assert world.claim_relaxed(world.feed.records[RELAXED]) == [], "the removal by its owner"
    world.records.put(schedule)
    assert world.claim_relaxed(expired(world)) == []
    assert handed_over(world) == []
    assert world.store.objects == {}
    assert state(world, schedule) is State.CANCELLED


def test_what_was_fired_is_not_fired_again_by_a_late_put() -> None:
    world = World()
    schedule = posted(world)
    assert world.claim_relaxed(expired(world)) == []
    world.records.put(schedule)
    world.clock.move(DAY)
    assert world.claim_relaxed(expired(world, 2 * DAY)) == []
    assert len(handed_over(world)) == 1


def test_a_change_by_its_id_is_in_the_same_lane() -> None:
    world = World()
    schedule = posted(world)
    answer = world.replace.by_id(schedule.id, OWNER, point_in_time=None, payload="2")
    assert isinstance(answer, Replaced)
    assert answer.schedule.is_relaxed
    assert list(all_rows(world.relaxed)) == [key_of(answer.schedule.id)]
    assert world.claim_relaxed(world.feed.records[RELAXED]) == []
    assert world.claim_relaxed(expired(world)) == []
    assert [message.schedule.id for message in handed_over(world)] == [answer.schedule.id]


def test_what_somebody_has_deleted_is_a_dead_letter() -> None:
    world = World()
    schedule = posted(world)
    world.relaxed.delete([key_of(schedule.id)])
    assert world.claim_relaxed(world.feed.records[RELAXED]) == []
    assert state(world, schedule) is State.DEAD_LETTERED
    assert handed_over(world) == []
    [content] = world.store.objects.values()
    assert decode_dead_letter(content).schedule_id == schedule.id


def test_what_is_too_late_by_its_own_rule_is_dropped() -> None:
    world = World()
    schedule = posted(world, onLate={"after": "PT1H", "do": "drop"})
    assert world.claim_relaxed(expired(world, 2 * HOUR)) == []
    assert state(world, schedule) is State.DROPPED
    assert handed_over(world) == []


def test_nothing_is_claimed_before_its_point_in_time() -> None:
    """DynamoDB's clock may be ahead."""
    world = World()
    schedule = posted(world)
    world.clock.sleep_until(START + HOUR - SECOND)
    expire(world.relaxed, START + HOUR)
    assert world.claim_relaxed(world.feed.records[RELAXED][-1:]) == []
    row = world.row(schedule)
    assert row is not None
    assert row.claimed_at >= schedule.point_in_time


def test_one_that_cannot_be_handled_harms_only_itself() -> None:
    """Malformed: a dead letter. Of an unknown version: set aside. Its neighbours fire."""
    world = World()
    posted(world)
    good = expired(world)
    bad = [
        RecordChange(kind=ChangeKind.REMOVE, sequence=name, read=known(row), record={"sequence": name}, expired=True)
        for name, row in (("a", Malformed("no owner")), ("b", UnknownVersion("version 2")))
    ]
    assert world.claim_relaxed([bad[0], *good, bad[1]]) == []
    assert len(handed_over(world)) == 1
    kinds = sorted(key.partition("/")[0] for key in world.store.objects)
    assert kinds == ["dead-lettered", "waiting"]


def test_what_has_no_executor_waits_and_comes_back() -> None:
    world = World()
    change = RecordChange(
        kind=ChangeKind.REMOVE,
        sequence="1",
        read=known(a_relaxed_schedule(START, action='{"type":"gone"}')),
        record={"sequence": "1"},
        expired=True,
        event="e",
        at=START,
    )
    assert world.claim_relaxed([change]) == []
    [content] = world.store.objects.values()
    assert records_in(content) == [{"sequence": "1"}]
    assert world.claim_relaxed([change], brought_back=True) == ["1"], "it stays in the store"


class Down(StoredLedgerInBatches):
    """A ledger in an outage."""

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        return [Unavailable("down") for _ in changes]


@pytest.mark.parametrize(("age", "reported"), [(0, True), (HOUR, True), (HOUR + SECOND, False)])
def test_in_an_outage_it_waits_in_the_stream_for_an_hour(age: int, reported: bool) -> None:
    """Then it is set aside in the store, from where it comes back."""
    world = World()
    due = [posted(world), posted(world)]
    changes = expired(world)
    world.clock.move(age)
    firing = evolve(world.claim_relaxed.firing, ledger_in_batches=on_sqlite(Down))
    failing = evolve(world.claim_relaxed, firing=firing)
    assert failing(changes) == ([change.sequence for change in changes] if reported else [])
    assert bool(world.store.objects) is not reported
    assert [state(world, one) for one in due] == [None, None]


def test_it_is_noted_once_a_minute_that_others_pass() -> None:
    """By each environment: the note costs a write."""
    world, noted = World(), []
    for _ in range(3):
        posted(world)
    changes = expired(world)
    first = world.clock.now()
    for change, after in zip(changes, (0, MINUTE - 1, MINUTE), strict=True):
        world.clock.sleep_until(first + after)
        assert world.claim_relaxed([change]) == []
        noted.append(world.trials.passed("claim_relaxed"))
    assert noted == [first, first, first + MINUTE]


@pytest.mark.parametrize("others_pass", [True, False])
def test_one_of_which_the_function_dies_after_its_claim_is_no_needless_copy(others_pass: bool) -> None:
    """It holds up its shard for five minutes, comes back, and is given up at last, with its body: there is no other.

    But not if the function dies of all that comes: then it waits for a release that does not.
    """
    world = World()
    schedule = posted(world)
    changes = expired(world)
    world.clock.move(MINUTE + SECOND)
    for _ in range(50):
        if others_pass:
            world.trials.note_pass("claim_relaxed", world.clock.now())
        queue = {"http-request": Faulty(world.http_queue, FaultPlan(Fault.CRASH_BEFORE, 0))}
        dies = evolve(world.claim_relaxed, firing=evolve(world.claim_relaxed.firing, executor_queues=queue))
        world.control.note_heartbeat(world.clock.now())  # the precise lane works
        with suppress(Crash):
            dies(changes, brought_back=bool(world.store.objects))
        world.clock.move(2 * MINUTE)
    assert handed_over(world) == []
    stored = any(key.startswith(f"dead-lettered/{schedule.id}/") for key in world.store.objects)
    assert (state(world, schedule) is State.DEAD_LETTERED, stored) == (others_pass, others_pass)
    if not others_pass:
        world.clock.move(HOUR)
        assert world.claim_relaxed(changes, brought_back=True) == [], "the fault was the function's"
        assert len(handed_over(world)) == 1
