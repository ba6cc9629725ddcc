"""The topic of lifecycle events, as its publishers and one subscriber see it."""

import json
from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any

import pytest
from attrs import define, field
from hypothesis import example, given, settings
from hypothesis import strategies as st

from delayer.engines.aws.messaging import MESSAGES, TOPIC_BATCH_BYTES, SnsTopic
from delayer.engines.filter_policy import FilterPolicy
from delayer.engines.memory import ManualClock
from delayer.engines.ports import Announcement, ReceivedMessage, Topic
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.queue import LAYOUT, SqliteQueue
from delayer.serve.turns.reactions import Published as PublishedHere
from delayer.serve.turns.reactions import Subscription
from tests.clients import ERRORS, AnyClient, Failing, Wrapped
from tests.contract.conftest import Aws
from tests.contract.engines import OnSqlite
from tests.fakes.messaging import MemoryTopic
from tests.samples import NOW

_names = (f"topic-{number}" for number in count())

Published = tuple[str, dict[str, str]]
ADAPTER = SnsTopic


@pytest.fixture(scope="module")
def sns(aws: Aws) -> Any:
    return aws("sns")


@define
class Stand:
    """The port, and a queue that gets all that is published, as it was published."""

    topic: Topic
    sqs: Any = None
    queue: str = ""
    here: "Subscribers | None" = None

    def has(self, *announcements: Announcement) -> None:
        """These were published, and nothing else. A standard topic keeps no order."""
        if self.here:
            assert self.here.at_once == self.here.received() == [one.text for one in announcements]
            return
        expected = [(one.text, dict(one.attributes)) for one in announcements]
        assert sorted_by_text(self.published()) == sorted_by_text(expected)

    def published(self) -> list[Published]:
        if isinstance(self.topic, MemoryTopic):
            return [(one.text, dict(one.attributes)) for one in self.topic.published]
        found: list[Published] = []
        asked = {"QueueUrl": self.queue, "MaxNumberOfMessages": 10, "MessageAttributeNames": ["All"]}
        while batch := self.sqs.receive_message(**asked).get("Messages", []):
            found += [_received(message) for message in batch]
        return found


def _received(message: dict[str, Any]) -> Published:
    attributes = message.get("MessageAttributes", {})
    return message["Body"], {name: value["StringValue"] for name, value in attributes.items()}


@define
class Subscribers:
    """Of the topic of this machine: one is told at once, one by its queue. Attributes decide who is told; none sees
    them.
    """

    queue: SqliteQueue
    at_once: list[str] = field(factory=list)

    def topic(self, gets: FilterPolicy) -> PublishedHere:
        """Both get what this lets through."""

        def use(batch: Sequence[ReceivedMessage]) -> list[str]:
            self.at_once += [one.body for one in batch]
            return []

        return PublishedHere(at_once=[Subscription(use=use, gets=gets)], queues=[(self.queue, gets)])

    def received(self) -> list[str]:
        return [one.body for one in self.queue.receive(100)]


def here(engine: OnSqlite) -> Subscribers:
    return Subscribers(SqliteQueue(database=engine.database(LAYOUT), clock=ManualClock(NOW)))


@pytest.fixture
def stand(engine: Aws | OnSqlite | None) -> Stand:
    if isinstance(engine, OnSqlite):
        subscribers = here(engine)
        return Stand(subscribers.topic({}), here=subscribers)
    if engine is None:
        return Stand(MemoryTopic())
    sns, sqs = engine("sns"), engine("sqs")
    name = next(_names)
    arn = sns.create_topic(Name=name)["TopicArn"]
    queue = sqs.create_queue(QueueName=name)["QueueUrl"]
    answer = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
    endpoint = answer["Attributes"]["QueueArn"]
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"Policy": json.dumps(permission(arn, endpoint))})
    sns.subscribe(TopicArn=arn, Protocol="sqs", Endpoint=endpoint, Attributes={"RawMessageDelivery": "true"})
    return Stand(SnsTopic(sns=sns, arn=arn), sqs, queue)


