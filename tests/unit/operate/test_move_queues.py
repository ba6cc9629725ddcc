"""What waits in the queues of a deleted stack goes on in another one."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
import time_machine
from attrs import evolve
from moto import mock_aws

from delayer.engines.aws.messaging import SqsQueue
from delayer.engines.ports import Outgoing
from operate.move_queues import EARLIER, SUBSCRIBER, TAG, Impossible, MoveQueues, Pair, main, prepared, queues_of
from tests.cfn import resources
from tests.clients import AnyClient, Wrapped

TEMPLATE = '{"Resources": {"Nothing": {"Type": "AWS::SQS::Queue"}}}'


@pytest.fixture
def moment() -> Iterator[time_machine.Traveller]:
    """The time, which a test moves."""
    with time_machine.travel(datetime(2026, 11, 22, 9, tzinfo=UTC), tick=False) as traveller:
        yield traveller


@pytest.fixture
def sqs(monkeypatch: pytest.MonkeyPatch, moment: time_machine.Traveller) -> Iterator[Any]:
    """An account with the stack `new`. It is left empty: moto keeps it if other tests of this process use moto, too."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(time, "monotonic", time.time)
    with mock_aws():
        cloudformation, made = boto3.client("cloudformation"), boto3.client("sqs")
        before = set(made.list_queues().get("QueueUrls", []))
        cloudformation.create_stack(StackName="new", TemplateBody=TEMPLATE)
        yield made
        for stack in ("new", "running"):
            cloudformation.delete_stack(StackName=stack)
        for url in set(made.list_queues().get("QueueUrls", [])) - before:
            made.delete_queue(QueueUrl=url)


def a_queue(sqs: Any, stack: str, name: str) -> SqsQueue:
    """As CloudFormation makes it from the template."""
    made = sqs.create_queue(QueueName=f"{stack}-{name}-1A2B3C", tags={TAG: f"{stack}/{name}"})
    return SqsQueue(sqs=sqs, url=made["QueueUrl"])


def a_move(sqs: Any, moment: time_machine.Traveller, old: str = "old") -> MoveQueues:
    made = prepared(sqs, boto3.client("cloudformation"), old, "new")
    return evolve(made, sleep=moment.shift, now=time.time)


def bodies(queue: SqsQueue) -> list[str]:
    """All that is ready, as it was sent."""
    asked: Any = {"QueueUrl": queue.url, "MaxNumberOfMessages": 10, "VisibilityTimeout": 0}
    return sorted(one["Body"] for one in queue.sqs.receive_message(**asked).get("Messages", []))


def test_everything_is_moved_also_what_is_still_delayed(sqs: Any, moment: time_machine.Traveller) -> None:
    """It takes some seconds, as the first that needs moto."""
    delayer, executor = a_queue(sqs, "old", "DelayerQueue"), a_queue(sqs, "old", "executor-http-request")
    new, other = a_queue(sqs, "new", "DelayerQueue"), a_queue(sqs, "new", "executor-http-request")
    delayer.send([Outgoing(body="now"), Outgoing(body="in a while", delay_seconds=800)])
    executor.send([Outgoing(body="claimed", message_group="target")])
    said: list[str] = []
    assert evolve(a_move(sqs, moment), say=said.append)() == 3
    assert (bodies(new), bodies(other)) == (["in a while", "now"], ["claimed"])
    assert delayer.visible() == executor.visible() == 0
    assert said[0] == "2 moved; DelayerQueue: 0 ready, 1 delayed, 0 received"
    answer = sqs.receive_message(QueueUrl=other.url, AttributeNames=["All"])
    assert answer["Messages"][0]["Attributes"]["MessageGroupId"] == "target"


def test_more_than_a_batch(sqs: Any, moment: time_machine.Traveller) -> None:
    old, new = a_queue(sqs, "old", "DelayerQueue"), a_queue(sqs, "new", "DelayerQueue")
    old.send([Outgoing(body=str(at)) for at in range(35)])
    assert a_move(sqs, moment)() == 35
    assert new.visible() == 35


def test_what_a_function_had_received_is_waited_for(sqs: Any, moment: time_machine.Traveller) -> None:
    """It comes back when nobody deletes it: the function died with its stack."""
    old, new = a_queue(sqs, "old", "DelayerQueue"), a_queue(sqs, "new", "DelayerQueue")
    old.send([Outgoing(body="held")])
    sqs.receive_message(QueueUrl=old.url, VisibilityTimeout=90)
    assert a_move(sqs, moment)() == 1
    assert bodies(new) == ["held"]


