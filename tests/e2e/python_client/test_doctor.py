"""One stack is broken and mended in turn, and the doctor finds each time what is so. What the emulator has no source
for is in tests/client/doctor."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from attrs import frozen

from delayer_client.operator import Aws, OperatorStack
from delayer_client.operator.doctor import Doctor, Finding, Severity, as_dicts, worst
from local.project import PROJECT
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from local.stack.ports import free_port

pytestmark = pytest.mark.thorough

LATELY = timedelta(minutes=10)
LATE_ON_A_BUSY_MACHINE = ("ticks", "canary", "alarms")  # the areas of what happens each minute, and what rings for it


@pytest.fixture(scope="module")
def stack() -> Iterator[EmulatedStack]:
    with EmulatedStack(parameters={"DelayerPeriod": "60"}, starts_functions=False) as stack:
        yield stack


@cache
def credentials_of(url: str) -> Aws:
    """Found once: to make boto3's clients takes longer than to look at a stack."""
    return OperatorStack.find(url, folder=PROJECT / "tests").aws  # .local is in a folder above it


def found(stack: EmulatedStack) -> OperatorStack:
    return OperatorStack(credentials_of(stack.api_url), url=stack.api_url)


def examined(stack: EmulatedStack) -> list[Finding]:
    return Doctor(found(stack), stack.api_url).examine()


def resource(stack: EmulatedStack, logical_id: str) -> str:
    """Its name in AWS."""
    return next(one.physical_id for one in found(stack).resources if one.logical_id == logical_id)


# ------------------------------------------------------------ what is broken, and mended again


def switch_mapping(stack: EmulatedStack, *, enabled: bool, name: str = "StreamEnqueuerSchedules") -> None:
    functions, uuid = stack.client("lambda"), resource(stack, name)
    functions.update_event_source_mapping(UUID=uuid, Enabled=enabled)
    wanted = "Enabled" if enabled else "Disabled"
    while functions.get_event_source_mapping(UUID=uuid)["State"] != wanted:
        time.sleep(0.1)


def switch_tick(stack: EmulatedStack, state: Any) -> None:
    events: Any = stack.client("events")
    (events.enable_rule if state == "ENABLED" else events.disable_rule)(Name=resource(stack, "EveryMinute"))


def change_row(stack: EmulatedStack, name: str, update: str, **values: Any) -> None:
    stack.client("dynamodb").update_item(
        TableName=stack.outputs["ControlTable"],
        Key={"name": {"S": name}},
        UpdateExpression=update,
        ExpressionAttributeValues={f":{key}": value for key, value in values.items()},
    )


def long_ago() -> str:
    return str(round((datetime.now(UTC) - LATELY).timestamp() * 1000))


def stop_ticks(stack: EmulatedStack) -> None:
    switch_tick(stack, "DISABLED")
    row = {"name": {"S": "sweep"}, "closedUntil": {"N": "29000000"}, "wholeAt": {"N": "0"}}
    stack.client("dynamodb").put_item(
        TableName=stack.outputs["ControlTable"], Item={**row, "sweptAt": {"N": long_ago()}}
    )
    stack.client("dynamodb").delete_item(TableName=stack.outputs["ControlTable"], Key={"name": {"S": "heartbeat"}})


def tick_again(stack: EmulatedStack) -> None:
    """The next tick leaves its signs. It begins where the last one ended, which was put to long ago."""
    now = round(time.time() / 60)
    change_row(stack, "sweep", "SET closedUntil = :now", now={"N": str(now - 10)})
    stack.invoke("task-1minute-enqueuer", {})
    switch_tick(stack, "ENABLED")


AWAITED: list[str] = []


def lose_heartbeat(stack: EmulatedStack) -> None:
    switch_tick(stack, "DISABLED")  # the next tick would send it again
    AWAITED.append(f"{long_ago()}#lost")
    change_row(stack, "heartbeat", "ADD awaited :one", one={"SS": AWAITED[-1:]})


def find_heartbeat(stack: EmulatedStack) -> None:
    change_row(stack, "heartbeat", "DELETE awaited :one", one={"SS": AWAITED[-1:]})
    tick_again(stack)


def fill(stack: EmulatedStack, queue: str) -> None:
    stack.client("sqs").send_message(QueueUrl=resource(stack, queue), MessageBody="{}")


def purge(stack: EmulatedStack, queue: str) -> None:
    stack.client("sqs").purge_queue(QueueUrl=resource(stack, queue))


def suspect(stack: EmulatedStack) -> None:
    switch_mapping(stack, enabled=False, name="SuspectsDispatcherSuspectsQueueMessages")
    fill(stack, "SuspectsQueue")


def acquit(stack: EmulatedStack) -> None:
    purge(stack, "SuspectsQueue")
    switch_mapping(stack, enabled=True, name="SuspectsDispatcherSuspectsQueueMessages")


def ring(stack: EmulatedStack, state: Any) -> None:
    stack.client("cloudwatch").set_alarm_state(
        AlarmName=resource(stack, "IteratorAgeAlarm"), StateValue=state, StateReason="tried"
    )