def permission(topic: str, queue: str) -> dict[str, Any]:
    """To deliver, as in the template. AWS and the emulator ask for it, moto does not."""
    statement = {"Effect": "Allow", "Principal": {"Service": "sns.amazonaws.com"}, "Action": "sqs:SendMessage"}
    where = {"Resource": queue, "Condition": {"ArnEquals": {"aws:SourceArn": topic}}}
    return {"Version": "2012-10-17", "Statement": [{**statement, **where}]}


def an_announcement(text: str = "{}", **attributes: str) -> Announcement:
    return Announcement(text=text, attributes=tuple(attributes.items()))


def sorted_by_text(published: list[Published]) -> list[Published]:
    """A standard topic keeps no order."""
    return sorted(published, key=lambda one: one[0])


@pytest.mark.parametrize("number", [0, 1, 10, 11, 25])
def test_each_is_published_once_with_its_attributes(stand: Stand, number: int) -> None:
    """SNS takes ten at a time; a caller need not know."""
    announcements = [an_announcement(f"event {at:02}", type=f"t{at}", owner="o", group="g") for at in range(number)]
    assert stand.topic.publish(announcements) == []
    stand.has(*announcements)


def test_each_has_attributes_of_its_own(stand: Stand) -> None:
    """Most events have no group."""
    announcements = [an_announcement("1", type="a", group="g"), an_announcement("2", type="b"), an_announcement("3")]
    assert stand.topic.publish(announcements) == []
    stand.has(*announcements)


def test_a_text_arrives_as_it_was_published(stand: Stand) -> None:
    text = '{"x": 1.0, "\u00e4 ": [ ], "\U0001f600": "\\u0000\\n"}'
    owner = "arn:aws:iam::123456789012:user/some body \u00e4"
    announcement = an_announcement(text, owner=owner)
    assert stand.topic.publish([announcement]) == []
    stand.has(announcement)


def test_the_same_twice_is_published_twice(stand: Stand) -> None:
    """Whoever gets it twice knows it by its id."""
    assert stand.topic.publish([an_announcement(), an_announcement()]) == []
    assert stand.topic.publish([an_announcement()]) == []
    stand.has(*[an_announcement()] * 3)


def test_large_ones_are_published_too(stand: Stand) -> None:
    """Each as large as an event may be: no two fit into one request."""
    announcements = [an_announcement(str(at) + "x" * 250_000, type="t") for at in range(3)]
    assert stand.topic.publish(announcements) == []
    stand.has(*announcements)


@pytest.mark.parametrize(
    ("gets", "expected"),
    [({"type": ["a"]}, "1"), ({"group": [{"exists": True}]}, "1"), ({"type": [{"anything-but": ["a"]}]}, "2")],
    ids=["a value", "any value", "any other value"],
)
def test_a_subscriber_here_hears_what_its_filter_lets_through(gets: FilterPolicy, expected: str) -> None:
    """As SNS does it: the filters are those of the template."""
    subscribers = here(OnSqlite(lambda layout: Database(layout=layout)))
    announcements = [an_announcement("1", type="a", group="g"), an_announcement("2", type="b"), an_announcement("3")]
    assert subscribers.topic(gets).publish(announcements) == []
    assert subscribers.at_once == subscribers.received() == [expected]


def test_what_a_subscriber_here_cannot_take_is_reported_by_its_position() -> None:
    """It is told of it again."""
    topic = PublishedHere(at_once=[Subscription(use=lambda batch: ["1"], gets={})], queues=[])
    assert topic.publish([an_announcement("0"), an_announcement("1")]) == [1]


# ------------------------------------------------------------ the adapter alone


