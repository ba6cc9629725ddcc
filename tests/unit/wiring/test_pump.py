"""The pump of a stack in memory: what is given to which function, in which order, and again after a failure."""

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import define, field

from delayer.engines.filter_policy import FilterPolicy, lets_through
from delayer.engines.memory import ManualClock
from delayer.engines.ports import Announcement, Outgoing
from delayer.schedule.instants import MINUTE, SECOND, Millis
from delayer.wiring.manifest import MANIFEST
from delayer.wiring.pump import Batch, Minutes, Pump, QueueSource
from tests.fakes.messaging import MemoryQueue, SubscribedTopic
from tests.fakes.sources import LifecycleSource
from tests.world import START, World

Ran = list[tuple[Millis, str, list[Any]]]  # when, which function, with what


@define
class Stage:
    """A pump over some sources. What a function answers is taken from `answers`, one after the other; else it is []."""

    clock: ManualClock = field(factory=lambda: ManualClock(0))
    ran: Ran = field(factory=list)
    answers: list[list[str] | None] = field(factory=list)

    def pump(self, *sources: Any) -> Pump:
        return Pump(sources=[*sources], run=self.run, wait_until=self.clock.sleep_until)

    def run(self, batch: Batch) -> None:
        self.ran.append((self.clock.now(), batch.function, [getattr(one, "body", one) for one in batch.items]))
        batch.settle(self.answers.pop(0) if self.answers else [])

    def queue(self, name: str, *bodies: str, delay: int = 0) -> MemoryQueue:
        queue = MemoryQueue(clock=self.clock, name=name, visibility=MINUTE)
        queue.send([Outgoing(body=body, delay_seconds=delay) for body in bodies])
        return queue


