"""The journal: whatever comes, and however often, the history leads to where the schedule is."""

import random
from collections.abc import Sequence

import pytest
from attrs import evolve

from delayer.accept.rules.status import Status
from delayer.actions.rules.model import Done, Refused, Retry
from delayer.engines.ports import Outgoing, ReceivedMessage
from delayer.history.model import fold
from delayer.history.ports import JournalEntry
from delayer.history.rules import whole
from delayer.history.write_journal import WriteJournal
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis
from delayer.schedule.schedule import Schedule
from tests.cfn import resources
from tests.fakes.faults import Fault, FaultPlan, faulty
from tests.fakes.messaging import MemoryQueue
from tests.looking import all_items, empty
from tests.unit.accept.use_cases.test_cancel import a_cancel
from tests.unit.accept.use_cases.test_lookup import a_lookup
from tests.world import START, World

SWEPT = 16 * MINUTE  # later than what is sent at once


def history(world: World, schedule: Schedule) -> list[EventType]:
    return [event.type for event in whole(schedule.id, world.journal.history(schedule.id, schedule.owner))]


def lives(world: World, swept: Millis = HOUR) -> dict[str, Schedule]:
    """Schedules with all sorts of ends, each under what befalls it. One is due when it is swept, another later."""
    world.target.answers = [Retry(detail="HTTP 500"), Done("HTTP 204"), Refused("HTTP 404"), *[Done("HTTP 200")] * 20]
    posted = {
        "tried twice": world.post(START + SECOND),
        "failed": world.post(START + MINUTE),
        "swept": world.post(START + swept),
        "cancelled": world.post(START + 2 * swept),
        "waiting": world.post(START + DAY),
    }
    return {name: schedule for name, schedule in posted.items() if schedule}


def test_the_history_of_one_that_was_tried_twice() -> None:
    world = World()
    schedule = lives(world)["tried twice"]
    world.run_until(START + 30 * SECOND)
    world.update_journal()
    assert history(world, schedule) == [
        EventType.SCHEDULED,
        EventType.ENQUEUED,
        EventType.CLAIMED,
        EventType.ATTEMPT_FAILED,
        EventType.EXECUTED,
    ]
    known = whole(schedule.id, world.journal.history(schedule.id, schedule.owner))
    assert [(event.attempt, event.detail) for event in known[2:]] == [(1, ""), (1, "HTTP 500"), (2, "HTTP 204")]


@pytest.mark.parametrize("spoiled", ["enqueue", "relay", "execute", "tick", "accept"])
@pytest.mark.parametrize(
    "fault",
    [
        Fault.BEFORE,
        pytest.param(Fault.AFTER, marks=pytest.mark.thorough),
        pytest.param(Fault.CRASH_BEFORE, marks=pytest.mark.thorough),
        Fault.CRASH_AFTER,
    ],
)
def test_the_history_leads_to_the_state_whatever_fails(spoiled: str, fault: Fault) -> None:
    """A fault at one call of one function, one after the other: the events add up to what the ledger says.

    It takes some seconds, for twelve stories.
    """
    for call in range(12):
        world = World(spoiled=spoiled, plan=FaultPlan(fault, call), duplicated=call % 2 == 1)
        posted = list(lives(world, swept=SWEPT).values())
        for instant in range(START, START + 2 * SWEPT + 10 * MINUTE, 5 * MINUTE):
            world.run_until(instant)
            world.update_journal()
            for schedule in posted:
                found = a_lookup(world).by_id(schedule.id, "owner")
                assert isinstance(found, Status)
                assert fold(found.history) is found.state, (call, schedule.id, found)