def silence(stack: EmulatedStack) -> None:
    stack.client("cloudwatch").disable_alarm_actions(AlarmNames=[resource(stack, "FailedAlarm")])


def unsilence(stack: EmulatedStack) -> None:
    stack.client("cloudwatch").enable_alarm_actions(AlarmNames=[resource(stack, "FailedAlarm")])


def subscribe(stack: EmulatedStack) -> None:
    arn = f"arn:aws:sqs:us-east-1:000000000000:{resource(stack, 'TaskDeadLetterQueue').rpartition('/')[2]}"
    stack.client("sns").subscribe(TopicArn=stack.outputs["AlarmTopic"], Protocol="sqs", Endpoint=arn)


def unsubscribe(stack: EmulatedStack) -> None:
    sns = stack.client("sns")
    for one in sns.list_subscriptions_by_topic(TopicArn=stack.outputs["AlarmTopic"])["Subscriptions"]:
        sns.unsubscribe(SubscriptionArn=one["SubscriptionArn"])


def store(stack: EmulatedStack, key: str) -> None:
    body = {"reason": "tried", "at": 1, "records": []}
    stack.client("s3").put_object(Bucket=stack.outputs["DeadLetterBucket"], Key=key, Body=json.dumps(body).encode())


def unstore(stack: EmulatedStack, key: str) -> None:
    stack.client("s3").delete_object(Bucket=stack.outputs["DeadLetterBucket"], Key=key)


def canaries(stack: EmulatedStack, milliseconds: float, *minutes_ago: int) -> None:
    data = [
        {
            "MetricName": "CanaryNearLateness",
            "Dimensions": [{"Name": "service", "Value": "delayer"}],
            "Value": milliseconds,
            "Timestamp": datetime.now(UTC) - timedelta(minutes=minutes),
        }
        for minutes in minutes_ago
    ]
    stack.client("cloudwatch").put_metric_data(Namespace="Delayer", MetricData=data)


@frozen(kw_only=True)
class Ill:
    """What is done to the stack, and undone."""

    code: str
    breaks: Callable[[EmulatedStack], object]
    mends: Callable[[EmulatedStack], object]
    about: str = ""  # a part of it
    link: str = ""  # a part of it


ILLS = [
    Ill(
        code="mapping-disabled",
        breaks=lambda stack: switch_mapping(stack, enabled=False),
        mends=lambda stack: switch_mapping(stack, enabled=True),
        about="StreamEnqueuerSchedules",
        link="#streamnotpolledalarm",
    ),
    Ill(
        code="tick-switched-off",
        breaks=lambda stack: switch_tick(stack, "DISABLED"),
        mends=lambda stack: switch_tick(stack, "ENABLED"),
        about="EveryMinute",
        link="#minutetaskmissingalarm",
    ),
    Ill(code="tick-late", breaks=stop_ticks, mends=tick_again),
    Ill(code="sweep-held", breaks=lose_heartbeat, mends=find_heartbeat),
    Ill(
        code="dead-letter-queue-filled",
        breaks=lambda stack: fill(stack, "TaskDeadLetterQueue"),
        mends=lambda stack: purge(stack, "TaskDeadLetterQueue"),
        about="TaskDeadLetterQueue",
        link="#taskdeadletterqueuealarm",
    ),
    Ill(code="suspects-wait", breaks=suspect, mends=acquit, about="SuspectsQueue"),
    Ill(
        code="alarm-rings",
        breaks=lambda stack: ring(stack, "ALARM"),
        mends=lambda stack: ring(stack, "OK"),
        about="IteratorAgeAlarm",
        link="operate/runbook.md#iteratoragealarm",
    ),
    Ill(code="alarm-silenced", breaks=silence, mends=unsilence, about="FailedAlarm"),
    Ill(code="alarms-heard", breaks=subscribe, mends=unsubscribe),
    Ill(code="alarms-unheard-here", breaks=unsubscribe, mends=subscribe),
    Ill(
        code="dead-letters-wait",
        breaks=lambda stack: store(stack, "dead-lettered/malformed/1.json"),
        mends=lambda stack: unstore(stack, "dead-lettered/malformed/1.json"),
    ),
    Ill(
        code="failed-schedules-stored",
        breaks=lambda stack: store(stack, "failed/a/1.json"),
        mends=lambda stack: unstore(stack, "failed/a/1.json"),
    ),
    Ill(
        code="stream-records-set-aside",
        breaks=lambda stack: store(stack, "waiting/1.json"),
        mends=lambda stack: unstore(stack, "waiting/1.json"),
    ),
    Ill(
        code="suspended",
        breaks=lambda stack: found(stack).flow.suspend(owner="ann", reason="tried"),
        mends=lambda stack: found(stack).flow.release(owner="ann"),
        about="owner ann",
    ),
    Ill(
        code="canary-late",
        breaks=lambda stack: canaries(stack, 5000, 14, 13, 12, 11),
        mends=lambda stack: canaries(stack, 5, 10, 9, 8, 7, 6, 5),
        about="near",
    ),
]