class Recorded(AnyClient):
    """An SNS client that takes what the limits allow."""

    def __init__(self) -> None:
        self.batches: list[list[dict[str, Any]]] = []

    def publish_batch(self, TopicArn: str, PublishBatchRequestEntries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's
        assert len(PublishBatchRequestEntries) <= MESSAGES
        assert sum(bytes_of(entry) for entry in PublishBatchRequestEntries) <= TOPIC_BATCH_BYTES
        assert len({entry["Id"] for entry in PublishBatchRequestEntries}) == len(PublishBatchRequestEntries)
        self.batches.append(PublishBatchRequestEntries)
        return {"Successful": [{"Id": entry["Id"]} for entry in PublishBatchRequestEntries]}


def bytes_of(entry: dict[str, Any]) -> int:
    """As SNS counts: also what the attributes are called, and their types."""
    attributes = [
        len(name) + len(value["DataType"]) + len(value["StringValue"].encode())
        for name, value in entry["MessageAttributes"].items()
    ]
    return len(entry["Message"].encode()) + sum(attributes)


OVERHEAD = len("type" + "String" + "\u00e4") + 1


@settings(max_examples=30)
@given(st.lists(st.integers(1, 260_000), max_size=30))
@example([100] * 30)
@example([TOPIC_BATCH_BYTES - OVERHEAD, 1, TOPIC_BATCH_BYTES - 2 * OVERHEAD - 1, 1, 1])
@example([(TOPIC_BATCH_BYTES // 10) - OVERHEAD] * 11 + [(TOPIC_BATCH_BYTES // 10) - OVERHEAD + 1] * 11)
def test_batches_stay_within_both_limits(sizes: list[int]) -> None:
    """Ten, and 256 KiB together; all of them, in order, none twice, and no more batches than needed."""
    client = Recorded()
    texts = [chr(0x4E00) * (size // 3) + "x" * (size % 3) for size in sizes]
    assert SnsTopic(sns=client, arn="a").publish([an_announcement(text, type="\u00e4") for text in texts]) == []
    assert [entry["Message"] for batch in client.batches for entry in batch] == texts
    for one, other in pairwise(client.batches):
        assert len(one) == MESSAGES or sum(bytes_of(entry) for entry in [*one, other[0]]) > TOPIC_BATCH_BYTES


def test_no_announcement_no_request() -> None:
    client = Recorded()
    assert SnsTopic(sns=client, arn="a").publish([]) == []
    assert client.batches == []


def test_what_is_in_failed_is_reported_by_its_position() -> None:
    """An answer that says 200, and lists events that are not published."""

    def partly(TopicArn: str, PublishBatchRequestEntries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's
        taken = [entry for entry in PublishBatchRequestEntries if int(entry["Message"]) % 3]
        refused = [entry for entry in PublishBatchRequestEntries if not int(entry["Message"]) % 3]
        return {
            "Successful": [{"Id": entry["Id"]} for entry in taken],
            "Failed": [{"Id": entry["Id"], "Code": "InternalError", "SenderFault": False} for entry in refused],
        }

    topic = SnsTopic(sns=Wrapped(None, publish_batch=partly), arn="a")
    assert topic.publish([an_announcement(str(at)) for at in range(25)]) == list(range(0, 25, 3))


def test_what_sns_refuses_for_its_size_does_not_stop_its_neighbours(sns: Any) -> None:
    topic = SnsTopic(sns=sns, arn=sns.create_topic(Name=next(_names))["TopicArn"])
    announcements = [an_announcement("a"), an_announcement("x" * (TOPIC_BATCH_BYTES + 1)), an_announcement("b")]
    refused: list[int] = []
    assert topic.publish(announcements, refused.append) == [], "tried again for a day, it would hold up its shard"
    assert refused == [1]


def test_what_is_in_neither_list_is_not_known_to_be_published() -> None:
    topic = SnsTopic(sns=Wrapped(None, publish_batch=lambda **_: {}), arn="a")
    assert topic.publish([an_announcement()] * 12) == list(range(12))


@pytest.mark.parametrize("error", ERRORS)
def test_a_request_that_failed_is_reported_and_the_next_still_made(error: str) -> None:
    calls = count()

    def second_fails(TopicArn: str, PublishBatchRequestEntries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's
        if next(calls) == 1:
            raise ERRORS[error]
        return {"Successful": [{"Id": entry["Id"]} for entry in PublishBatchRequestEntries]}

    topic = SnsTopic(sns=Wrapped(None, publish_batch=second_fails), arn="a")
    assert topic.publish([an_announcement()] * 25) == list(range(10, 20))


def test_if_all_requests_fail_all_are_reported() -> None:
    topic = SnsTopic(sns=Failing(ERRORS["no connection"]), arn="a")
    assert topic.publish([an_announcement()] * 12) == list(range(12))
