"""The secrets of an action reach its target, and nothing else: no event, answer, listing or log line (ADR 0067)."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.actions.rules.model import Refused
from delayer.dead_letters.commands import respond
from delayer.engines.ports import ReceivedMessage
from delayer.masking.mask import MASK
from delayer.schedule.instants import HOUR, MINUTE, SECOND, format_instant
from delayer.schedule.messages import DelayerMessage, encode
from delayer.wiring import use_cases
from tests.samples import a_dead_letter
from tests.unit.handlers import handler_of, world_of_handlers
from tests.world import World

SECRET = "hunter2-and-more"
ACTION = {
    "type": "http-request",
    "url": f"https://target.example/hook?token={SECRET}",
    "headers": {"Authorization": f"Bearer {SECRET}", "X-Api-Key": SECRET, "Accept": "*/*"},
}
SHOWN = {
    "type": "http-request",
    "url": f"https://target.example/hook?{MASK}",
    "headers": {"Authorization": MASK, "X-Api-Key": MASK, "Accept": "*/*"},
}


class Stack:
    """The handlers of one world; everything that they answer, publish, store in the journal and log is kept."""

    def __init__(self) -> None:
        self.world: World = world_of_handlers()
        self.seen: list[str] = []

    def call(self, function: str, status: int, event: dict[str, Any]) -> dict[str, Any]:
        made = handler_of(self.world, function)(event, None)
        self.seen.append(json.dumps(made))
        assert made["statusCode"] == status, made
        body: dict[str, Any] = json.loads(made["body"])
        return body

    def post(self, ahead: int, **more: Any) -> str:
        when = format_instant(self.world.clock.now() + ahead)
        body = {"pointInTime": when, "action": ACTION, "payload": {"due": 1}, "group": "g", **more}
        return str(self.call("api-schedule-post", 201, {"body": json.dumps(body)})["scheduleId"])

    def get(self, schedule_id: str) -> dict[str, Any]:
        return self.call("api-schedule-get", 200, {"pathParameters": {"id": schedule_id}})

    def patch(self, schedule_id: str, status: int, **change: Any) -> dict[str, Any]:
        event = {"pathParameters": {"id": schedule_id}, "body": json.dumps(change)}
        return self.call("api-schedule-patch", status, event)

    def operate(self, **command: Any) -> dict[str, Any]:
        answer = respond(use_cases.bulk(self.world.ports("redrive")), command)
        self.seen.append(json.dumps(answer))
        assert answer["ok"], answer
        result: dict[str, Any] = answer["result"]
        return result

    def update_journal(self) -> None:
        records = self.world.lifecycle_records()
        assert self.world.announce(records) == []
        texts = [announcement.text for announcement in self.world.topic.published]
        batch = [ReceivedMessage(message_id=str(number), body=text) for number, text in enumerate(texts)]
        assert self.world.write_journal(batch) == []
        self.seen += texts

    def check(self) -> None:
        assert self.seen
        for text in [*self.seen, str(self.world.observer.lines), str(self.world.journal)]:
            assert SECRET not in text


@pytest.fixture
def stack() -> Stack:
    return Stack()


def test_what_is_looked_up_and_listed_is_masked_wherever_the_schedule_is(stack: Stack) -> None:
    far, near = stack.post(HOUR), stack.post(MINUTE)
    assert stack.get(far)["action"] == SHOWN, "from the table"
    stack.update_journal()
    stack.world.run_until(stack.world.clock.now() + 30 * SECOND)
    found = stack.get(near)
    assert (found["state"], found["action"], found["masked"]) == ("enqueued", SHOWN, True), "from the journal"
    listed = stack.call("api-schedule-list", 200, {"queryStringParameters": {"group": "g"}})
    assert [one.get("action") for one in listed["schedules"]] == [None, SHOWN]
    stack.check()


def test_the_target_gets_the_secrets(stack: Stack) -> None:
    near = stack.post(MINUTE)
    stack.world.run_until(stack.world.clock.now() + 2 * MINUTE)
    [(_, message)] = stack.world.target.reached
    assert json.loads(message.schedule.definition.action) == ACTION
    stack.update_journal()
    assert stack.get(near)["state"] == "executed"
    stack.check()


def test_a_change_keeps_the_secrets_while_the_record_is_there(stack: Stack) -> None:
    stack.update_journal()
    changed = stack.patch(stack.post(HOUR), 200, delaySeconds=60)["scheduleId"]
    stack.world.run_until(stack.world.clock.now() + 2 * MINUTE)
    [(_, message)] = stack.world.target.reached
    assert message.schedule.id == changed
    assert json.loads(message.schedule.definition.action) == ACTION
    stack.check()


@pytest.mark.parametrize("change", [{"delaySeconds": 60}, {"payload": 1}])
def test_a_change_that_would_need_a_masked_secret_says_so(stack: Stack, change: dict[str, Any]) -> None:
    """The journal alone knows it, with masks. None of them is ever sent to a target."""
    near = stack.post(5 * MINUTE)
    stack.world.run_until(stack.world.clock.now() + 30 * SECOND)
    stack.update_journal()
    answer = stack.patch(near, 409, **change)
    assert answer["type"] == "urn:delayer:problem:masked"
    assert "POST it again" in answer["detail"]
    stack.world.run_until(stack.world.clock.now() + 10 * MINUTE)
    [(_, message)] = stack.world.target.reached
    assert (message.schedule.id, json.loads(message.schedule.definition.action)) == (near, ACTION)
    stack.check()


def test_without_a_secret_a_change_works_from_the_journal_as_before(stack: Stack) -> None:
    near = stack.post(5 * MINUTE, action={"type": "http-request", "url": "https://target.example/hook"})
    stack.world.run_until(stack.world.clock.now() + 30 * SECOND)
    stack.update_journal()
    stack.patch(near, 200, payload=2)


@pytest.mark.parametrize("function", ["api-schedule-post", "api-schedule-put", "api-batch-post"])
def test_a_mask_that_comes_back_is_refused(stack: Stack, function: str) -> None:
    """A client looked a schedule up, changed something, and sent the rest back."""
    looked_up = stack.get(stack.post(HOUR))
    body = {"delaySeconds": 60, "action": looked_up["action"]}
    if function == "api-batch-post":
        answer = stack.call(function, 200, {"body": json.dumps({"schedules": [body]})})["results"][0]["problem"]
    else:
        answer = stack.call(function, 422, {"body": json.dumps(body), "pathParameters": {"name": "a"}})
    assert {error["field"] for error in answer["errors"]} == {
        "action.url",
        "action.headers.Authorization",
        "action.headers.X-Api-Key",
    }
    assert all("mask" in error["problem"] for error in answer["errors"])


def test_an_error_about_a_secret_does_not_repeat_it(stack: Stack) -> None:
    headers = {"Authorization": f"{SECRET}\u00e9", "Cookie": [SECRET], "X-Token": SECRET * 500}
    action = {**ACTION, "url": f"ftp://target/?{SECRET}", "headers": headers}
    answer = stack.call("api-schedule-post", 422, {"body": json.dumps({"delaySeconds": 1, "action": action})})
    assert len(answer["errors"]) == 4
    many = {f"X-Token-{at}": SECRET for at in range(60)}
    stack.call(
        "api-schedule-post", 422, {"body": json.dumps({"delaySeconds": 1, "action": {**ACTION, "headers": many}})}
    )
    stack.check()


def test_dead_letters_are_listed_and_shown_without_secrets_and_redriven_with_them(stack: Stack) -> None:
    """A message, a record of the stream, a batch of records, and the half of a message, which is no JSON."""
    world = stack.world
    near = stack.post(MINUTE)
    message = encode(DelayerMessage(schedule=world.stored(near), nonce="n"))
    record = json.dumps({"dynamodb": {"Keys": {}, "OldImage": {"action": {"S": json.dumps(ACTION)}}}})
    for body in (message, record, message[: len(message) // 2], json.dumps({"Records": [{"body": message}]})):
        world.store.put(a_dead_letter(schedule_id=near, body=body))
    world.store.objects["aws/lambda/x"] = json.dumps({"payload": record}).encode()
    listed = stack.operate(command="list")["deadLetters"]
    assert len(listed) == 5
    for line in listed:
        assert stack.operate(command="show", key=line["key"])["body"]
    stack.operate(command="redrive", key=a_dead_letter(schedule_id=near, body=message).key)
    world.run_until(world.clock.now() + 2 * MINUTE)
    [(_, reached)] = world.target.reached
    assert json.loads(reached.schedule.definition.action) == ACTION
    stack.check()


WORDS = ["Authorization", "cookie", "Api-Key", "TOKEN", "Secret", "password"]
names = st.builds(str.__add__, st.sampled_from(["", "X-", "my-"]), st.sampled_from(WORDS))
actions = st.fixed_dictionaries(
    {
        "type": st.just("http-request"),
        "url": st.sampled_from(["", f"?{SECRET}", f"a?b={SECRET}&c#d", f"#{SECRET}"]).map("http://target/".__add__),
        "headers": st.dictionaries(names, st.just(SECRET), max_size=3),
    }
)


@settings(max_examples=25)
@given(actions, st.sampled_from([HOUR, 5 * MINUTE, SECOND]), st.booleans())
def test_no_secret_is_seen_anywhere(action: dict[str, Any], ahead: int, fails: bool) -> None:
    stack = Stack()
    schedule_id = stack.post(ahead, action=action)
    stack.get(schedule_id)
    if fails:
        stack.world.target.answers = [Refused("HTTP 401")]
    stack.world.run_until(stack.world.clock.now() + 30 * SECOND)
    stack.update_journal()
    stack.get(schedule_id)
    stack.call("api-schedule-list", 200, {"queryStringParameters": {"group": "g"}})
    for line in stack.operate(command="list")["deadLetters"]:
        stack.operate(command="show", key=line["key"])
    stack.check()
