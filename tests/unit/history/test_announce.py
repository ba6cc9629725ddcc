"""Announcing: every transition is published, and what could not be comes again."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import define, evolve

from delayer.engines.memory import MemoryObserver
from delayer.engines.ports import Announcement, nobody_asks
from delayer.history import cloud_events
from delayer.history.announce import Announce
from delayer.history.model import LifecycleEvent, LifecycleRecord
from delayer.ledger.model import EventType
from delayer.schedule.instants import DAY, MINUTE, format_instant
from delayer.schedule.schedule_id import Address, IdKind, mint
from delayer.schedule.tables import SCHEDULES
from tests.fakes.messaging import MemoryTopic
from tests.samples import KEY, NOW, OWNER, RANDOMNESS
from tests.unit.accept.use_cases.test_accept import accepted, body
from tests.unit.recovery.test_canary import CanaryWorld
from tests.world import START, World


@define
class Partly(MemoryTopic):
    """Takes some of what is published."""

    untaken: Sequence[int] = ()

    def publish(self, announcements: Sequence[Announcement], refused: Callable[[int], None] = nobody_asks) -> list[int]:
        super().publish([one for at, one in enumerate(announcements) if at not in self.untaken], refused)
        return list(self.untaken)


def an_announce(topic: MemoryTopic, observer: MemoryObserver | None = None) -> Announce:
    return Announce(topic=topic, observer=observer or MemoryObserver(), event_source="urn:delayer:test")


def records(number: int) -> list[LifecycleRecord]:
    """Of so many schedules; with some in between that report nothing."""
    world = World()
    for at in range(number):
        world.post(START + DAY + at)
    reported = [one for one in world.lifecycle_records() if one.event]
    return [each for one in reported for each in (LifecycleRecord(sequence=f"-{one.sequence}"), one)]


def events_of(topic: MemoryTopic) -> list[LifecycleEvent]:
    return [cloud_events.decode(one.text) for one in topic.published]


def test_all_are_published_and_nothing_comes_again() -> None:
    topic, observer = MemoryTopic(), MemoryObserver()
    assert an_announce(topic, observer)(records(12)) == []
    assert [event.type for event in events_of(topic)] == [EventType.SCHEDULED] * 12
    assert observer.counts["Announced"] == 12


def test_what_is_not_published_comes_again() -> None:
    """By its sequence number; Lambda begins again at the lowest, and the others are published once more."""
    given = records(5)
    topic, observer = Partly(untaken=(1, 3)), MemoryObserver()
    reported = [one.sequence for one in given if one.event]
    assert an_announce(topic, observer)(given) == [reported[1], reported[3]]
    assert observer.counts["Announced"] == 3


def test_nothing_to_tell_is_no_request() -> None:
    class Never(MemoryTopic):
        def publish(
            self, announcements: Sequence[Announcement], refused: Callable[[int], None] = nobody_asks
        ) -> list[int]:
            raise AssertionError(announcements)

    assert an_announce(Never())([LifecycleRecord(sequence="1")]) == []


def test_what_the_topic_refuses_is_counted() -> None:
    """It is lost for every history: an alarm rings. Its neighbours are published, and nothing comes again."""
    topic, observer = MemoryTopic(at_most=1), MemoryObserver()
    assert an_announce(topic, observer)(records(2)) == []
    assert (observer.counts["Announced"], observer.counts["Unannounced"]) == (0, 2)


def test_what_cannot_be_published_is_counted_and_logged_without_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds up nobody: its neighbours are published."""
    encode = cloud_events.encode
    errors = iter([ValueError("what a client sent"), None])

    def failing(event: LifecycleEvent, source: str) -> str:
        if error := next(errors):
            raise error
        return encode(event, source)

    monkeypatch.setattr(cloud_events, "encode", failing)
    topic, observer = MemoryTopic(), MemoryObserver()
    assert an_announce(topic, observer)(records(2)) == []
    assert (observer.counts["Announced"], observer.counts["Unannounced"]) == (1, 1)
    [(event, _, facts)] = observer.lines
    assert (event, facts["error"]) == ("an event that cannot be published", "ValueError")
    assert "what a client sent" not in str(facts)


def test_a_canary_has_no_events() -> None:
    """Neither for its record nor for its row in the ledger."""
    world = CanaryWorld()
    world.send_canary()
    world.run_until(START + MINUTE)
    reported = world.lifecycle_records()
    assert {one.event.type for one in reported if one.event} >= {EventType.SCHEDULED, EventType.EXECUTED}
    topic, observer = MemoryTopic(), MemoryObserver()
    assert an_announce(topic, observer)(reported) == []
    assert topic.published == []
    assert observer.counts["Announced"] == 0


def test_a_record_that_cannot_be_read_is_passed_over_with_a_warning() -> None:
    topic, observer = MemoryTopic(), MemoryObserver()
    assert an_announce(topic, observer)([LifecycleRecord(sequence="1", problem="malformed"), *records(1)]) == []
    assert len(topic.published) == 1
    assert observer.warnings, "somebody should look at it"


def test_a_cloud_event_with_what_subscribers_filter_by() -> None:
    world = World()
    schedule = accepted(world, body(group="customer-4711", payload={"a": 1}), owner="alice")
    topic = MemoryTopic()
    an_announce(topic)(world.lifecycle_records())
    [announcement] = topic.published
    assert dict(announcement.attributes) == {
        "type": "delayer.schedule.scheduled",
        "state": "scheduled",
        "owner": "alice",
        "group": "customer-4711",
    }
    published = json.loads(announcement.text)
    data = published.pop("data")
    assert published == {
        "specversion": "1.0",
        "id": world.feed.records[SCHEDULES][0].sequence,
        "source": "urn:delayer:test",
        "type": "delayer.schedule.scheduled",
        "subject": schedule.id,
        "time": format_instant(START),
        "datacontenttype": "application/json",
        "sequence": "00000",
    }
    assert (data["scheduleId"], data["payload"], data["group"]) == (schedule.id, {"a": 1}, "customer-4711")


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (IdKind.PLAIN, None),
        (IdKind.OCCURRENCE, "occurrence"),
        (IdKind.RELAXED_OCCURRENCE, "relaxed-occurrence"),
        (9, None),
    ],
)
def test_subscribers_filter_by_the_kind_of_the_schedule(kind: Any, shown: str | None) -> None:
    """The event does not wait for that of a later version."""
    record = next(one for one in records(1) if one.event)
    assert record.event
    made = mint(Address(due=NOW, shard=0), OWNER, point_in_time=NOW, key=KEY, randomness=RANDOMNESS, kind=kind)
    topic = MemoryTopic()
    an_announce(topic)([evolve(record, event=evolve(record.event, schedule_id=made))])
    [announcement] = topic.published
    assert dict(announcement.attributes).get("kind") == shown
