"""AWS hangs: every function ends within its own time, and says what it has not done (ADR 0073)."""

import hashlib
import json
import time
from contextlib import ExitStack
from typing import Any

import pytest
from attrs import evolve

from delayer.engines.aws.expressions import to_attributes
from delayer.ledger.repository import to_item as ledger_item
from delayer.records.repository import to_item
from delayer.schedule.instants import HOUR
from delayer.schedule.messages import encode
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import RANDOM_BYTES, IdKind
from tests.cfn import ROOT
from tests.deadlines.endpoints import SILENT, TRICKLING, Answering, Hung
from tests.deadlines.processes import FunctionProcess
from tests.samples import (
    GOLDEN,
    OWNER,
    STREAM_RECORD,
    a_claim,
    a_delayer_message,
    a_schedule,
    an_executor_message,
    an_id,
)

FUNCTIONS = sorted(path.parent.name for path in ROOT.glob("functions/*/app.py"))
SECONDS = 3.0  # that each function is given
DUE = int(time.time() * 1000)


def a_call(body: object = None, query: dict[str, str] | None = None, **parameters: str) -> dict[str, Any]:
    """As API Gateway makes it."""
    return {
        "rawPath": "/schedules",
        "headers": {},
        "queryStringParameters": query or {},
        "pathParameters": parameters,
        "requestContext": {"authorizer": {"iam": {"userArn": OWNER}}},
        "body": "" if body is None else json.dumps(body),
    }


def messages(*bodies: str) -> dict[str, Any]:
    """As SQS delivers them."""
    source = "arn:aws:sqs:eu-west-1:123456789012:queue"
    return {
        "Records": [
            {"messageId": f"m{number}", "body": body, "eventSourceARN": source} for number, body in enumerate(bodies)
        ]
    }


def removed(*dues: int) -> dict[str, Any]:
    """Stream records of schedules that have left the table."""
    return of_stream(*map(a_schedule, dues))


def of_stream(*schedules: Schedule) -> dict[str, Any]:
    """Stream records of their removal."""
    records = []
    for number, schedule in enumerate(schedules):
        item = to_attributes(to_item(schedule))
        keys = {name: item[name] for name in ("bucket", "due")}
        data = {**STREAM_RECORD["dynamodb"], "Keys": keys, "OldImage": item, "SequenceNumber": f"s{number}"}
        records.append({**STREAM_RECORD, "dynamodb": data})
    return {"Records": records}


def inserted(*dues: int) -> dict[str, Any]:
    """Stream records of schedules that were accepted."""
    return as_inserted(removed(*dues)["Records"])


def undecided() -> dict[str, Any]:
    """A stream record of one that was accepted without a time."""
    waits = a_schedule(id=an_id(DUE, kind=IdKind.UNDECIDED), created_at=DUE, when='{"policy":"spread","seconds":60}')
    return as_inserted(of_stream(waits)["Records"])


def as_inserted(records: list[Any]) -> dict[str, Any]:
    """The same as if they were put."""
    for record in records:
        record["eventName"] = "INSERT"
        record["dynamodb"]["NewImage"] = record["dynamodb"].pop("OldImage")
    return {"Records": records}