def test_reordered_and_doubled() -> None:
    """At least once, in any order: the same history, and the same states."""
    chance = random.Random(4711)
    world = World()
    posted = lives(world)
    world.run_until(START + HOUR)
    a_cancel(world)(posted["cancelled"].id, "owner")
    world.run_until(START + 3 * HOUR)
    world.announce(world.lifecycle_records())
    texts = [announcement.text for announcement in world.topic.published]
    expected: dict[str, list[EventType]] = {}
    for _ in range(20):
        empty(world.journal)
        mixed = [*texts, *chance.sample(texts, len(texts) // 2)]
        chance.shuffle(mixed)
        for number, text in enumerate(mixed):
            assert world.write_journal([ReceivedMessage(message_id=str(number), body=text)]) == []
        for name, schedule in posted.items():
            found = a_lookup(world).by_id(schedule.id, "owner")
            assert isinstance(found, Status)
            assert fold(found.history) is found.state
            assert expected.setdefault(name, history(world, schedule)) == history(world, schedule)
    assert expected["cancelled"] == [EventType.SCHEDULED, EventType.CANCELLED]
    assert expected["failed"][-1] is EventType.FAILED


def test_off_then_on() -> None:
    """What happened meanwhile is missing from the history; the state is right all the time."""
    world = World()
    posted = lives(world)
    world.lifecycle_records()  # nobody reads the streams so far
    world.run_until(START + 2 * MINUTE)
    for name, state in (("tried twice", State.EXECUTED), ("failed", State.FAILED), ("swept", State.SCHEDULED)):
        found = a_lookup(world).by_id(posted[name].id, "owner")
        assert isinstance(found, Status)
        assert (found.state, found.history) == (state, ())
    world.lifecycle_records()
    world.run_until(START + 3 * HOUR)
    world.update_journal()
    found = a_lookup(world).by_id(posted["swept"].id, "owner")
    assert isinstance(found, Status)
    assert found.state is State.EXECUTED
    assert [event.type for event in found.history] == [EventType.ENQUEUED, EventType.CLAIMED, EventType.EXECUTED]


@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
def test_what_is_not_kept_comes_again(fault: Fault) -> None:
    world = World()
    schedule = lives(world)["tried twice"]
    world.run_until(START + MINUTE)
    world.announce(world.lifecycle_records())
    batch = [ReceivedMessage(message_id=str(number), body=one.text) for number, one in enumerate(world.topic.published)]
    live_count = faulty(world.live_count, FaultPlan(fault, 1))
    write = WriteJournal(journal=world.journal, live_count=live_count, observer=world.observer, keep_for=DAY)
    failed = write(batch)
    assert failed
    assert world.write_journal([one for one in batch if one.message_id in failed]) == []
    assert history(world, schedule)[-1] is EventType.EXECUTED
    assert world.live_count.live("owner", START) == 3, "swept, cancelled, waiting"


def test_what_cannot_be_read_goes_to_the_dead_letters_and_its_neighbours_go_on() -> None:
    world = World()
    schedule = world.post(START + DAY)
    assert schedule
    world.announce(world.lifecycle_records())
    good = ReceivedMessage(message_id="good", body=world.topic.published[0].text)
    assert world.write_journal([ReceivedMessage(message_id="bad", body="{}"), good]) == ["bad"]
    assert history(world, schedule) == [EventType.SCHEDULED]


def test_it_is_kept_for_so_long_after_it_was_due() -> None:
    """And thirty days longer, for as long as its end may come (ADR 0163)."""
    world = World()
    schedule = world.post(START + DAY)
    assert schedule
    world.update_journal()
    assert {item["expiresAt"] * SECOND for item in all_items(world.journal, "owner")} == {START + DAY + (90 + 30) * DAY}


def test_events_outlast_an_outage_of_a_day_beside_one_that_cannot_be_read() -> None:
    """Of the journal's table. Then they are written; the other one is all that goes to the dead-letter queue, later."""
    world = World()
    schedule = lives(world)["waiting"]
    world.announce(world.lifecycle_records())
    settings = resources("AWS::SQS::Queue")["JournalQueue"]
    dead = MemoryQueue(clock=world.clock)
    queue = MemoryQueue(
        clock=world.clock,
        visibility=settings["VisibilityTimeout"] * SECOND,
        max_receives=settings["RedrivePolicy"]["maxReceiveCount"],
        dead_letters=dead,
    )
    texts = [announcement.text for announcement in world.topic.published]
    queue.send([Outgoing(body=text) for text in ["{}", *texts]])

    class Down:
        def write(self, entries: Sequence[JournalEntry], keep_for: Millis) -> list[int]:
            return list(range(len(entries)))

    def deliver_until(instant: Millis, write: WriteJournal) -> None:
        while world.clock.now() < instant:
            if batch := queue.receive():
                queue.settle(batch, write(batch))
            world.clock.move(30 * SECOND)

    deliver_until(START + DAY, evolve(world.write_journal, journal=Down()))  # type: ignore[arg-type] # it has what is called
    assert (len(queue.messages), dead.messages) == (1 + len(texts), [])
    deliver_until(START + DAY + 5 * MINUTE, world.write_journal)
    assert history(world, schedule) == [EventType.SCHEDULED]
    assert [message.body for message in queue.messages] == ["{}"]
    deliver_until(START + 2 * DAY, world.write_journal)
    assert [message.body for message in dead.messages] == ["{}"]
