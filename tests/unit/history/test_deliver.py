"""Each event by itself: one that is bad harms no other, and none is lost."""

import json

import pytest

from delayer.engines.memory import ManualClock, MemoryObserver
from delayer.engines.ports import Outgoing, ReceivedMessage
from delayer.extension.harness import event
from delayer.history.deliver import Deliver
from delayer.history.received import Event, NotDone
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis
from tests.cfn import resources
from tests.fakes.messaging import MemoryQueue
from tests.samples import GOLDEN, NOW

SECRET = "a-secret-of-a-client"


def deliver_to(read: list[Event], observer: MemoryObserver) -> Deliver:
    """A subscriber that cannot take the events of one owner."""

    def subscriber(one: Event) -> None:
        if one.owner == "bad":
            raise KeyError(SECRET)
        if one.owner == "late":
            raise NotDone("HTTP 503")
        read.append(one)

    return Deliver(read=subscriber, observer=observer)


def message(one: Event) -> ReceivedMessage:
    return ReceivedMessage(message_id=one.id, body=json.dumps(one.cloud_event))


def test_only_what_raised_comes_again() -> None:
    read: list[Event] = []
    observer = MemoryObserver()
    batch = [event(owner=owner) for owner in ("a", "bad", "b", "late", "c")]
    again = deliver_to(read, observer)([message(one) for one in batch])
    assert again == [batch[1].id, batch[3].id]
    assert [one.owner for one in read] == ["a", "b", "c"]
    assert (observer.counts["Delivered"], observer.counts["Undelivered"]) == (3, 2)


def test_the_log_says_why_and_shows_nothing_that_a_client_sent() -> None:
    observer = MemoryObserver()
    bad, late = event(owner="bad"), event(owner="late")
    deliver_to([], observer)([message(bad), message(late)])
    [(_, first, facts), (_, _, reason)] = [line for line in observer.lines if line[0] == "the subscriber raised"]
    assert (first, facts["eventId"], facts["error"]) == (bad.schedule_id, bad.id, "KeyError")
    assert "test_deliver.py" in str(facts["where"])
    assert SECRET not in str(facts["error"])
    assert reason == {"eventId": late.id, "reason": "HTTP 503"}


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", json.dumps({"specversion": "2.0"})])
def test_what_is_no_event_waits_and_its_neighbours_are_read(text: str) -> None:
    read: list[Event] = []
    observer = MemoryObserver()
    good = event()
    again = deliver_to(read, observer)([ReceivedMessage(message_id="m", body=text), message(good)])
    assert again == ["m"]
    assert [one.id for one in read] == [good.id]
    assert observer.counts["Undelivered"] == 1


def test_an_event_of_today_can_be_read_for_ever() -> None:
    read: list[Event] = []
    text = (GOLDEN / "lifecycle-event.json").read_text()
    assert deliver_to(read, MemoryObserver())([ReceivedMessage(message_id="m", body=text)]) == []
    [one] = read
    assert one.cloud_event == json.loads(text)
    assert one.schedule_id == one.cloud_event["subject"]


def test_events_outlast_an_outage_of_a_day_beside_one_that_cannot_be_read() -> None:
    """In the queue of the template. What can never be read comes to the dead-letter queue in the end."""
    settings = resources("AWS::SQS::Queue")["SubscriberfailedwebhookQueue"]
    clock = ManualClock(NOW)
    dead = MemoryQueue(clock=clock)
    queue = MemoryQueue(
        clock=clock,
        visibility=settings["VisibilityTimeout"] * SECOND,
        max_receives=settings["RedrivePolicy"]["maxReceiveCount"],
        dead_letters=dead,
    )
    good = event(owner="a")
    queue.send([Outgoing(body=json.dumps(good.cloud_event)), Outgoing(body="{}")])
    read: list[Event] = []
    is_down = True

    def subscriber(one: Event) -> None:
        if is_down:
            raise NotDone("HTTP 503")
        read.append(one)

    deliver = Deliver(read=subscriber, observer=MemoryObserver())

    def deliver_until(instant: Millis) -> None:
        while clock.now() < instant:
            batch = queue.receive()
            queue.settle(batch, deliver(batch))
            clock.move(MINUTE)

    deliver_until(NOW + DAY)
    assert (read, dead.messages) == ([], [])
    is_down = False
    deliver_until(NOW + DAY + 10 * HOUR)
    assert [one.id for one in read] == [good.id]
    assert [one.body for one in dead.messages] == ["{}"]
