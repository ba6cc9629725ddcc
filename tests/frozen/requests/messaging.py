"""Queues, the topic, the dead-letter store, and the functions that are asked."""

from delayer.dead_letters.model import WaitingRecords
from delayer.dead_letters.repository import StoredDeadLetters
from delayer.engines.aws.function import LambdaFunction
from delayer.engines.aws.messaging import SnsTopic, SqsQueue
from delayer.engines.aws.objects import S3Objects
from delayer.engines.ports import Announcement, Outgoing, ReceivedMessage
from delayer.lambdas.consumers import LambdaConsumers, LambdaStreamConsumer
from delayer.schedule.schedule_id import key_of
from tests.frozen.recorded import Subject
from tests.samples import NOW, a_dead_letter, a_relaxed_schedule, a_schedule

RECEIVED = ReceivedMessage(message_id="m1", body="b", receipt="r1")
QUEUE = Subject(
    adapter=SqsQueue,
    service="sqs",
    made=lambda client: SqsQueue(sqs=client, url="https://sqs.eu-west-1.amazonaws.com/123456789012/delayer"),
    cases={
        "send": lambda queue: queue.send(
            [
                Outgoing(body='{"é":1}', delay_seconds=17),
                Outgoing(body="fair", message_group="g"),
                Outgoing(body="in order", message_group="g", once="o1"),
            ]
        ),
        "send: more than one request takes": lambda queue: queue.send([Outgoing(body="b")] * 11),
        "pull": lambda queue: queue.pull(3),
        "pull: more than one request gives": lambda queue: queue.pull(30),
        "delete": lambda queue: queue.delete(RECEIVED),
        "give_back": lambda queue: queue.give_back([RECEIVED]),
        "give_back: some, for a while": lambda queue: queue.give_back([RECEIVED] * 2, 30),
        "visible": lambda queue: queue.visible(),
        "delayed": lambda queue: queue.delayed(),
    },
)

EVENT = Announcement(text='{"type":"claimed","owner":"é"}', attributes=(("type", "claimed"), ("owner", "é")))
TOPIC = Subject(
    adapter=SnsTopic,
    service="sns",
    made=lambda client: SnsTopic(sns=client, arn="arn:aws:sns:eu-west-1:123456789012:lifecycle"),
    cases={
        "publish": lambda topic: topic.publish([EVENT]),
        "publish: more than one request takes": lambda topic: topic.publish(
            [Announcement(text="t", attributes=())] * 11
        ),
    },
)

STORE = Subject(
    adapter=StoredDeadLetters,
    service="s3",
    made=lambda client: StoredDeadLetters(S3Objects(s3=client, bucket="dead-letters")),
    cases={
        "put": lambda store: store.put(a_dead_letter()),
        "set_aside": lambda store: store.set_aside(WaitingRecords(records=({"eventID": "1"},), reason="é", at=NOW)),
        "list": lambda store: store.list("waiting/", "", 50),
        "list: the next": lambda store: store.list("waiting/", "waiting/1", 50),
        "get": lambda store: store.get("dead-lettered/1.json"),
        "remove": lambda store: store.remove("dead-lettered/1.json"),
    },
)

FUNCTION = Subject(
    adapter=LambdaFunction,
    service="lambda",
    made=lambda client: LambdaFunction(lambda_=client, function="arn:aws:lambda:eu-west-1:123456789012:function:slack"),
    cases={"ask": lambda function: function.ask({"delayer": "describe", "text": "é\udc00"})},
)


CONSUMERS = Subject(
    adapter=LambdaConsumers,
    service="lambda",
    made=lambda client: LambdaConsumers(lambda_=client, stack="delayer"),
    cases={
        "handle": lambda consumers: consumers.handle(
            "delayer-relay", ReceivedMessage(message_id="m1", body="é\udc00", source="suspects", sent_at=NOW)
        )
    },
)


def record(due: str) -> dict[str, object]:
    return {"eventName": "REMOVE", "dynamodb": {"SequenceNumber": "1", "Keys": {"due": {"S": due}}}}


CONSUMER = Subject(
    adapter=LambdaStreamConsumer,
    service="lambda",
    made=lambda client: LambdaStreamConsumer(
        lambda_=client, function="delayer-stream-enqueuer", relaxed="delayer-relaxed-claimer"
    ),
    cases={
        "handle": lambda consumer: consumer.handle([record(key_of(a_schedule().id).due), record("é")]),
        "handle: of both lanes": lambda consumer: consumer.handle(
            [record(key_of(one.id).due) for one in (a_schedule(), a_relaxed_schedule())]
        ),
    },
)

SUBJECTS = (QUEUE, TOPIC, STORE, FUNCTION, CONSUMER, CONSUMERS)