SCHEDULE = {"delaySeconds": 3600, "action": {"type": "http-request", "url": "http://target/hook"}, "payload": 1}
LIFECYCLE_EVENT = (GOLDEN / "lifecycle-event.json").read_text()
SQS_ACTION = json.dumps({"type": "sqs-send", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/target"})
NAMED = {
    "API_AUTHORIZATION": "AWS_IAM",  # as the deployment says it
    # The names of the policies' queues are made of these.
    "STACK_ID": "arn:aws:cloudformation:eu-west-1:123456789012:stack/delayer/0a1b2c3d-0000",
    "TIMING_DEAD_LETTERS": "https://sqs.eu-west-1.amazonaws.com/123456789012/delayer-PoliciesDeadLetterQueue-0a1b2c3d",
}
SERIES = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
NEW_SERIES = {"repeat": {"every": "PT1M"}, "action": SCHEDULE["action"]}
# They need nothing of it; the subscriber has no URL here.
NO_AWS = ("api-default", "api-series-preview", "subscriber-failed-webhook")
GIVEN: dict[str, Any] = {
    **{name: a_call(id="5b0c", name="a", seriesId=SERIES) for name in FUNCTIONS if name.startswith("api-")},
    "api-action-list": a_call(),
    "api-batch-post": a_call({"schedules": [SCHEDULE] * 3}),
    "api-connection-get": a_call(),
    "api-connection-put": a_call({"type": "bearer", "token": "t"}, name="crm"),
    "api-connection-test": a_call({"url": "http://target/"}, name="crm"),
    "api-default": a_call(),
    "api-group-delete": a_call(query={"group": "g"}),
    "api-schedule-delete": a_call(id=an_id(DUE)),
    "api-schedule-get": a_call(id=an_id(DUE)),
    "api-schedule-list": a_call(query={"group": "g"}),
    "api-schedule-patch": a_call({"delaySeconds": 60}, id=an_id(DUE)),
    "api-schedule-post": a_call(SCHEDULE),
    "api-schedule-put": a_call(SCHEDULE, name="invoice"),
    "api-schedule-stop": a_call(id=an_id(DUE)),
    **{f"api-series-{call}": a_call(seriesId=SERIES) for call in ("delete", "get", "pause", "resume")},
    "api-series-list": a_call(),
    "api-series-patch": a_call({"payload": 1}, seriesId=SERIES),
    "api-series-post": a_call(NEW_SERIES),
    "api-series-preview": a_call({"repeat": {"every": "PT1M"}}),
    "api-series-put": a_call(NEW_SERIES, name="invoice"),
    "api-series-run": a_call(None, seriesId=SERIES),
    "api-signing-secret": a_call(),
    "delayer-relay": messages(*[encode(a_delayer_message(DUE, nonce=nonce)) for nonce in ("n1", "n2")]),
    "deploy-action-registrar": {
        "RequestType": "Create",
        "RequestId": "r1",
        "StackId": "arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/0a1b",
        "LogicalResourceId": "ReportAction",
        "ResourceProperties": {
            "Type": "report-make",
            "Function": "arn:aws:lambda:eu-west-1:123456789012:function:report",
        },
    },
    "executor-canary": messages(encode(an_executor_message(DUE, action='{"type": "canary"}')), "malformed"),
    "executor-http-request": messages(*[encode(an_executor_message(DUE, fence=fence)) for fence in ("d1", "d2")]),
    "executor-sqs-send": messages(encode(an_executor_message(DUE, action=SQS_ACTION)), "malformed"),
    **{
        f"executor-{kind}": messages(encode(an_executor_message(DUE, action=json.dumps({"type": kind}))), "malformed")
        for kind in ("event-put", "lambda-invoke", "remote", "sns-publish", "step-start")
    },
    "job-group-canceller": messages((GOLDEN / "group-message.json").read_text()),
    "lifecycle-journal": messages(LIFECYCLE_EVENT, LIFECYCLE_EVENT),
    "operator-dead-letters": {"command": "list"},
    "operator-id-key": {"command": "show"},
    "operator-flow": {"command": "list"},
    "operator-owner-policy": {"command": "show"},
    **{
        f"policy-{name}": messages((GOLDEN / "timing-message.json").read_text())
        for name in ("next-business-hour", "spread")
    },
    "relaxed-claimer": removed(DUE, DUE + HOUR),
    "series-stepper": messages(LIFECYCLE_EVENT, LIFECYCLE_EVENT),
    "stream-enqueuer": removed(DUE, DUE + HOUR),
    "stream-lifecycle": inserted(DUE, DUE + HOUR),
    "stream-occurrences": inserted(DUE, DUE + HOUR),
    "subscriber-failed-webhook": messages(LIFECYCLE_EVENT),
    "suspects-dispatcher": messages(encode(a_delayer_message(DUE))),
    "sweep-bucket-enqueuer": messages((GOLDEN / "sweep-message.json").read_text()),
    "task-1minute-enqueuer": {},
    "task-1minute-series": {},
    "task-1minute-timing": {},
    "timing-enqueuer": undecided(),
}


EVERY_DAY = {  # one that is called by each source, and calls each service
    "api-batch-post",
    "api-default",
    "api-schedule-get",
    "api-schedule-list",
    "api-schedule-post",
    "delayer-relay",
    "deploy-action-registrar",
    "executor-http-request",
    "executor-lambda-invoke",
    "executor-sqs-send",
    "lifecycle-journal",
    "operator-dead-letters",
    "policy-spread",
    "series-stepper",
    "stream-enqueuer",
    "stream-lifecycle",
    "sweep-bucket-enqueuer",
    "task-1minute-enqueuer",
}


def test_each_that_is_asked_every_day_is_there() -> None:
    """None of them has another name by now, and each function of the template is given something."""
    assert sorted(EVERY_DAY - {*FUNCTIONS}) == []
    assert {*FUNCTIONS} <= {*GIVEN}


def marked(function: str) -> Any:
    """To start a process takes a second of processor time: not all of them every day."""
    return pytest.param(function, marks=() if function in EVERY_DAY else pytest.mark.thorough)


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> dict[tuple[str, str], dict[str, Any]]:
    """Of each function and each kind of endpoint. All functions wait side by side, once all of them are warm."""
    found = {}
    asked_for = {one.callspec.params.get("function") for one in request.session.items if hasattr(one, "callspec")}
    functions = [name for name in FUNCTIONS if name in asked_for]
    with ExitStack() as stack:
        endpoint = stack.enter_context(Hung())
        started = [
            stack.enter_context(FunctionProcess(name, AWS_ENDPOINT_URL=endpoint.url, **NAMED)) for name in functions
        ]
        for one in started:
            one.wait_until_ready()
        for mode in (SILENT, TRICKLING):
            endpoint.mode = mode
            for one in started:
                one.begin(GIVEN[one.function], SECONDS)
            for one in started:
                found[one.function, mode] = one.outcome()
            assert endpoint.connections >= len({*functions} - {*NO_AWS}), "each has tried to reach AWS"
            endpoint.connections = 0
    return found


@pytest.mark.parametrize("mode", [SILENT, TRICKLING])
@pytest.mark.parametrize("function", [*map(marked, FUNCTIONS)])
def test_a_function_ends_within_its_time_with_its_answer(
    function: str, mode: str, outcomes: dict[tuple[str, str], dict[str, Any]]
) -> None:
    """What it could not do is reported, each by its own kind of answer. The first waits some seconds for all."""
    outcome = outcomes[function, mode]
    assert outcome["took"] < SECONDS
    answer: Any = outcome.get("answer")
    if function in ("api-default", "api-series-preview"):
        assert answer["statusCode"] == (405 if function == "api-default" else 200)
    elif function == "subscriber-failed-webhook":
        assert answer == {"batchItemFailures": []}
    elif function == "deploy-action-registrar":
        assert answer["Status"] == "FAILED", "CloudFormation hears of it, and can roll back"
    elif function == "api-batch-post":
        assert [one["status"] for one in json.loads(answer["body"])["results"]] == [503] * 3
    elif function.startswith("api-"):
        assert answer["statusCode"] == 503
        assert answer["headers"]["Content-Type"] == "application/problem+json"
    elif function.startswith("task-1minute-"):
        assert outcome["raised"] == "Unavailable", "the next tick does it; the alarm sees this one"
    elif function.startswith("operator-"):
        assert answer["ok"] is False
    else:
        given = [one.get("messageId") or one["dynamodb"]["SequenceNumber"] for one in GIVEN[function]["Records"]]
        assert sorted(one["itemIdentifier"] for one in answer["batchItemFailures"]) == given


REGISTERED = json.loads((GOLDEN / "actions-item.json").read_text())


def all_sent(body: str) -> dict[str, Any]:
    """What SQS answers."""
    texts = {one["Id"]: one["MessageBody"].encode() for one in json.loads(body)["Entries"]}
    digests = {name: hashlib.md5(text).hexdigest() for name, text in texts.items()}
    return {"Successful": [{"Id": name, "MessageId": "m", "MD5OfMessageBody": one} for name, one in digests.items()]}


def test_claims_that_hang_do_not_take_the_relay_with_them() -> None:
    """What is claimed in one request comes again together (ADR 0116), in time: nothing of it was handed over.

    It takes some seconds: until the time of the relay is nearly over.
    """
    hung = a_delayer_message(DUE, nonce="hung")
    beside = evolve(hung, schedule=a_schedule(DUE, randomness=bytes(RANDOM_BYTES)), nonce="beside")
    sent: list[str] = []

    def answer(operation: str, body: str) -> dict[str, Any] | None:
        if operation == "SendMessageBatch":
            sent.extend(json.loads(one["MessageBody"])["nonce"] for one in json.loads(body)["Entries"])
            return all_sent(body)
        if operation == "GetItem" and '"actions"' in body:
            return {"Item": REGISTERED}
        if operation == "Query":
            return {"Items": []}
        return None if hung.schedule.id in body else {}

    with Answering(answer) as endpoint, FunctionProcess("delayer-relay", AWS_ENDPOINT_URL=endpoint.url) as relay:
        relay.wait_until_ready()
        relay.begin(messages(encode(hung), encode(beside)), SECONDS)
        outcome = relay.outcome()
    assert outcome["took"] < SECONDS
    assert outcome["answer"] == {"batchItemFailures": [{"itemIdentifier": "m0"}, {"itemIdentifier": "m1"}]}
    assert sent == []


@pytest.mark.parametrize(
    ("seconds", "calls"),
    [(SECONDS, ["Query"]), (85, ["Query", "BatchGetItem", "GetItem", "PutItem", "UpdateItem"])],
)
def test_an_attempt_that_could_not_end_in_time_is_not_begun(seconds: float, calls: list[str]) -> None:
    """Nothing hangs, but the outcome of an attempt could not be written for sure: the message comes again.

    Its row is not read; if it was to probe a circuit, another one is to. It takes about a second: a function
    starts, in a process of its own.
    """
    made: list[str] = []

    def answer(operation: str, body: str) -> dict[str, Any]:
        made.append(operation)
        if operation == "Query":
            return {"Items": []}
        if operation != "BatchGetItem":
            return {}
        [table] = json.loads(body)["RequestItems"]
        return {"Responses": {table: [to_attributes(ledger_item(a_claim(DUE)))]}}

    message = encode(an_executor_message(DUE, action='{"type": "canary", "path": "near"}'))
    with Answering(answer) as endpoint, FunctionProcess("executor-canary", AWS_ENDPOINT_URL=endpoint.url) as executor:
        executor.wait_until_ready()
        executor.begin(messages(message), seconds)
        outcome = executor.outcome()
    assert made == calls
    again = [] if "PutItem" in calls else [{"itemIdentifier": "m0"}]
    assert outcome["answer"] == {"batchItemFailures": again}


def test_a_record_that_asks_the_ledger_in_vain_does_not_hold_up_its_shard() -> None:
    """The removal of what is due in an hour is a question to the ledger; what is due now is sent all the same.

    It takes some seconds: until the time of the enqueuer is nearly over.
    """
    with (
        Hung() as dynamodb,
        Answering(lambda _, body: all_sent(body)) as sqs,
        FunctionProcess(
            "stream-enqueuer", AWS_ENDPOINT_URL_DYNAMODB=dynamodb.url, AWS_ENDPOINT_URL_SQS=sqs.url
        ) as enqueuer,
    ):
        enqueuer.wait_until_ready()
        enqueuer.begin(removed(DUE + HOUR, DUE), SECONDS)
        outcome = enqueuer.outcome()
    assert outcome["took"] < SECONDS
    assert outcome["answer"] == {"batchItemFailures": [{"itemIdentifier": "s0"}]}
