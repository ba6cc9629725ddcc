"""The actions that call AWS, each under the role of its own executor."""

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest

from delayer.schedule.instants import format_instant
from delayer_client import Action, EventPut, LambdaInvoke, SnsPublish, StepStart
from delayer_client.api.action import AnyAction
from tests.e2e.client import StackClient, now, until
from tests.e2e.stacks.kinds import TARGET_ROLE

MACHINE = {"StartAt": "Pass", "States": {"Pass": {"Type": "Pass", "End": True}}}


def aws(client: StackClient, service: str) -> Any:
    """A client, of services without stubs, too."""
    make: Any = client.stack.client
    return make(service)


def post(client: StackClient, action: AnyAction, payload: object = None) -> str:
    """The id of a schedule that is due at once."""
    return client.delayer.schedule(action, at=format_instant(now()), payload=payload).id


SENDERS = ["sns.amazonaws.com", "events.amazonaws.com"]
MAY_SEND = {"Effect": "Allow", "Principal": {"Service": SENDERS}, "Action": "sqs:SendMessage", "Resource": "*"}


def a_queue(client: StackClient, name: str) -> tuple[str, str]:
    """Its URL and its ARN. Topics and rules may send to it."""
    sqs = aws(client, "sqs")
    attributes = {"Policy": json.dumps({"Version": "2012-10-17", "Statement": [MAY_SEND]})}
    fifo = {"FifoQueue": "true"} if name.endswith(".fifo") else {}
    url = sqs.create_queue(QueueName=name, Attributes={**attributes, **fifo})["QueueUrl"]
    return url, sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]


def received(client: StackClient, url: str) -> dict[str, Any]:
    """The one message."""
    sqs = aws(client, "sqs")

    def messages() -> list[Any]:
        answer = sqs.receive_message(
            QueueUrl=url, WaitTimeSeconds=1, AttributeNames=["All"], MessageAttributeNames=["All"]
        )
        return list(answer.get("Messages", []))

    [message] = until(messages)
    return dict(message)


def a_topic(client: StackClient, name: str) -> tuple[str, str]:
    """A topic, and a queue that gets what is published."""
    sns = aws(client, "sns")
    topic = sns.create_topic(Name=name, Attributes={"FifoTopic": "true"} if name.endswith(".fifo") else {})["TopicArn"]
    url, arn = a_queue(client, f"of-{name}")
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
    return topic, url