def test_a_stack_that_is_well(stack: EmulatedStack) -> None:
    """After its first tick. Nobody hears its alarms, and it is too new for some figures: those are notes.

    It takes some seconds: the functions start.
    """
    stack.invoke("task-1minute-enqueuer", {})
    seen: list[str] = []
    findings = Doctor.find(stack.api_url, folder=PROJECT).examine(seen.append)
    assert tuple(seen) == Doctor.areas
    assert worst(findings) is Severity.NOTE, as_dicts(findings)
    codes = {one.code for one in findings if one.severity is Severity.OK}
    assert {"api-answers", "clock-right", "stack-in-order", "ticks-run", "mappings-enabled", "queues-drained"} <= codes
    assert {"alarms-quiet", "no-dead-letters", "flow-free", "concurrency-enough", "functions-well"} <= codes
    [answers] = [one for one in findings if one.code == "api-answers"]
    assert answers.data["owner"] == "anonymous"
    assert json.loads(json.dumps(as_dicts(findings)))


@pytest.mark.parametrize("ill", ILLS, ids=lambda ill: ill.code)
def test_what_is_broken_is_found_until_it_is_mended(stack: EmulatedStack, ill: Ill) -> None:
    """Each takes some seconds: the whole stack is looked at twice."""
    try:
        ill.breaks(stack)
        named = [one for one in examined(stack) if one.code == ill.code and ill.about in f"{one.about} {one.what}"]
    finally:
        ill.mends(stack)
    assert named, ill.code
    assert ill.link in named[0].link
    after = [one for one in examined(stack) if one.code == ill.code and ill.about in f"{one.about} {one.what}"]
    assert after == []


def test_a_canary_that_arrives(stack: EmulatedStack) -> None:
    """It takes more than a second: the whole stack is looked at."""
    canaries(stack, 7, 2, 1)
    assert "canary-arrives" in {one.code for one in examined(stack)}


def test_nobody_at_the_url_and_somebody_else(stack: EmulatedStack, receiver: Receiver) -> None:
    """What is not of the API is looked at all the same. It takes some seconds: the whole stack is looked at twice."""
    operated = found(stack)
    for url, code in ((f"http://localhost:{free_port()}", "api-silent"), (receiver.url, "api-not-delayer")):
        findings = Doctor(operated, url).examine()
        assert findings[0].code == code
        assert "mappings-enabled" in {one.code for one in findings}


def test_another_stack_and_no_credentials(stack: EmulatedStack, tmp_path: Path) -> None:
    """It takes more than a second: clients are made anew."""
    [*_, last] = Doctor.find(stack.api_url, stack="other", folder=PROJECT).examine()
    assert (last.code, last.severity) == ("not-seen", Severity.UNKNOWN)
    assert "other" in last.what
    findings = Doctor.find(stack.api_url, folder=tmp_path).examine()
    assert [one.code for one in findings] == ["api-answers", "clock-right", "not-seen"]
    assert f".local/{stack.port}/aws.env" in findings[-1].what


def test_what_may_not_be_seen_is_named(stack: EmulatedStack) -> None:
    """A user without permissions, then with some. It takes some seconds: the whole stack is looked at three times."""
    iam = stack.client("iam")
    iam.create_user(UserName="visitor")
    key = iam.create_access_key(UserName="visitor")["AccessKey"]
    session = boto3.Session(key["AccessKeyId"], key["SecretAccessKey"], region_name="us-east-1")

    def missing() -> set[str]:
        aws = Aws(session=session, region="us-east-1", endpoint_url=stack.aws_endpoint_url)
        findings = Doctor(OperatorStack(aws, url=stack.api_url), stack.api_url).examine()
        unseen = [one for one in findings if one.code == "not-allowed"]
        others = [one for one in findings if one not in unseen and one.area not in LATE_ON_A_BUSY_MACHINE]
        assert all(one.severity is Severity.UNKNOWN for one in unseen)
        assert [one.what for one in others if one.severity is Severity.PROBLEM] == []
        return {one.about for one in unseen}

    assert {
        "cloudformation:DescribeStacks",
        "lambda:InvokeFunction on delayer-operator-flow",
        "lambda:InvokeFunction on delayer-operator-dead-letters",
    } <= missing()
    some = {"Effect": "Allow", "Action": ["cloudformation:*", "lambda:*", "events:*"], "Resource": "*"}
    allow = {"Version": "2012-10-17", "Statement": [some]}
    iam.put_user_policy(UserName="visitor", PolicyName="some", PolicyDocument=json.dumps(allow))
    assert missing() == {
        "dynamodb:GetItem on the control table",
        "dynamodb:Scan on the registry table",
        "cloudwatch:GetMetricData",
        "cloudwatch:DescribeAlarms",
        "sqs:GetQueueAttributes",
        "sns:ListSubscriptionsByTopic",
    }
    some["Action"] = ["*"]
    iam.put_user_policy(UserName="visitor", PolicyName="some", PolicyDocument=json.dumps(allow))
    assert missing() == set()
