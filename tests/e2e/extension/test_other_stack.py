"""An action of another stack, from its deployment to its deletion. Delayer itself is not deployed again."""

import json
import time
from typing import Any

import pytest
from attrs import frozen

from delayer.actions.repository import StoredActions
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.schedule.instants import SECOND, format_instant
from local.deployment.deploy import CODE_BUCKET
from local.deployment.package import package
from local.project import PROJECT
from tests.e2e.client import StackClient, now, until

pytestmark = pytest.mark.thorough

EXAMPLE = PROJECT / "examples/executor-in-its-own-stack"
KNOWN_SECONDS = 60  # until a new type, or one that is gone, is known everywhere


@frozen
class OtherStacks:
    """Deploys stacks beside Delayer's, as their teams would."""

    client: StackClient

    @property
    def cloudformation(self) -> Any:
        return self.client.stack.client("cloudformation")

    def create(self, name: str, kind: str = "note-write") -> str:
        """The status that the stack of the example comes to, if it registers this type."""
        packaged = package(EXAMPLE / "template.yaml", CODE_BUCKET)
        packaged.template["Resources"]["NoteWriteAction"]["Properties"]["Type"] = kind
        s3 = self.client.stack.client("s3")
        for key, archive in packaged.archives.items():
            s3.put_object(Bucket=CODE_BUCKET, Key=key, Body=archive)
        body = json.dumps(packaged.template, default=str)
        self.cloudformation.create_stack(
            StackName=name, TemplateBody=body, Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
        )
        return self.settled(name)

    def delete(self, name: str) -> str:
        self.cloudformation.delete_stack(StackName=name)
        return self.settled(name)

    def settled(self, name: str, seconds: float = 60) -> str:
        deadline = time.monotonic() + seconds
        while True:
            stacks = [one for one in self.cloudformation.list_stacks()["StackSummaries"] if one["StackName"] == name]
            status: str = max(stacks, key=lambda one: one["CreationTime"])["StackStatus"]
            if not status.endswith("_IN_PROGRESS"):
                return status
            assert time.monotonic() < deadline, status
            time.sleep(0.05)

    def reasons(self, name: str) -> str:
        events = self.cloudformation.describe_stack_events(StackName=name)["StackEvents"]
        return "\n".join(str(one.get("ResourceStatusReason")) for one in events)


@pytest.fixture(scope="module")
def others(on_aws: StackClient) -> OtherStacks:
    """What comes back to executor-remote is received again soon, and so becomes a suspect."""
    sqs = on_aws.stack.client("sqs")
    for url in sqs.list_queues()["QueueUrls"]:
        if "executor-remote" in url or "Executorremote" in url:
            sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "3"})
    return OtherStacks(on_aws)


def note(client: StackClient, due: int, topic: str = "night-shift") -> tuple[int, dict[str, Any]]:
    action = {"type": "note-write", "topic": topic}
    status, _, body = client.post({"pointInTime": format_instant(due), "action": action, "payload": {"text": "é"}})
    return status, body


def accepted(client: StackClient, due_in: int) -> str:
    """The id of a note, once its type is known."""
    deadline = time.monotonic() + KNOWN_SECONDS
    while True:
        status, body = note(client, now() + due_in)
        if status == 201:
            return str(body["scheduleId"])
        assert status == 422, body
        assert time.monotonic() < deadline, body
        time.sleep(0.2)


def until_listed(client: StackClient, stack: str | None) -> None:
    """Until the type is listed as this stack's, or not at all."""
    until(lambda: listed(client).get("note-write"), lambda found: found == stack, KNOWN_SECONDS)


def listed(client: StackClient) -> dict[str, str]:
    return {one.type: one.stack for one in client.delayer.actions()}


def test_a_type_of_another_stack_from_its_deployment_to_its_deletion(on_aws: StackClient, others: OtherStacks) -> None:
    """What is in flight when the stack is deleted waits; it fires when the stack is there again.

    It takes minutes: a type becomes known, and forgotten, within one.
    """
    assert "note-write" not in listed(on_aws)
    assert others.create("notes") == "CREATE_COMPLETE", others.reasons("notes")
    first = accepted(on_aws, 2 * SECOND)
    assert on_aws.ledger_state(first, "executed")["detail"] == {"S": "written"}
    assert f'{first}, night-shift: {{"text": "\\u00e9"}}' in notes(on_aws), "the very bytes that were sent"
    status, body = note(on_aws, now() + SECOND, topic="Night")
    assert (status, body["errors"][0]["field"]) == (422, "action.topic")
    in_flight = accepted(on_aws, 4 * SECOND)

    assert others.delete("notes") == "DELETE_COMPLETE"
    refused(on_aws)
    until_listed(on_aws, None)
    assert on_aws.ledger_row(in_flight)["state"] == {"S": "claimed"}

    assert others.create("notes-again") == "CREATE_COMPLETE", others.reasons("notes-again")
    assert on_aws.ledger_state(in_flight, "executed", seconds=300)["detail"] == {"S": "written"}
    assert others.delete("notes-again") == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("http-request", "is one of Delayer's own: choose another"),
        ("other-note", "the function says that it does 'note-write', not 'other-note'"),
    ],
)
def test_a_type_that_is_not_its_own_fails_the_deployment(
    on_aws: StackClient, others: OtherStacks, kind: str, reason: str
) -> None:
    """With the reason among the events of the other stack. What was registered stays as it was.

    It takes seconds: a stack is created.
    """
    before = listed(on_aws)
    assert others.create(f"bad-{kind}", kind) == "ROLLBACK_COMPLETE"
    assert reason in others.reasons(f"bad-{kind}")
    assert listed(on_aws) == before


def test_a_type_of_another_stack_cannot_be_taken(on_aws: StackClient, others: OtherStacks) -> None:
    """It takes up to a minute: so long until a type is known."""
    assert others.create("first") == "CREATE_COMPLETE", others.reasons("first")
    assert others.create("second") == "ROLLBACK_COMPLETE"
    assert "the type 'note-write' belongs to the stack first" in others.reasons("second")
    assert accepted(on_aws, 3600 * SECOND)
    store = DynamoStore(on_aws.stack.client("dynamodb"))
    registered = StoredActions(store=store, table=on_aws.stack.outputs["ControlTable"])
    assert [one.stack.split("/")[1] for one in registered.actions()["note-write"]] == ["first"]
    assert others.delete("first") == "DELETE_COMPLETE"


def notes(client: StackClient) -> str:
    """The logs of the example's function."""
    folder = client.stack.folder / "logs"
    return "".join(path.read_text(encoding="utf-8") for path in folder.glob("*NoteWrite*"))


def refused(client: StackClient) -> None:
    deadline = time.monotonic() + KNOWN_SECONDS
    while True:
        status, body = note(client, now() + 3600 * SECOND)
        if status == 422:
            assert body["errors"][0]["field"] == "action.type"
            return
        assert time.monotonic() < deadline, body
        time.sleep(0.5)