def a_role(client: StackClient, name: str, trusted: Mapping[str, Any]) -> str:
    """Its ARN."""
    statement = {"Effect": "Allow", "Action": "sts:AssumeRole", **trusted}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    return str(aws(client, "iam").create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"])


# ------------------------------------------------------------ sns-publish


def test_a_message_to_a_topic(on_aws: StackClient) -> None:
    """It may take a second: functions start."""
    topic, url = a_topic(on_aws, "delayer-target-news")
    schedule = post(on_aws, SnsPublish(topic_arn=topic, attributes={"kind": "due"}), {"a": 1})
    message = received(on_aws, url)
    assert json.loads(message["Body"]) == {"a": 1}
    attributes = {name: one["StringValue"] for name, one in message["MessageAttributes"].items()}
    assert (attributes["kind"], attributes["Delayer-Owner"]) == ("due", on_aws.owner)
    assert attributes["Idempotency-Key"] == attributes["Delayer-Schedule-Id"] == schedule
    assert on_aws.ledger_state(schedule, "executed")["detail"]["S"].startswith("message ")


@pytest.mark.thorough
def test_a_message_to_a_fifo_topic(on_aws: StackClient) -> None:
    """It may take a second: functions start."""
    topic, url = a_topic(on_aws, "delayer-target-news.fifo")
    schedule = post(on_aws, SnsPublish(topic_arn=topic, message_group_id="g"))
    message = received(on_aws, url)
    assert message["Attributes"]["MessageGroupId"] == "g"
    assert message["Attributes"]["MessageDeduplicationId"] == schedule


@pytest.mark.thorough
def test_the_stacks_own_topic_is_no_target(on_aws: StackClient) -> None:
    schedule = post(on_aws, SnsPublish(topic_arn=on_aws.stack.outputs["LifecycleTopic"]))
    assert on_aws.ledger_state(schedule, "failed")["detail"]["S"] == "a topic of Delayer itself"


@pytest.mark.thorough
def test_a_topic_beyond_the_pattern_is_not_reached(on_aws: StackClient) -> None:
    """By the role of the executor. It is tried again: somebody may correct the pattern."""
    topic, url = a_topic(on_aws, "private-news")
    schedule = post(on_aws, SnsPublish(topic_arn=topic), {"a": 1})
    row = until(lambda: on_aws.ledger_row(schedule), lambda row: row.get("detail"))
    assert row["state"] == {"S": "claimed"}
    assert row["detail"]["S"].startswith("SNS: ")
    answer = aws(on_aws, "sqs").receive_message(QueueUrl=url)
    assert not answer.get("Messages")


@pytest.mark.thorough
def test_a_role_reaches_what_the_stack_may_not(on_aws: StackClient) -> None:
    """It trusts the owner alone."""
    topic, url = a_topic(on_aws, "theirs")
    name = TARGET_ROLE.rpartition("/")[2]
    only = {"StringEquals": {"sts:ExternalId": on_aws.owner}}
    assert a_role(on_aws, name, {"Principal": {"AWS": "*"}, "Condition": only}) == TARGET_ROLE
    allowed = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sns:Publish", "Resource": topic}]}
    aws(on_aws, "iam").put_role_policy(RoleName=name, PolicyName="publish", PolicyDocument=json.dumps(allowed))
    schedule = post(on_aws, SnsPublish(topic_arn=topic, role_arn=TARGET_ROLE), {"a": 1})
    assert json.loads(received(on_aws, url)["Body"]) == {"a": 1}
    on_aws.ledger_state(schedule, "executed")


@pytest.mark.thorough
def test_a_role_that_the_stack_does_not_name_is_refused(on_aws: StackClient) -> None:
    topic = "arn:aws:sns:us-east-1:111111111111:theirs"
    role = "arn:aws:iam::111111111111:role/theirs"
    schedule = post(on_aws, SnsPublish(topic_arn=topic, role_arn=role))
    assert on_aws.ledger_state(schedule, "failed")["detail"]["S"] == "a role that the stack does not allow"


# ------------------------------------------------------------ event-put


def test_an_event_on_a_bus(on_aws: StackClient) -> None:
    """It may take a second: functions start."""
    events = aws(on_aws, "events")
    bus = events.create_event_bus(Name="delayer-target-bus")["EventBusArn"]
    url, arn = a_queue(on_aws, "of-the-bus")
    events.put_rule(Name="all", EventBusName="delayer-target-bus", EventPattern='{"source": ["com.example.orders"]}')
    events.put_targets(Rule="all", EventBusName="delayer-target-bus", Targets=[{"Id": "queue", "Arn": arn}])
    action = EventPut(event_bus_arn=bus, source="com.example.orders", detail_type="Order due")
    schedule = post(on_aws, action, {"order": 17})
    event = json.loads(received(on_aws, url)["Body"])
    assert (event["source"], event["detail-type"], event["detail"]) == (
        "com.example.orders",
        "Order due",
        {"order": 17},
    )
    assert {f"Delayer-Schedule-Id:{schedule}", f"Delayer-Owner:{on_aws.owner}"} <= set(event["resources"])
    assert on_aws.ledger_state(schedule, "executed")["detail"]["S"].startswith("event ")


@pytest.mark.thorough
def test_an_event_whose_bus_is_missing_waits_for_it(on_aws: StackClient) -> None:
    """It takes the seconds between two attempts."""
    events = aws(on_aws, "events")
    arn = events.create_event_bus(Name="delayer-target-late")["EventBusArn"]
    events.delete_event_bus(Name="delayer-target-late")
    schedule = post(on_aws, EventPut(event_bus_arn=arn, source="s", detail_type="d"), {})
    until(lambda: on_aws.ledger_row(schedule).get("detail"))
    events.create_event_bus(Name="delayer-target-late")
    on_aws.ledger_state(schedule, "executed")


def test_an_event_without_an_object_is_refused_at_once(on_aws: StackClient) -> None:
    bus = "arn:aws:events:us-east-1:000000000000:event-bus/delayer-target-bus"
    action = {"type": "event-put", "eventBusArn": bus, "source": "s", "detailType": "d"}
    payloads: tuple[object, ...] = (None, [], "text", 17)
    for payload in payloads:
        status, _, problem = on_aws.post({"delaySeconds": 1, "action": action, "payload": payload})
        assert (status, [error["field"] for error in problem["errors"]]) == (422, ["payload"]), payload


# ------------------------------------------------------------ lambda-invoke


def a_function(client: StackClient, name: str, body: str) -> str:
    """The ARN of a function with this body."""
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        archive.writestr("app.py", f"import json, urllib.request\n\n\ndef handler(event, context):\n{lines}\n")
    made = aws(client, "lambda").create_function(
        FunctionName=name,
        Runtime="python3.13",
        Handler="app.handler",
        Role=a_role(client, f"{name}-role", {"Principal": {"Service": "lambda.amazonaws.com"}}),
        Code={"ZipFile": code.getvalue()},
    )
    return str(made["FunctionArn"])


def telling(client: StackClient, path: str) -> str:
    """A body that tells the receiver what the function was given."""
    url = client.receiver.url + path
    return f"urllib.request.urlopen(urllib.request.Request({url!r}, json.dumps(event).encode(), method='POST')).read()"


@pytest.mark.parametrize("more", [{}, pytest.param({"invocationType": "RequestResponse"}, marks=pytest.mark.thorough)])
def test_a_function_is_invoked(on_aws: StackClient, more: dict[str, str]) -> None:
    """It takes a second or two: the function starts."""
    kind = more.get("invocationType", "Event")
    arn = a_function(on_aws, f"delayer-target-{kind}", telling(on_aws, f"/invoked-{kind}"))
    schedule = post(on_aws, Action("lambda-invoke", functionArn=arn, **more), {"order": 17})
    [request] = on_aws.arrivals(f"/invoked-{kind}")
    event = json.loads(request.body)
    assert event["payload"] == {"order": 17}
    assert (event["delayer"]["scheduleId"], event["delayer"]["owner"]) == (schedule, on_aws.owner)
    detail = on_aws.ledger_state(schedule, "executed")["detail"]["S"]
    assert detail == ("the function returned" if more else "accepted by Lambda")


@pytest.mark.thorough
def test_a_function_that_fails_while_it_is_waited_for_is_called_again(on_aws: StackClient) -> None:
    """By the schedule: each call is an attempt of its own. Two attempts are seconds apart."""
    tell = telling(on_aws, "/failing")
    arn = a_function(on_aws, "delayer-target-failing", f"{tell}\nraise ValueError('secret')")
    post(on_aws, LambdaInvoke(function_arn=arn, invocation_type="RequestResponse"))
    assert len(on_aws.arrivals("/failing", count=2)) == 2


@pytest.mark.thorough
def test_the_stacks_own_functions_are_no_targets(on_aws: StackClient) -> None:
    """It takes a second or two: three of them."""
    functions = aws(on_aws, "lambda").get_paginator("list_functions").paginate()
    names = {one["FunctionName"]: one["FunctionArn"] for page in functions for one in page["Functions"]}
    own = [arn for name, arn in names.items() if name.startswith("delayer-") and "target" not in name]
    assert len(own) >= 20
    for arn in own[:3]:
        schedule = post(on_aws, LambdaInvoke(function_arn=arn))
        assert on_aws.ledger_state(schedule, "failed")["detail"]["S"] == "a function of Delayer itself"


# ------------------------------------------------------------ step-start


def a_machine(client: StackClient, name: str, kind: str) -> str:
    made = aws(client, "stepfunctions").create_state_machine(
        name=name,
        definition=json.dumps(MACHINE),
        roleArn=a_role(client, f"{name}-role", {"Principal": {"Service": "states.amazonaws.com"}}),
        type=kind,
    )
    return str(made["stateMachineArn"])


def test_an_execution_is_started_once(on_aws: StackClient) -> None:
    """Its name is the schedule's id: what an attempt repeats is there already.

    It may take a second: functions start.
    """
    arn = a_machine(on_aws, "delayer-target-machine", "STANDARD")
    schedule = post(on_aws, StepStart(state_machine_arn=arn), {"order": 17})
    assert on_aws.ledger_state(schedule, "executed")["detail"]["S"] == "started"
    states = aws(on_aws, "stepfunctions")
    [execution] = states.list_executions(stateMachineArn=arn)["executions"]
    assert execution["name"] == schedule
    found = json.loads(states.describe_execution(executionArn=execution["executionArn"])["input"])
    assert (found["payload"], found["delayer"]["owner"]) == ({"order": 17}, on_aws.owner)


@pytest.mark.thorough
def test_an_express_state_machine_is_refused(on_aws: StackClient) -> None:
    arn = a_machine(on_aws, "delayer-target-express", "EXPRESS")
    schedule = post(on_aws, StepStart(state_machine_arn=arn))
    detail = on_aws.ledger_state(schedule, "failed")["detail"]["S"]
    assert detail == "an Express state machine: AWS would start it again at each attempt"


@pytest.mark.parametrize("kind", ["sns-publish", "step-start"])
def test_a_payload_that_its_target_cannot_take_is_refused_at_once(on_aws: StackClient, kind: str) -> None:
    arns = {
        "sns-publish": {"topicArn": "arn:aws:sns:us-east-1:000000000000:delayer-target-news"},
        "step-start": {"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:delayer-target-x"},
    }
    payload = "x" * 254_000
    status, _, problem = on_aws.post({"delaySeconds": 1, "action": {"type": kind, **arns[kind]}, "payload": payload})
    assert status == 422, problem
    assert [error["field"] for error in problem["errors"]] == ["payload"]
