"""What each of the actions that call AWS sends, and what it makes of the answer."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.engines.aws.target_clients import target_client
from delayer.targets import known
from tests.samples import NOW, OWNER, an_id
from tests.unit.empty_account import empty_account
from tests.unit.targets.apps import reach
from tests.unit.targets.aws.samples import (
    ACCOUNT,
    PAYLOAD,
    REGION,
    Scripted,
    a_message,
    action_of,
    an_error,
    run,
)

ABOUT = {
    "Idempotency-Key": an_id(NOW + 250),
    "Delayer-Schedule-Id": an_id(NOW + 250),
    "Delayer-Point-In-Time": "2026-11-21T09:00:00.250Z",
    "Delayer-Attempt": "2",
    "Delayer-Owner": OWNER,
}
ENVELOPE = {"scheduleId": an_id(NOW + 250), "owner": OWNER, "pointInTime": "2026-11-21T09:00:00.250Z"}


@pytest.fixture
def aws() -> Iterator[None]:
    with empty_account():
        yield


def attempt(action: dict[str, Any], payload: str = PAYLOAD) -> Result:
    """With the client that the function makes itself."""
    return reach(action["type"], a_message(action, payload), target_client)


def queued(url: str) -> list[dict[str, Any]]:
    answer = boto3.client("sqs", REGION).receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"], AttributeNames=["All"]
    )
    return [dict(message) for message in answer.get("Messages", [])]


# ------------------------------------------------------------ sns-publish


def subscribed(name: str) -> tuple[str, str]:
    """A topic, and the queue that gets its messages as they are."""
    fifo = {"FifoTopic": "true"} if name.endswith(".fifo") else {}
    topic = boto3.client("sns", REGION).create_topic(Name=name, Attributes=fifo)["TopicArn"]
    sqs = boto3.client("sqs", REGION)
    url = sqs.create_queue(QueueName=name, Attributes={"FifoQueue": "true"} if fifo else {})["QueueUrl"]
    boto3.client("sns", REGION).subscribe(
        TopicArn=topic,
        Protocol="sqs",
        Endpoint=f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}",
        Attributes={"RawMessageDelivery": "true"},
    )
    return topic, url


@pytest.mark.usefixtures("aws")
def test_a_message_to_a_topic() -> None:
    """With all its attributes as many as a queue takes that is subscribed for the raw message."""
    topic, url = subscribed("delayer-target-orders")
    more = {f"a{number}": f"x {number}" for number in range(5)}
    result = attempt({"type": "sns-publish", "topicArn": topic, "attributes": more, "subject": "Due"})
    assert isinstance(result, Done)
    assert result.detail.startswith("message ")
    [message] = queued(url)
    attributes = {name: one["StringValue"] for name, one in message["MessageAttributes"].items()}
    assert (message["Body"], attributes) == (PAYLOAD, {**more, **ABOUT})
    assert len(attributes) == 10


@pytest.mark.usefixtures("aws")
def test_a_fifo_topic_sees_a_repeated_attempt_once() -> None:
    topic, url = subscribed("delayer-target-orders.fifo")
    for _ in range(2):
        assert isinstance(attempt({"type": "sns-publish", "topicArn": topic, "messageGroupId": "order-17"}), Done)
    [message] = queued(url)
    assert message["Attributes"]["MessageGroupId"] == "order-17"
    assert message["Attributes"]["MessageDeduplicationId"] == an_id(NOW + 250)


@pytest.mark.parametrize(
    ("name", "group", "sent"),
    [
        ("t", "", {}),
        ("t", "tenant", {"MessageGroupId": "tenant"}),
        ("t.fifo", "", {"MessageGroupId": an_id(NOW + 250), "MessageDeduplicationId": an_id(NOW + 250)}),
        ("t.fifo", "order", {"MessageGroupId": "order", "MessageDeduplicationId": an_id(NOW + 250)}),
    ],
)
def test_the_group_and_the_deduplication_id_of_a_topic(name: str, group: str, sent: dict[str, str]) -> None:
    client = Scripted()
    run(action_of("sns-publish", name=name, **({"messageGroupId": group} if group else {})), client, payload="")
    [(_, arguments)] = client.calls
    assert {key: value for key, value in arguments.items() if key.startswith("MessageG") or "Dedup" in key} == sent
    assert arguments["Message"] == "null", "SNS takes no empty text"


@pytest.mark.parametrize("code", ["InvalidParameter", "InvalidParameterValue"])
def test_what_sns_cannot_hold_it_never_will(code: str) -> None:
    assert run(action_of("sns-publish"), Scripted({"publish": an_error(code)})) == Refused(f"SNS: {code}")


# ------------------------------------------------------------ event-put


def test_an_event_on_a_bus() -> None:
    """What it says of its schedule is not in the detail, which is the payload byte for byte."""
    client = Scripted()
    assert run(action_of("event-put"), client) == Done("event e-1")
    [entry] = client.calls[1][1]["Entries"]
    assert entry == {
        "EventBusName": f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/delayer-target-orders",
        "Source": "orders",
        "DetailType": "Order due",
        "Detail": PAYLOAD,
        "Resources": [f"{name}:{value}" for name, value in ABOUT.items()],
    }


@pytest.mark.usefixtures("aws")
def test_an_event_for_a_bus_that_is_missing_is_not_lost() -> None:
    """EventBridge would take it, and drop it. It takes some seconds: moto loads all of its EventBridge."""
    action = action_of("event-put")
    assert attempt(action) == Retry(detail="EventBridge: ResourceNotFoundException")
    boto3.client("events", REGION).create_event_bus(Name="delayer-target-orders")
    assert isinstance(attempt(action), Done)


def test_a_bus_is_asked_for_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    client, now = Scripted(), 0.0
    monkeypatch.setattr(known.KNOWN, "clock", lambda: now)
    for now in (0.0, 1.0, known.FOR - 1, known.FOR):  # noqa: B007 - read by the clock
        run(action_of("event-put"), client)
    asked = [operation for operation, _ in client.calls]
    assert asked == ["describe_event_bus", "put_events", "put_events", "put_events", "describe_event_bus", "put_events"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ThrottlingException", Retry(detail="EventBridge: ThrottlingException")),
        ("InternalFailure", Retry(detail="EventBridge: InternalFailure")),
        ("AccessDeniedException", Retry(detail="EventBridge: AccessDeniedException")),
        ("MalformedDetail", Refused("EventBridge: MalformedDetail")),
        ("InvalidArgument", Refused("EventBridge: InvalidArgument")),
        ("NotAuthorizedForSourceException", Refused("EventBridge: NotAuthorizedForSourceException")),
        ("secret text", Retry(detail="no answer from EventBridge", is_outage=True)),
    ],
)
def test_a_rejected_entry_is_no_throttled_one(code: str, expected: Result) -> None:
    """PutEvents itself succeeds with either."""
    entry = {"ErrorCode": code, "ErrorMessage": "secret"}
    client = Scripted({"put_events": {"FailedEntryCount": 1, "Entries": [entry]}})
    assert run(action_of("event-put"), client) == expected


# ------------------------------------------------------------ lambda-invoke


@pytest.mark.parametrize("payload", [PAYLOAD, "", "null", '"text"', "17", "[]"])
@pytest.mark.parametrize("type_", ["Event", "RequestResponse"])
def test_a_function_is_given_the_payload_and_the_schedule(type_: str, payload: str) -> None:
    client = Scripted()
    run(action_of("lambda-invoke", invocationType=type_), client, payload)
    [(operation, arguments)] = client.calls
    assert (operation, arguments["InvocationType"]) == ("invoke", type_)
    assert json.loads(arguments["Payload"]) == {"delayer": ENVELOPE, "payload": json.loads(payload or "null")}
    assert (payload or "null").encode() in arguments["Payload"], "byte for byte"


def test_by_default_nobody_waits_for_the_function() -> None:
    client = Scripted()
    assert run(action_of("lambda-invoke"), client) == Done("accepted by Lambda")
    assert client.calls[0][1]["InvocationType"] == "Event"


@pytest.mark.parametrize("kind", ["Handled", "Unhandled"])
def test_the_error_of_a_function_that_is_waited_for_is_a_failed_attempt(kind: str) -> None:
    answers = {"invoke": {"StatusCode": 200, "FunctionError": kind, "Payload": b'{"errorMessage": "secret"}'}}
    result = run(action_of("lambda-invoke", invocationType="RequestResponse"), Scripted(answers))
    assert result == Retry(detail="the function failed")
    assert run(action_of("lambda-invoke", invocationType="RequestResponse"), Scripted()) == Done(
        "the function returned"
    )


@pytest.mark.parametrize(("type_", "seconds"), [("Event", 0), ("RequestResponse", 25)])
def test_a_function_is_waited_for_25_seconds_at_most(type_: str, seconds: float) -> None:
    asked: list[dict[str, Any]] = []

    def client_for(*_: str, **more: Any) -> Scripted:
        asked.append(more)
        return Scripted()

    reach("lambda-invoke", a_message(action_of("lambda-invoke", invocationType=type_)), client_for)
    assert [(one["seconds"], one["once"]) for one in asked] == [(seconds, ("Invoke",))]


@pytest.mark.parametrize("code", ["InvalidRequestContentException", "RequestTooLargeException"])
def test_what_lambda_cannot_take_it_never_will(code: str) -> None:
    assert run(action_of("lambda-invoke"), Scripted({"invoke": an_error(code)})) == Refused(f"Lambda: {code}")


# ------------------------------------------------------------ step-start


MACHINE = {"StartAt": "Wait", "States": {"Wait": {"Type": "Pass", "End": True}}}


def a_machine(kind: str) -> str:
    states = boto3.client("stepfunctions", REGION)
    role = f"arn:aws:iam::{ACCOUNT}:role/states"
    made = states.create_state_machine(
        name="delayer-target-orders",
        definition=json.dumps(MACHINE),
        roleArn=role,
        type=kind,
    )
    arn: str = made["stateMachineArn"]
    return arn


@pytest.mark.usefixtures("aws")
def test_an_execution_is_named_by_its_schedule() -> None:
    arn = a_machine("STANDARD")
    assert attempt({"type": "step-start", "stateMachineArn": arn}) == Done("started")
    states = boto3.client("stepfunctions", REGION)
    [execution] = states.list_executions(stateMachineArn=arn)["executions"]
    assert execution["name"] == an_id(NOW + 250)
    found = states.describe_execution(executionArn=execution["executionArn"])
    assert json.loads(found["input"]) == {"delayer": ENVELOPE, "payload": json.loads(PAYLOAD)}
    assert PAYLOAD in found["input"], "byte for byte"


@pytest.mark.usefixtures("aws")
def test_a_repeat_starts_nothing_else() -> None:
    arn = a_machine("STANDARD")
    results = [attempt({"type": "step-start", "stateMachineArn": arn}) for _ in range(2)]
    assert {type(result) for result in results} == {Done}
    states = boto3.client("stepfunctions", REGION)
    assert len(states.list_executions(stateMachineArn=arn)["executions"]) == 1


def test_one_that_exists_counts_as_done() -> None:
    error = Scripted.exceptions.ExecutionAlreadyExists({"Error": {"Code": "ExecutionAlreadyExists"}}, "StartExecution")
    assert run(action_of("step-start"), Scripted({"start_execution": error})) == Done("started before")


@pytest.mark.usefixtures("aws")
def test_an_express_state_machine_is_refused() -> None:
    arn = a_machine("EXPRESS")
    result = attempt({"type": "step-start", "stateMachineArn": arn})
    assert result == Refused("an Express state machine: AWS would start it again at each attempt")


def test_whether_it_is_express_is_asked_of_the_machine_behind_the_alias() -> None:
    """And not again for each attempt."""
    client = Scripted()
    for _ in range(2):
        run(action_of("step-start", name="delayer-target-orders:live"), client)
    arn = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:delayer-target-orders"
    assert [(operation, arguments["stateMachineArn"]) for operation, arguments in client.calls] == [
        ("describe_state_machine", arn),
        ("start_execution", f"{arn}:live"),
        ("start_execution", f"{arn}:live"),
    ]


def test_an_express_machine_is_asked_for_each_time() -> None:
    """It may be made anew as a standard one while the schedules of others wait."""
    client = Scripted({"describe_state_machine": {"type": "EXPRESS"}})
    for _ in range(2):
        assert isinstance(run(action_of("step-start"), client), Refused)
    assert [operation for operation, _ in client.calls] == ["describe_state_machine"] * 2


@pytest.mark.parametrize("code", ["InvalidName", "InvalidExecutionInput", "InvalidArn"])
def test_what_step_functions_cannot_start_it_never_will(code: str) -> None:
    result = run(action_of("step-start"), Scripted({"start_execution": an_error(code)}))
    assert result == Refused(f"Step Functions: {code}")