def test_what_is_due_at_once_comes_in_the_order_in_which_it_was_sent() -> None:
    """And before it what was sent later, and is due earlier."""
    stage = Stage()
    queue = stage.queue("q")
    for number in range(5):
        queue.add(str(number), 10 - number // 4)
    stage.pump(QueueSource(function="f", queue=queue, at_most=3)).run_until(20)
    assert stage.ran == [(9, "f", ["4"]), (10, "f", ["0", "1", "2"]), (10, "f", ["3"])]
    assert (queue.next_visible(), queue.messages) == (None, [])


def test_one_source_is_asked_after_the_other_until_none_has_anything() -> None:
    stage = Stage()
    many = QueueSource(function="many", queue=stage.queue("many", *"abc"), at_most=2)
    few = QueueSource(function="few", queue=stage.queue("few", *"xy"), at_most=1)
    pump = stage.pump(many, few)
    assert pump.step()
    assert stage.ran == [(0, "many", ["a", "b"]), (0, "few", ["x"])]
    pump.settle()
    assert stage.ran[2:] == [(0, "many", ["c"]), (0, "few", ["y"])]
    assert not pump.step()
    assert pump.is_idle()


def test_each_thing_happens_at_its_own_time() -> None:
    stage = Stage()
    later = QueueSource(function="later", queue=stage.queue("later", "b", delay=7), at_most=10)
    sooner = QueueSource(function="sooner", queue=stage.queue("sooner", "a", delay=3), at_most=10)
    pump = stage.pump(later, sooner)
    assert pump.next_at() == 3 * SECOND
    pump.run_until(5 * SECOND)
    assert stage.clock.now() == 5 * SECOND
    pump.run_until(10 * SECOND)
    assert stage.ran == [(3 * SECOND, "sooner", ["a"]), (7 * SECOND, "later", ["b"])]


@pytest.mark.parametrize("answer", [["q-1"], None])
def test_a_message_that_failed_comes_again_after_its_visibility_timeout(answer: list[str] | None) -> None:
    stage = Stage(answers=[answer])
    stage.pump(QueueSource(function="f", queue=stage.queue("q", "a"), at_most=10)).run_until(2 * MINUTE)
    assert stage.ran == [(0, "f", ["a"]), (MINUTE, "f", ["a"])]


def test_a_message_that_was_put_off_counts_as_never_received() -> None:
    stage = Stage()
    queue = stage.queue("q", "a", "b")
    queue.put_off(queue.receive(1), 7 * SECOND + 1)
    assert queue.next_visible() == 0, "the other one"
    assert [one.body for one in queue.receive()] == ["b"]
    stage.clock.move(7 * SECOND)
    assert queue.receive() == []
    stage.clock.move(1)
    assert [(one.body, one.receives) for one in queue.receive()] == [("a", 1)]


def test_what_is_stopped_is_given_nothing() -> None:
    stage = Stage()
    queue = stage.queue("q", "a")
    pump = stage.pump(QueueSource(function="f", queue=queue, at_most=10), Minutes(function="m", clock=stage.clock))
    pump.stopped |= {"f", "m"}
    pump.run_until(MINUTE)
    assert stage.ran == []
    assert not pump.is_idle()
    pump.stopped.clear()
    assert not pump.step("others")
    assert pump.step("f")


def test_each_minute_the_first_time_at_once() -> None:
    stage = Stage(clock=ManualClock(START))
    pump = stage.pump(Minutes(function="m", clock=stage.clock))
    pump.run_until(START + 2 * MINUTE)
    assert [at - START for at, _, _ in stage.ran] == [0, MINUTE, 2 * MINUTE]
    assert pump.is_idle(), "another minute is no reason to wait"


@pytest.mark.parametrize(
    ("policy", "attributes", "comes"),
    [
        ({}, {}, True),
        ({"kind": ["a", "b"]}, {"kind": "b"}, True),
        ({"kind": ["a", "b"]}, {"kind": "c"}, False),
        ({"kind": ["a"]}, {}, False),
        ({"kind": [{"anything-but": ["a"]}]}, {"kind": "b"}, True),
        ({"kind": [{"anything-but": ["a"]}]}, {"kind": "a"}, False),
        ({"kind": [{"anything-but": ["a"]}]}, {}, False),
        ({"kind": [{"exists": False}]}, {}, True),
        ({"kind": [{"exists": False}]}, {"kind": "a"}, False),
        ({"kind": ["a"], "type": ["t"]}, {"kind": "a", "type": "u"}, False),
    ],
)
def test_a_filter_policy_lets_through_what_sns_would(
    policy: FilterPolicy, attributes: Mapping[str, str], comes: bool
) -> None:
    """https://docs.aws.amazon.com/sns/latest/dg/sns-subscription-filter-policies.html"""
    assert lets_through(policy, attributes) is comes


def test_the_topic_fills_the_queues_that_get_an_event() -> None:
    stage, refused = Stage(), list[int]()
    some, everything = stage.queue("some"), stage.queue("everything")
    topic = SubscribedTopic(queues=((some, {"kind": ["a"]}), (everything, {})), at_most=1)
    topic.publish([Announcement(text=one, attributes=(("kind", one),)) for one in ("a", "b", "long")], refused.append)
    assert [[one.body for one in queue.messages] for queue in (some, everything)] == [["a"], ["a", "b"]]
    assert (refused, topic.published) == ([2], [])


def test_the_sources_are_those_of_the_manifest_in_its_order() -> None:
    """Calls and what somebody invokes have none."""
    found = [source.function for source in World().sources({one.function for one in MANIFEST})]
    assert found == [one.function for one in MANIFEST if one.use]


def test_a_stream_begins_again_at_the_lowest_that_failed() -> None:
    """Each shard by itself."""
    world, stage = World(), Stage()
    for _ in range(4):
        world.post(START + MINUTE)
    [source] = world.sources({"stream-enqueuer"})
    pump = stage.pump(source)
    first = {batch.shard: [one.sequence for one in batch.items] for batch in source.batches()}
    assert set(first) == {0, 1}
    stage.answers = [[first[0][-1]], []]
    pump.step()
    stage.ran.clear()
    pump.step()
    [(_, function, records)] = stage.ran
    assert (function, [one.sequence for one in records]) == ("stream-enqueuer", first[0][-1:])
    assert pump.is_idle()


def test_who_announces_begins_again_at_the_lowest_that_failed() -> None:
    world, stage = World(), Stage()
    for _ in range(3):
        world.post(START + MINUTE)
    [source] = world.sources({"stream-lifecycle"})
    pump = stage.pump(source)
    assert isinstance(source, LifecycleSource)
    sequences = [one.sequence for one in source.unsettled()]
    for answer in ([sequences[1]], None, []):
        stage.answers = [answer]
        pump.step()
    assert [[one.sequence for one in records] for _, _, records in stage.ran] == [
        sequences,
        sequences[1:],
        sequences[1:],
    ]
    assert pump.is_idle()
