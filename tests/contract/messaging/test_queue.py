"""A standard queue, as its senders see it."""

import json
import time
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from delayer.engines.aws.messaging import BATCH_BYTES, MESSAGES, SqsQueue
from delayer.engines.memory import ManualClock
from delayer.engines.ports import Outgoing, Queue, ReceivedMessage, Unavailable
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.queue import LAYOUT, SqliteQueue
from delayer.schedule.instants import SECOND
from delayer.schedule.messages import MAX_BYTES
from tests.clients import ERRORS, AnyClient, Failing, Wrapped
from tests.contract.conftest import Aws
from tests.contract.engines import FAKE, SQLITES, Engines, OnSqlite
from tests.fakes.messaging import MemoryQueue
from tests.samples import NOW

_names = (f"queue-{number}" for number in count())
ADAPTER = SqsQueue


@pytest.fixture
def queue(engine: Aws | OnSqlite | None) -> Queue:
    if isinstance(engine, OnSqlite):
        return SqliteQueue(database=engine.database(LAYOUT), clock=ManualClock(NOW))
    if engine is None:
        return MemoryQueue(clock=ManualClock(NOW))
    sqs = engine("sqs")
    return SqsQueue(sqs=sqs, url=sqs.create_queue(QueueName=next(_names))["QueueUrl"])


def received(queue: Queue, together: int = 10) -> list[str]:
    """The bodies of all that can be received, so many with one call."""
    bodies: list[str] = []
    while True:
        if isinstance(queue, MemoryQueue | SqliteQueue):
            batch = [received.body for received in queue.receive(together)]
        else:
            assert isinstance(queue, SqsQueue)
            answer = queue.sqs.receive_message(QueueUrl=queue.url, MaxNumberOfMessages=together)
            batch = [message["Body"] for message in answer.get("Messages", [])]
        if not batch:
            return bodies
        bodies += batch


@pytest.mark.parametrize("number", [0, 1, 10, 11, 25])
def test_all_arrive(queue: Queue, number: int) -> None:
    """SQS takes ten at a time; a caller need not know."""
    assert queue.send([Outgoing(body=f"message {at}") for at in range(number)]) == []
    assert queue.visible() == number
    assert sorted(received(queue)) == sorted(f"message {at}" for at in range(number))


def test_a_message_group_is_sent_as_the_message_group_id_of_sqs(sqs: Any) -> None:
    """That makes it a fair queue (ADR 0039); a message without one is sent without."""
    queue = SqsQueue(sqs=sqs, url=sqs.create_queue(QueueName=next(_names))["QueueUrl"])
    assert queue.send([Outgoing(body="a", message_group="t1"), Outgoing(body="b")]) == []
    answer = sqs.receive_message(QueueUrl=queue.url, MaxNumberOfMessages=10, AttributeNames=["All"])
    groups = {message["Body"]: message["Attributes"].get("MessageGroupId") for message in answer["Messages"]}
    assert groups == {"a": "t1", "b": None}