def test_what_could_not_be_sent_is_not_deleted(sqs: Any, moment: time_machine.Traveller) -> None:
    old, new = a_queue(sqs, "old", "DelayerQueue"), a_queue(sqs, "new", "DelayerQueue")
    old.send([Outgoing(body="a"), Outgoing(body="b")])

    def partly(QueueUrl: str, Entries: list[Any]) -> Any:  # noqa: N803 - boto3's own spelling
        answer = sqs.send_message_batch(QueueUrl=QueueUrl, Entries=Entries[:1])
        return {**answer, "Failed": [{"Id": Entries[1]["Id"], "Code": "InternalError", "SenderFault": False}]}

    refusing = SqsQueue(sqs=Wrapped(sqs, send_message_batch=partly), url=new.url)
    pair = Pair(name="DelayerQueue", source=old.url, target=refusing)
    with pytest.raises(Impossible, match="1 messages could not be sent"):
        MoveQueues(sqs=sqs, pairs=[pair], sleep=moment.shift, now=time.time)()
    assert a_move(sqs, moment)() == 1
    assert bodies(new) == ["a", "b"]


class Dying(AnyClient):
    """The command is ended before it can delete."""

    def __init__(self, sqs: Any) -> None:
        self.sqs = sqs

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name == "delete_message_batch":
            raise KeyboardInterrupt
        method: Callable[..., Any] = getattr(self.sqs, name)
        return method


def test_a_repeated_move_loses_nothing(sqs: Any, moment: time_machine.Traveller) -> None:
    """The same body twice, with one nonce: the ledger lets one through."""
    old, new = a_queue(sqs, "old", "DelayerQueue"), a_queue(sqs, "new", "DelayerQueue")
    old.send([Outgoing(body="a")])
    with pytest.raises(KeyboardInterrupt):
        evolve(a_move(sqs, moment), sqs=Dying(sqs))()
    assert a_move(sqs, moment)() == 1
    assert bodies(new) == ["a", "a"]


def test_a_preview_changes_nothing(sqs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    old = a_queue(sqs, "old", "DelayerQueue")
    a_queue(sqs, "new", "DelayerQueue")
    old.send([Outgoing(body="a"), Outgoing(body="b", delay_seconds=9)])
    assert main(["--from", "old", "--to", "new", "--dry-run"]) == 0
    assert capsys.readouterr().out == "DelayerQueue: 1 ready, 1 delayed, 0 received\n"
    assert old.visible() == 1


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("", "", "Give two stacks"),
        ("new", "new", "no queue that the stack new has left behind"),
        ("", "new", "Give two stacks"),
        ("running", "new", "still exists"),
        ("old", "nowhere", "There is no stack nowhere"),
        ("never-was", "new", "There is no queue of a stack never-was"),
        ("old", "new", "no queue for SuspectsQueue. Nothing was moved"),
    ],
)
def test_what_cannot_be_is_refused(sqs: Any, capsys: pytest.CaptureFixture[str], old: str, new: str, why: str) -> None:
    boto3.client("cloudformation").create_stack(StackName="running", TemplateBody=TEMPLATE)
    a_queue(sqs, "old", "SuspectsQueue").send([Outgoing(body="a")])
    assert main(["--from", old, "--to", new]) == 1
    assert why in capsys.readouterr().err


# ------------------------------------------------------------ of executors and subscribers that are no more


@pytest.fixture
def running(sqs: Any) -> dict[str, str]:
    """A stack with two executors, and its queues."""
    names = ("DelayerQueue", "executor-remote", "SuspectsQueue", "executor-sqs-send")
    queue = {"Type": "AWS::SQS::Queue"}
    made = {
        f"Queue{number}": {**queue, "Properties": {"Tags": [{"Key": TAG, "Value": f"running/{name}"}]}}
        for number, name in enumerate(names)
    }
    cloudformation = boto3.client("cloudformation")
    cloudformation.create_stack(StackName="running", TemplateBody=json.dumps({"Resources": made}))
    found = queues_of(sqs, "running")
    assert sorted(found) == sorted(names)
    return found


def test_what_an_executor_left_behind_goes_to_executor_remote(
    sqs: Any, moment: time_machine.Traveller, running: dict[str, str]
) -> None:
    """There its type is unknown: it waits, and becomes a dead letter that says so. What was a suspect stays one."""
    for name in ("executor-slack-post", "executor-slack-post-suspects"):
        a_queue(sqs, "running", name).send([Outgoing(body=name)])
    SqsQueue(sqs=sqs, url=running["DelayerQueue"]).send([Outgoing(body="in use")])
    made = prepared(sqs, boto3.client("cloudformation"), "running", "running")
    assert evolve(made, sleep=moment.shift, now=time.time)() == 2
    remote = SqsQueue(sqs=sqs, url=running["executor-remote"])
    assert bodies(remote) == ["executor-slack-post"]
    assert bodies(SqsQueue(sqs=sqs, url=running["SuspectsQueue"])) == ["executor-slack-post-suspects"]
    assert bodies(SqsQueue(sqs=sqs, url=running["DelayerQueue"])) == ["in use"]


def test_what_it_left_behind_goes_to_its_new_queue_if_it_is_there_again(
    sqs: Any, moment: time_machine.Traveller, running: dict[str, str]
) -> None:
    """From a deleted stack as well: a queue that is in use is the target, not one of the same name that is not."""
    a_queue(sqs, "running", "executor-sqs-send").send([Outgoing(body="left behind")])
    a_queue(sqs, "old", "executor-sqs-send").send([Outgoing(body="of the deleted stack")])
    for old in ("old", "running"):
        made = prepared(sqs, boto3.client("cloudformation"), old, "running")
        assert evolve(made, sleep=moment.shift, now=time.time)() == 1
    assert bodies(SqsQueue(sqs=sqs, url=running["executor-sqs-send"])) == ["left behind", "of the deleted stack"]


