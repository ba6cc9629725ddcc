"""A schedule of each action that calls AWS, and clients that answer as a test says."""

import json
from collections.abc import Callable
from typing import Any

from attrs import Factory, define
from botocore.exceptions import ClientError

from delayer.actions.rules.model import Result
from delayer.schedule.messages import ExecutorMessage
from tests.samples import NOW, OWNER, an_executor_message
from tests.unit.targets.apps import reach

ACCOUNT, REGION, OTHER = "123456789012", "eu-west-1", "210987654321"
NAME = "delayer-target-orders"
ACTIONS: dict[str, dict[str, Any]] = {
    "sqs-send": {"queueUrl": "https://sqs.{region}.amazonaws.com/{account}/{name}"},
    "sns-publish": {"topicArn": "arn:aws:sns:{region}:{account}:{name}"},
    "event-put": {
        "eventBusArn": "arn:aws:events:{region}:{account}:event-bus/{name}",
        "source": "orders",
        "detailType": "Order due",
    },
    "lambda-invoke": {"functionArn": "arn:aws:lambda:{region}:{account}:function:{name}"},
    "step-start": {"stateMachineArn": "arn:aws:states:{region}:{account}:stateMachine:{name}"},
}
PAYLOAD = '{"n": 1.10,  "\u00e4": [ 1,2 ]}'


def action_of(kind: str, region: str = REGION, account: str = ACCOUNT, name: str = NAME, **more: Any) -> dict[str, Any]:
    """With a target at this place."""
    fields = {key: text.format(region=region, account=account, name=name) for key, text in ACTIONS[kind].items()}
    return {"type": kind, **fields, **more}


def a_message(action: dict[str, Any], payload: str = PAYLOAD, owner: str = OWNER) -> ExecutorMessage:
    """The second attempt."""
    return an_executor_message(NOW + 250, action=json.dumps(action), payload=payload, owner=owner, attempt=2)


@define
class Scripted:
    """Notes each call, and answers as it was told; what it was not told is an empty answer."""

    answers: dict[str, Any] = Factory(dict)  # by operation; an exception is raised
    calls: list[tuple[str, dict[str, Any]]] = Factory(list)

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            self.calls.append((operation, arguments))
            answer = self.answers.get(operation, ANSWERS.get(operation, {}))
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call

    class exceptions:  # noqa: N801 - as boto3 has it
        class ExecutionAlreadyExists(ClientError):
            """Of Step Functions."""


ANSWERS: dict[str, Any] = {
    "send_message": {"MessageId": "m-1"},
    "publish": {"MessageId": "m-1"},
    "put_events": {"FailedEntryCount": 0, "Entries": [{"EventId": "e-1"}]},
    "invoke": {"StatusCode": 202},
    "describe_state_machine": {"type": "STANDARD"},
}
OPERATIONS = {
    "sqs-send": "send_message",
    "sns-publish": "publish",
    "event-put": "put_events",
    "lambda-invoke": "invoke",
    "step-start": "start_execution",
}


def an_error(code: str, text: str = "no") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": text}}, "Operation")


def run(action: dict[str, Any], client: Any, payload: str = PAYLOAD, **variables: str) -> Result:
    """One attempt with this client."""
    return reach(action["type"], a_message(action, payload), lambda *_, **__: client, **variables)