@pytest.fixture(params=[FAKE, *SQLITES, "sqs"])
def fifo(request: pytest.FixtureRequest, engines: Engines, sqs: Any) -> Queue:
    if request.param == FAKE:
        return MemoryQueue(clock=ManualClock(NOW), fifo=True)
    if request.param in SQLITES:
        database = engines.on_sqlite(request.param).database(LAYOUT)
        return SqliteQueue(database=database, clock=ManualClock(NOW), fifo=True)
    url = sqs.create_queue(QueueName=f"{next(_names)}.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    return SqsQueue(sqs=sqs, url=url)


def test_a_fifo_queue_delivers_nothing_of_a_message_group_that_is_in_flight(fifo: Queue) -> None:
    """The others of the group wait, and other groups do not wait for them (ADR 0051)."""
    jobs = [Outgoing(body=f"{owner}{at}", message_group=owner, once=f"{owner}{at}") for owner in "ab" for at in "123"]
    assert fifo.send(jobs) == []
    assert received(fifo, 1) == ["a1", "b1"]


@pytest.mark.parametrize("fifo", [*SQLITES, "sqs"], indirect=True)
def test_a_repeated_send_to_a_fifo_queue_is_one_message(fifo: Queue) -> None:
    """A caller repeats what is not known to be sent. Another token is another message, though the body is the same.

    The fake takes each.
    """
    for token in ("t1", "t1", "t2"):
        assert fifo.send([Outgoing(body="x", message_group="g", once=token)]) == []
    assert fifo.visible() == 2


def test_a_body_arrives_as_it_was_sent(queue: Queue) -> None:
    body = json.dumps({"\u00e4": "\U0001f600", "b": 'quo"te\n\t'}, ensure_ascii=False, indent=1)
    queue.send([Outgoing(body=body)])
    assert received(queue) == [body]


def test_the_largest_message_arrives(queue: Queue) -> None:
    """The relay makes sure that none is larger before it claims (ADR 0086). A character may have several bytes."""
    body = chr(0x20AC) * (MAX_BYTES // 3) + "x" * (MAX_BYTES % 3)
    assert queue.send([Outgoing(body=body), Outgoing(body="x")]) == []
    assert sorted(len(one.encode()) for one in received(queue)) == [1, MAX_BYTES]


def test_what_is_delayed_is_not_visible(queue: Queue) -> None:
    """And no backlog: the sweep goes by what is visible."""
    assert (
        queue.send(
            [
                Outgoing(body="later", delay_seconds=900),
                Outgoing(body="now", delay_seconds=0),
                Outgoing(body="soon", delay_seconds=1),
            ]
        )
        == []
    )
    assert queue.visible() == 1
    assert queue.delayed() == 2
    assert received(queue) == ["now"]


def test_what_is_being_handled_is_not_visible(queue: Queue) -> None:
    queue.send([Outgoing(body="x")])
    assert received(queue) == ["x"]
    assert queue.visible() == 0
    assert queue.delayed() == 0, "it was sent without a delay, and is in flight"


def test_the_same_body_twice_is_two_messages(queue: Queue) -> None:
    queue.send([Outgoing(body="x"), Outgoing(body="x")])
    assert received(queue) == ["x", "x"]


@pytest.mark.parametrize("delay", [-1, 901])
def test_a_delay_that_sqs_refuses_cannot_be_said(delay: int) -> None:
    """The embedded AWS takes 901, AWS refuses it."""
    with pytest.raises(ValueError, match="delay"):
        Outgoing(body="x", delay_seconds=delay)


# ------------------------------------------------------------ what a function receives by itself


@pytest.mark.parametrize(("at_most", "pulled"), [(1, 1), (4, 4), (10, 10), (20, 10)])
def test_at_most_so_many_are_pulled(queue: Queue, at_most: int, pulled: int) -> None:
    queue.send([Outgoing(body=str(at)) for at in range(12)])
    assert len(queue.pull(at_most)) == pulled
    assert queue.visible() == 12 - pulled


def test_what_is_pulled_is_as_it_was_sent(queue: Queue) -> None:
    queue.send([Outgoing(body="x")])
    [pulled] = queue.pull(1)
    assert pulled.body == "x"
    assert pulled.message_id
    assert pulled.sent_at > 0
    assert pulled.receives == 1


def test_of_an_empty_queue_nothing_is_pulled_at_once(queue: Queue) -> None:
    """Who pulls is about to end: a poll that waits for a second would keep it."""
    began = time.monotonic()
    assert queue.pull(10) == []
    assert time.monotonic() - began < 0.9


def test_what_was_deleted_is_gone(queue: Queue) -> None:
    queue.send([Outgoing(body="x"), Outgoing(body="y")])
    kept, done = queue.pull(2)
    queue.delete(done)
    queue.give_back([kept])
    assert received(queue) == [kept.body]


def test_what_is_given_back_may_be_received_at_once(queue: Queue) -> None:
    queue.send([Outgoing(body="x")])
    [pulled] = queue.pull(1)
    assert queue.pull(1) == []
    queue.give_back([pulled])
    [again] = queue.pull(1)
    assert (again.message_id, again.receives) == (pulled.message_id, 2)


def test_what_is_given_back_for_a_while_may_not_be_received_before(queue: Queue) -> None:
    queue.send([Outgoing(body="x"), Outgoing(body="y")])
    queue.give_back(queue.pull(2), seconds=30)
    assert queue.pull(2) == []


@pytest.mark.parametrize("error", ERRORS)
def test_nothing_can_be_pulled_without_an_answer(error: str) -> None:
    with pytest.raises(Unavailable):
        SqsQueue(sqs=Failing(ERRORS[error]), url="u").pull(10)


@pytest.mark.parametrize("error", ERRORS)
def test_what_cannot_be_deleted_or_given_back_comes_again_and_nothing_is_raised(error: str) -> None:
    queue = SqsQueue(sqs=Failing(ERRORS[error]), url="u")
    pulled = ReceivedMessage(message_id="m", body="x", receipt="r")
    queue.delete(pulled)
    queue.give_back([pulled])


# ------------------------------------------------------------ the fake's other side


@pytest.mark.parametrize("is_fake", [True, False], ids=[FAKE, "sqlite"])
def test_a_delayed_message_comes_at_its_time(is_fake: bool) -> None:
    clock = ManualClock(NOW)
    queue = MemoryQueue(clock=clock) if is_fake else SqliteQueue(database=Database(layout=LAYOUT), clock=clock)
    queue.send([Outgoing(body="x", delay_seconds=3)])
    clock.move(3 * SECOND - 1)
    assert queue.receive() == []
    clock.move(1)
    assert [received.body for received in queue.receive()] == ["x"]


def test_what_is_not_settled_comes_again_and_is_buried_in_the_end() -> None:
    clock = ManualClock(NOW)
    dead = MemoryQueue(clock=clock, name="dead")
    queue = MemoryQueue(clock=clock, max_receives=3, dead_letters=dead)
    queue.send([Outgoing(body="x")])
    receives = []
    for _ in range(4):
        batch = queue.receive()
        receives += [queue.receives_of(received.message_id) for received in batch]
        assert queue.receive() == [], "invisible to others"
        queue.settle(batch, [received.message_id for received in batch])
        clock.move(queue.visibility)
    assert receives == [1, 2, 3]
    assert [received.body for received in dead.receive()] == ["x"]


# ------------------------------------------------------------ the adapter alone


class Recorded(AnyClient):
    """An SQS client that takes what the limits allow."""

    def __init__(self) -> None:
        self.batches: list[list[dict[str, Any]]] = []

    def send_message_batch(self, QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's
        assert len(Entries) <= MESSAGES
        assert sum(len(entry["MessageBody"].encode()) for entry in Entries) <= BATCH_BYTES
        assert len({entry["Id"] for entry in Entries}) == len(Entries)
        self.batches.append(Entries)
        return {"Successful": [{"Id": entry["Id"]} for entry in Entries]}


sizes = st.lists(st.integers(1, 400_000), max_size=40)


@settings(max_examples=30)
@given(sizes)
@example([300_000] * 11)
@example([1_048_576, 1, 1_048_575, 1, 1])
@example([104_857] * 11 + [104_858] * 11)
def test_batches_stay_within_both_limits(sizes: list[int]) -> None:
    """Ten messages, and one MiB together; all of them, in order, none twice, and no more batches than needed."""
    client = Recorded()
    messages = [Outgoing(body=chr(0x4E00) * (size // 3) + "x" * (size % 3)) for size in sizes]
    assert SqsQueue(sqs=client, url="u").send(messages) == []
    sent = [entry["MessageBody"] for batch in client.batches for entry in batch]
    assert sent == [message.body for message in messages]
    for one, other in zip(client.batches, client.batches[1:], strict=False):
        bytes_of_both = sum(len(entry["MessageBody"].encode()) for entry in [*one, other[0]])
        assert len(one) == MESSAGES or bytes_of_both > BATCH_BYTES


def test_no_message_no_request() -> None:
    client = Recorded()
    assert SqsQueue(sqs=client, url="u").send([]) == []
    assert client.batches == []


def test_what_is_in_failed_is_reported_by_its_position() -> None:
    """An answer that says 200, and lists messages that are not in the queue."""

    def partly(QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's own spelling
        taken = [entry for entry in Entries if int(entry["MessageBody"]) % 3]
        refused = [entry for entry in Entries if not int(entry["MessageBody"]) % 3]
        return {
            "Successful": [{"Id": entry["Id"]} for entry in taken],
            "Failed": [{"Id": entry["Id"], "Code": "InternalError", "SenderFault": False} for entry in refused],
        }

    queue = SqsQueue(sqs=Wrapped(None, send_message_batch=partly), url="u")
    assert queue.send([Outgoing(body=str(at)) for at in range(25)]) == list(range(0, 25, 3))


def test_what_is_in_neither_list_is_not_known_to_be_sent() -> None:
    queue = SqsQueue(sqs=Wrapped(None, send_message_batch=lambda **_: {}), url="u")
    assert queue.send([Outgoing(body="x")] * 12) == list(range(12))


@pytest.mark.parametrize("error", ERRORS)
def test_a_batch_that_failed_is_reported_and_the_next_still_sent(error: str) -> None:
    calls = count()

    def second_fails(QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's own spelling
        if next(calls) == 1:
            raise ERRORS[error]
        return {"Successful": [{"Id": entry["Id"]} for entry in Entries]}

    queue = SqsQueue(sqs=Wrapped(None, send_message_batch=second_fails), url="u")
    assert queue.send([Outgoing(body="x")] * 25) == list(range(10, 20))


@pytest.mark.parametrize("error", ERRORS)
def test_a_backlog_that_is_not_known_is_unavailable(error: str) -> None:
    """And not zero: the sweep fails closed."""
    with pytest.raises(Unavailable):
        SqsQueue(sqs=Failing(ERRORS[error]), url="u").visible()
    with pytest.raises(Unavailable):
        SqsQueue(sqs=Failing(ERRORS[error]), url="u").delayed()