def test_an_executor_of_the_old_stack_that_the_new_one_lacks(
    sqs: Any, moment: time_machine.Traveller, running: dict[str, str]
) -> None:
    a_queue(sqs, "old", "executor-slack-post").send([Outgoing(body="claimed", message_group="target")])
    made = prepared(sqs, boto3.client("cloudformation"), "old", "running")
    assert evolve(made, sleep=moment.shift, now=time.time)() == 1
    assert bodies(SqsQueue(sqs=sqs, url=running["executor-remote"])) == ["claimed"]


def test_executors_of_an_earlier_version_have_their_queues_of_today(
    sqs: Any, moment: time_machine.Traveller, running: dict[str, str]
) -> None:
    a_queue(sqs, "old", "SqsSendQueue").send([Outgoing(body="claimed")])
    made = prepared(sqs, boto3.client("cloudformation"), "old", "running")
    assert evolve(made, sleep=moment.shift, now=time.time)() == 1
    assert bodies(SqsQueue(sqs=sqs, url=running["executor-sqs-send"])) == ["claimed"]


def test_each_queue_of_the_template_is_known_by_its_tag() -> None:
    """An executor's by the name of its folder, a subscriber's likewise; those of a removed one are told by it."""
    tags = [queue["Tags"][0]["Value"]["Fn::Sub"].partition("/")[2] for queue in resources("AWS::SQS::Queue").values()]
    assert {"executor-http-request", "SuspectsQueue", f"{SUBSCRIBER}failed-webhook"} <= set(tags)
    assert set(EARLIER.values()) <= set(tags)
    assert not [name for name in tags if name.startswith("Subscriber") and name != "SubscribersDeadLetterQueue"]


def test_events_of_a_subscriber_that_is_no_more_stay(
    sqs: Any, running: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    kept = a_queue(sqs, "running", "subscriber-big-spenders")
    kept.send([Outgoing(body="an event")])
    assert main(["--from", "running", "--to", "running", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("subscriber-big-spenders stays as it is: ")
    assert bodies(kept) == ["an event"]


def test_what_asks_a_policy_that_is_no_more_stays_and_holds_nothing_up(
    sqs: Any, running: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A stack has those policies that it names, by default none. Who waits for one waits in a table."""
    kept = a_queue(sqs, "running", "policy-spread")
    kept.send([Outgoing(body="an id")])
    assert main(["--from", "running", "--to", "running", "--dry-run"]) == 0
    assert "policy-spread stays as it is: there is no such policy any more" in capsys.readouterr().out
    assert bodies(kept) == ["an id"]


def test_the_questions_to_policies_hold_nothing_up_where_there_is_no_policy(
    sqs: Any, moment: time_machine.Traveller, running: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A stack without policies has no such queue (ADR 0172), and each older stack had one."""
    old = {name: a_queue(sqs, "old", name) for name in ("PoliciesDeadLetterQueue", "DelayerQueue")}
    for name, queue in old.items():
        queue.send([Outgoing(body=name)])
    assert main(["--from", "old", "--to", "running", "--dry-run"]) == 0
    assert "PoliciesDeadLetterQueue stays as it is: there is no policy" in capsys.readouterr().out
    moved = evolve(prepared(sqs, boto3.client("cloudformation"), "old", "running"), sleep=moment.shift, now=time.time)()
    assert moved == 1
    assert bodies(old["PoliciesDeadLetterQueue"]) == ["PoliciesDeadLetterQueue"]


def test_a_stack_that_is_being_changed_is_left_alone(sqs: Any, running: dict[str, str]) -> None:
    """Which of its queues are in use is not decided yet."""
    cloudformation = boto3.client("cloudformation")

    def changing(**asked: Any) -> Any:
        answer = cloudformation.describe_stacks(**asked)
        return {"Stacks": [{**answer["Stacks"][0], "StackStatus": "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"}]}

    with pytest.raises(Impossible, match="is being changed"):
        prepared(sqs, Wrapped(cloudformation, describe_stacks=changing), "running", "running")


def test_a_queue_is_known_by_its_tag(sqs: Any) -> None:
    """The names of other stacks begin with the same letters, and CloudFormation cuts off a long one."""
    mine = a_queue(sqs, "old", "DelayerQueue")
    a_queue(sqs, "older", "DelayerQueue")
    sqs.create_queue(QueueName="old-without-a-tag")
    name = "a-name-of-forty-two-characters-is-the-most"
    long = sqs.create_queue(QueueName=f"{name[:25]}-SqsSendDeadLe-1A2B3C", tags={TAG: f"{name}/SqsSendDeadLetterQueue"})
    assert queues_of(sqs, "old") == {"DelayerQueue": mine.url}
    assert queues_of(sqs, name) == {"SqsSendDeadLetterQueue": long["QueueUrl"]}
