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
from tests.e2e.client import Client, now, until
from tests.e2e.stacks.kinds import TARGET_ROLE

MACHINE = {"StartAt": "Pass", "States": {"Pass": {"Type": "Pass", "End": True}}}


def aws(client: Client, service: str) -> Any:
    """A client, of services without stubs, too."""
    make: Any = client.stack.client
    return make(service)


def post(client: Client, action: AnyAction, payload: object = None) -> str:
    """The id of a schedule that is due at once."""
    return client.delayer.schedule(action, at=format_instant(now()), payload=payload).id


SENDERS = ["sns.amazonaws.com", "events.amazonaws.com"]
MAY_SEND = {"Effect": "Allow", "Principal": {"Service": SENDERS}, "Action": "sqs:SendMessage", "Resource": "*"}


def a_queue(client: Client, name: str) -> tuple[str, str]:
    """Its URL and its ARN. Topics and rules may send to it."""
    sqs = aws(client, "sqs")
    attributes = {"Policy": json.dumps({"Version": "2012-10-17", "Statement": [MAY_SEND]})}
    fifo = {"FifoQueue": "true"} if name.endswith(".fifo") else {}
    url = sqs.create_queue(QueueName=name, Attributes={**attributes, **fifo})["QueueUrl"]
    return url, sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]


def received(client: Client, url: str) -> dict[str, Any]:
    """The one message."""
    sqs = aws(client, "sqs")

    def messages() -> list[Any]:
        answer = sqs.receive_message(
            QueueUrl=url, WaitTimeSeconds=1, AttributeNames=["All"], MessageAttributeNames=["All"]
        )
        return list(answer.get("Messages", []))

    [message] = until(messages)
    return dict(message)


def a_topic(client: Client, name: str) -> tuple[str, str]:
    """A topic, and a queue that gets what is published."""
    sns = aws(client, "sns")
    topic = sns.create_topic(Name=name, Attributes={"FifoTopic": "true"} if name.endswith(".fifo") else {})["TopicArn"]
    url, arn = a_queue(client, f"of-{name}")
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
    return topic, url


