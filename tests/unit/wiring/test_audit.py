"""Who changed a schedule's fate is named in the ledger, the event, the history and the log (ADR 0068)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from delayer.dead_letters.commands import respond
from delayer.engines.ports import ReceivedMessage
from delayer.history.cloud_events import decode
from delayer.history.model import of_row
from delayer.jobs.use_cases import CancelGroup
from delayer.ledger.rules import retried
from delayer.schedule.instants import HOUR, MINUTE, SECOND, format_instant
from delayer.schedule.messages import DelayerMessage, encode
from delayer.wiring import use_cases
from delayer.wiring.build import build
from tests.looking import put_row
from tests.samples import NOW, a_claim, a_dead_letter
from tests.unit.handlers import handler_of, world_of_handlers
from tests.world import World

ROLE = "arn:aws:sts::123456789012:assumed-role/billing"
CALLER = f"{ROLE}/somebody@example.com"  # the session of the role, whoever it is; the owner is the role
ACTION = {"type": "http-request", "url": "http://target/hook"}


def call(world: World, function: str, **event: Any) -> dict[str, Any]:
    authorized = {"requestContext": {"authorizer": {"iam": {"userArn": CALLER}}}, **event}
    made = handler_of(world, function, "AWS_IAM")(authorized, None)
    assert made["statusCode"] < 300, made
    body: dict[str, Any] = json.loads(made["body"])
    return body


def post(world: World, ahead: int = HOUR, **more: Any) -> str:
    when = format_instant(world.clock.now() + ahead)
    body = json.dumps({"pointInTime": when, "action": ACTION, **more})
    return str(call(world, "api-schedule-post", body=body)["scheduleId"])


def cancel(world: World, schedule_id: str) -> None:
    call(world, "api-schedule-delete", pathParameters={"id": schedule_id})


def cancel_by_name(world: World, schedule_id: str) -> None:
    call(world, "api-schedule-delete", pathParameters={"name": "a-name"})


def cancel_group(world: World, schedule_id: str) -> None:
    call(world, "api-group-delete", queryStringParameters={"group": "a-group"})
    [message] = world.group_queue.messages
    canceller = build(CancelGroup, world.ports("group"))
    assert canceller([ReceivedMessage(message_id="m", body=message.body)]) == []


def change(world: World, schedule_id: str) -> None:
    call(world, "api-schedule-patch", pathParameters={"id": schedule_id}, body='{"payload": 2}')


def put(world: World, schedule_id: str) -> None:
    body = json.dumps({"delaySeconds": 60, "action": ACTION})
    call(world, "api-schedule-put", pathParameters={"name": "a-name"}, body=body)


CHANGES: dict[str, tuple[Callable[[World, str], None], str, str]] = {
    "cancel": (cancel, "cancelled", "cancelled"),
    "cancel by name": (cancel_by_name, "cancelled", "cancelled"),
    "cancel of a group": (cancel_group, "cancelled", "cancelled"),
    "PATCH": (change, "replaced", "replaced"),
    "PUT": (put, "replaced", "replaced"),
}


def events(world: World) -> list[Any]:
    assert world.announce(world.lifecycle_records()) == []
    return [decode(announcement.text) for announcement in world.topic.published]


@pytest.mark.parametrize("name", CHANGES)
def test_who_changed_a_schedule_is_in_ledger_event_and_log(name: str) -> None:
    change_it, kind, line = CHANGES[name]
    world = world_of_handlers()
    schedule_id = post(world, name="a-name", group="a-group")
    change_it(world, schedule_id)
    row = world.ledger.read(schedule_id)
    assert row
    assert (row.owner, row.by) == (ROLE, CALLER)
    assert [(one.type, one.by) for one in events(world) if one.by] == [(kind, CALLER)]
    assert (line, CALLER) in [(event, facts.get("by")) for event, _, facts in world.observer.lines]


def test_who_stopped_a_schedule_is_named_and_not_what_comes_after() -> None:
    """What the executor writes next, nobody asked for."""
    world = world_of_handlers()
    schedule_id = post(world, SECOND)
    put_row(world.ledger, evolve(a_claim(), schedule_id=schedule_id, owner=ROLE))
    call(world, "api-schedule-stop", pathParameters={"id": schedule_id})
    row = world.ledger.read(schedule_id)
    assert row
    assert row.by == CALLER
    event = of_row(evolve(row, stopped_at=0), row, "c")
    assert event
    assert (event.type, event.by) == ("stop-requested", CALLER)
    assert retried(row, "f", NOW).by == ""


def test_the_history_names_who_did_it() -> None:
    world = world_of_handlers()
    schedule_id = post(world)
    cancel(world, schedule_id)
    world.update_journal()
    history = call(world, "api-schedule-get", pathParameters={"id": schedule_id})["history"]
    assert [(one["event"], one.get("by")) for one in history] == [("scheduled", None), ("cancelled", CALLER)]


def test_without_a_session_the_owner_is_the_caller() -> None:
    world = world_of_handlers()
    schedule = world.post(world.clock.now() + HOUR)
    assert schedule
    world.cancel(schedule.id, "owner")
    row = world.row(schedule)
    assert row
    assert row.by == "owner"


@pytest.mark.parametrize(("command", "kind"), [("redrive", "redriven"), ("discard", "dropped")])
@pytest.mark.parametrize(("given", "by"), [({}, "an operator"), ({"by": "Ada"}, "an operator: Ada")])
def test_what_an_operator_did_says_so(command: str, kind: str, given: dict[str, str], by: str) -> None:
    world = world_of_handlers()
    schedule = world.post(world.clock.now() + MINUTE)
    assert schedule
    letter = a_dead_letter(schedule_id=schedule.id, body=encode(DelayerMessage(schedule=schedule, nonce="n")))
    world.store.put(letter)
    assert respond(use_cases.bulk(world.ports("redrive")), {"command": command, "key": letter.key, **given})["ok"]
    assert [(one.type, one.by) for one in events(world) if one.by] == [(kind, by)]
    assert by in [facts.get("by") for _, _, facts in world.observer.lines]


@pytest.mark.parametrize("by", [7, "a\nb", "x" * 201, None, ["a"]])
def test_an_operator_has_a_name_that_can_be_read(by: Any) -> None:
    answer = respond(use_cases.bulk(world_of_handlers().ports("redrive")), {"command": "list", "by": by})
    assert not answer["ok"]
    assert "printable" in answer["error"]