def a_role(client: Client, name: str, trusted: Mapping[str, Any]) -> str:
    """Its ARN."""
    statement = {"Effect": "Allow", "Action": "sts:AssumeRole", **trusted}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    return str(aws(client, "iam").create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"])


# ------------------------------------------------------------ sns-publish


def test_a_message_to_a_topic(client: Client) -> None:
    """It may take a second: functions start."""
    topic, url = a_topic(client, "delayer-target-news")
    schedule = post(client, SnsPublish(topic_arn=topic, attributes={"kind": "due"}), {"a": 1})
    message = received(client, url)
    assert json.loads(message["Body"]) == {"a": 1}
    attributes = {name: one["StringValue"] for name, one in message["MessageAttributes"].items()}
    assert (attributes["kind"], attributes["Delayer-Owner"]) == ("due", client.owner)
    assert attributes["Idempotency-Key"] == attributes["Delayer-Schedule-Id"] == schedule
    assert client.ledger_state(schedule, "executed")["detail"]["S"].startswith("message ")


@pytest.mark.thorough
def test_a_message_to_a_fifo_topic(client: Client) -> None:
    """It may take a second: functions start."""
    topic, url = a_topic(client, "delayer-target-news.fifo")
    schedule = post(client, SnsPublish(topic_arn=topic, message_group_id="g"))
    message = received(client, url)
    assert message["Attributes"]["MessageGroupId"] == "g"
    assert message["Attributes"]["MessageDeduplicationId"] == schedule


@pytest.mark.thorough
def test_the_stacks_own_topic_is_no_target(client: Client) -> None:
    schedule = post(client, SnsPublish(topic_arn=client.stack.outputs["LifecycleTopic"]))
    assert client.ledger_state(schedule, "failed")["detail"]["S"] == "a topic of Delayer itself"


@pytest.mark.thorough
def test_a_topic_beyond_the_pattern_is_not_reached(client: Client) -> None:
    """By the role of the executor. It is tried again: somebody may correct the pattern."""
    topic, url = a_topic(client, "private-news")
    schedule = post(client, SnsPublish(topic_arn=topic), {"a": 1})
    row = until(lambda: client.ledger_row(schedule), lambda row: row.get("detail"))
    assert row["state"] == {"S": "claimed"}
    assert row["detail"]["S"].startswith("SNS: ")
    answer = aws(client, "sqs").receive_message(QueueUrl=url)
    assert not answer.get("Messages")


@pytest.mark.thorough
def test_a_role_reaches_what_the_stack_may_not(client: Client) -> None:
    """It trusts the owner alone."""
    topic, url = a_topic(client, "theirs")
    name = TARGET_ROLE.rpartition("/")[2]
    only = {"StringEquals": {"sts:ExternalId": client.owner}}
    assert a_role(client, name, {"Principal": {"AWS": "*"}, "Condition": only}) == TARGET_ROLE
    allowed = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sns:Publish", "Resource": topic}]}
    aws(client, "iam").put_role_policy(RoleName=name, PolicyName="publish", PolicyDocument=json.dumps(allowed))
    schedule = post(client, SnsPublish(topic_arn=topic, role_arn=TARGET_ROLE), {"a": 1})
    assert json.loads(received(client, url)["Body"]) == {"a": 1}
    client.ledger_state(schedule, "executed")


@pytest.mark.thorough
def test_a_role_that_the_stack_does_not_name_is_refused(client: Client) -> None:
    topic = "arn:aws:sns:us-east-1:111111111111:theirs"
    role = "arn:aws:iam::111111111111:role/theirs"
    schedule = post(client, SnsPublish(topic_arn=topic, role_arn=role))
    assert client.ledger_state(schedule, "failed")["detail"]["S"] == "a role that the stack does not allow"


# ------------------------------------------------------------ event-put


def test_an_event_on_a_bus(client: Client) -> None:
    """It may take a second: functions start."""
    events = aws(client, "events")
    bus = events.create_event_bus(Name="delayer-target-bus")["EventBusArn"]
    url, arn = a_queue(client, "of-the-bus")
    events.put_rule(Name="all", EventBusName="delayer-target-bus", EventPattern='{"source": ["com.example.orders"]}')
    events.put_targets(Rule="all", EventBusName="delayer-target-bus", Targets=[{"Id": "queue", "Arn": arn}])
    action = EventPut(event_bus_arn=bus, source="com.example.orders", detail_type="Order due")
    schedule = post(client, action, {"order": 17})
    event = json.loads(received(client, url)["Body"])
    assert (event["source"], event["detail-type"], event["detail"]) == (
        "com.example.orders",
        "Order due",
        {"order": 17},
    )
    assert {f"Delayer-Schedule-Id:{schedule}", f"Delayer-Owner:{client.owner}"} <= set(event["resources"])
    assert client.ledger_state(schedule, "executed")["detail"]["S"].startswith("event ")


@pytest.mark.thorough
def test_an_event_whose_bus_is_missing_waits_for_it(client: Client) -> None:
    """It takes the seconds between two attempts."""
    events = aws(client, "events")
    arn = events.create_event_bus(Name="delayer-target-late")["EventBusArn"]
    events.delete_event_bus(Name="delayer-target-late")
    schedule = post(client, EventPut(event_bus_arn=arn, source="s", detail_type="d"), {})
    until(lambda: client.ledger_row(schedule).get("detail"))
    events.create_event_bus(Name="delayer-target-late")
    client.ledger_state(schedule, "executed")


def test_an_event_without_an_object_is_refused_at_once(client: Client) -> None:
    bus = "arn:aws:events:us-east-1:000000000000:event-bus/delayer-target-bus"
    action = {"type": "event-put", "eventBusArn": bus, "source": "s", "detailType": "d"}
    payloads: tuple[object, ...] = (None, [], "text", 17)
    for payload in payloads:
        status, _, problem = client.post({"delaySeconds": 1, "action": action, "payload": payload})
        assert (status, [error["field"] for error in problem["errors"]]) == (422, ["payload"]), payload


# ------------------------------------------------------------ lambda-invoke


def a_function(client: Client, name: str, body: str) -> str:
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


def telling(client: Client, path: str) -> str:
    """A body that tells the receiver what the function was given."""
    url = client.receiver.url + path
    return f"urllib.request.urlopen(urllib.request.Request({url!r}, json.dumps(event).encode(), method='POST')).read()"


@pytest.mark.parametrize("more", [{}, pytest.param({"invocationType": "RequestResponse"}, marks=pytest.mark.thorough)])
def test_a_function_is_invoked(client: Client, more: dict[str, str]) -> None:
    """It takes a second or two: the function starts."""
    kind = more.get("invocationType", "Event")
    arn = a_function(client, f"delayer-target-{kind}", telling(client, f"/invoked-{kind}"))
    schedule = post(client, Action("lambda-invoke", functionArn=arn, **more), {"order": 17})
    [request] = client.arrivals(f"/invoked-{kind}")
    event = json.loads(request.body)
    assert event["payload"] == {"order": 17}
    assert (event["delayer"]["scheduleId"], event["delayer"]["owner"]) == (schedule, client.owner)
    detail = client.ledger_state(schedule, "executed")["detail"]["S"]
    assert detail == ("the function returned" if more else "accepted by Lambda")


@pytest.mark.thorough
def test_a_function_that_fails_while_it_is_waited_for_is_called_again(client: Client) -> None:
    """By the schedule: each call is an attempt of its own. Two attempts are seconds apart."""
    tell = telling(client, "/failing")
    arn = a_function(client, "delayer-target-failing", f"{tell}\nraise ValueError('secret')")
    post(client, LambdaInvoke(function_arn=arn, invocation_type="RequestResponse"))
    assert len(client.arrivals("/failing", count=2)) == 2


@pytest.mark.thorough
def test_the_stacks_own_functions_are_no_targets(client: Client) -> None:
    """It takes a second or two: three of them."""
    functions = aws(client, "lambda").get_paginator("list_functions").paginate()
    names = {one["FunctionName"]: one["FunctionArn"] for page in functions for one in page["Functions"]}
    own = [arn for name, arn in names.items() if name.startswith("delayer-") and "target" not in name]
    assert len(own) >= 20
    for arn in own[:3]:
        schedule = post(client, LambdaInvoke(function_arn=arn))
        assert client.ledger_state(schedule, "failed")["detail"]["S"] == "a function of Delayer itself"


# ------------------------------------------------------------ step-start


def a_machine(client: Client, name: str, kind: str) -> str:
    made = aws(client, "stepfunctions").create_state_machine(
        name=name,
        definition=json.dumps(MACHINE),
        roleArn=a_role(client, f"{name}-role", {"Principal": {"Service": "states.amazonaws.com"}}),
        type=kind,
    )
    return str(made["stateMachineArn"])


def test_an_execution_is_started_once(client: Client) -> None:
    """Its name is the schedule's id: what an attempt repeats is there already.

    It may take a second: functions start.
    """
    arn = a_machine(client, "delayer-target-machine", "STANDARD")
    schedule = post(client, StepStart(state_machine_arn=arn), {"order": 17})
    assert client.ledger_state(schedule, "executed")["detail"]["S"] == "started"
    states = aws(client, "stepfunctions")
    [execution] = states.list_executions(stateMachineArn=arn)["executions"]
    assert execution["name"] == schedule
    found = json.loads(states.describe_execution(executionArn=execution["executionArn"])["input"])
    assert (found["payload"], found["delayer"]["owner"]) == ({"order": 17}, client.owner)


@pytest.mark.thorough
def test_an_express_state_machine_is_refused(client: Client) -> None:
    arn = a_machine(client, "delayer-target-express", "EXPRESS")
    schedule = post(client, StepStart(state_machine_arn=arn))
    detail = client.ledger_state(schedule, "failed")["detail"]["S"]
    assert detail == "an Express state machine: AWS would start it again at each attempt"


@pytest.mark.parametrize("kind", ["sns-publish", "step-start"])
def test_a_payload_that_its_target_cannot_take_is_refused_at_once(client: Client, kind: str) -> None:
    arns = {
        "sns-publish": {"topicArn": "arn:aws:sns:us-east-1:000000000000:delayer-target-news"},
        "step-start": {"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:delayer-target-x"},
    }
    payload = "x" * 254_000
    status, _, problem = client.post({"delaySeconds": 1, "action": {"type": kind, **arns[kind]}, "payload": payload})
    assert status == 422, problem
    assert [error["field"] for error in problem["errors"]] == ["payload"]
