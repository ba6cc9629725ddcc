"""The harness calls a function as Delayer does: after the API's checks, with what a message or an event holds."""

import urllib.error
import urllib.request
from typing import Annotated, Any

import pytest
from attrs import evolve

from delayer.extension.executor import Action, Done, LambdaExecutor, Message, Meta, Refused, Result, Retry, executor
from delayer.extension.harness import Answer, FakeTarget, NotAccepted, clock_at, deliver, event, handler_in, run
from delayer.extension.subscriber import Event, NotDone, subscriber
from tests.cfn import ROOT

seen: list[Message["SlackPost"]] = []
read: list[Event] = []


class SlackPost(Action):
    """A message in a Slack channel."""

    channel: Annotated[str, Meta(pattern="^#[a-z0-9_-]{1,80}$", max_length=81, description="The channel.")]
    is_urgent: bool = False


@executor("slack-post", payload={"type": "object", "required": ["text"]}, largest_payload=1000)
def slack_post(message: Message[SlackPost]) -> Result:
    seen.append(message)
    if message.attempt == 1:
        return Retry(detail="HTTP 503", after_seconds=5)
    return Refused("stale") if message.action.is_urgent else Done(f"at {slack_post.ports.clock.now()}")


@subscriber("big-spenders")
def big_spenders(one: Event) -> None:
    big_spenders.ports.observer.note("read", one.schedule_id)
    if one.detail == "come again":
        raise NotDone("later")
    read.append(one)


@pytest.fixture(autouse=True)
def nothing_seen_yet() -> None:
    seen.clear()
    read.clear()


# ------------------------------------------------------------ executors


def test_the_function_gets_what_a_client_sent() -> None:
    clock = clock_at("2027-01-01T00:00:00Z")
    result = run(slack_post, {"channel": "#reports"}, payload={"text": "ä"}, attempt=2, owner="o", clock=clock)
    assert result == Done(f"at {clock.now()}")
    [message] = seen
    assert message.action == SlackPost(channel="#reports")
    assert message.payload == '{"text": "\\u00e4"}'
    assert (message.attempt, message.owner, message.due) == (2, "o", "2027-01-01T00:00:00.000Z")


def test_a_function_that_forgets_to_return_is_told() -> None:
    forgetful: Any = lambda message: None  # noqa: E731
    handler = LambdaExecutor(evolve(slack_post.target, attempt=forgetful))
    with pytest.raises(TypeError, match="has to return Done, Retry or Refused"):
        run(handler, {"channel": "#reports"}, payload={"text": "x"})


def test_each_result_is_returned_and_each_attempt_is_of_another_schedule() -> None:
    text = {"text": ""}
    assert run(slack_post, {"channel": "#a"}, payload=text) == Retry(detail="HTTP 503", after_seconds=5)
    assert run(slack_post, {"channel": "#a", "isUrgent": True}, payload=text, attempt=2) == Refused("stale")
    assert seen[0].schedule_id != seen[1].schedule_id


@pytest.mark.parametrize(
    ("fields", "payload", "words"),
    [
        ({}, {"text": ""}, "action.channel: missing; allowed: required"),
        ({"channel": "general"}, {"text": ""}, 'action.channel: not allowed: "general"; allowed: must match'),
        ({"channel": "#a", "is_urgent": True}, {"text": ""}, "action.is_urgent: unknown field; allowed: channel, isUr"),
        ({"channel": 7}, {"text": ""}, "action.channel: wrong type: 7; allowed: string"),
        ({"channel": "#a"}, {}, "payload.text: missing"),
        ({"channel": "#a"}, [], r"payload: wrong type: \[\]; allowed: object"),
        ({"channel": "#a"}, {"text": 1000 * "x"}, "payload: too large"),
    ],
)
def test_what_the_api_would_refuse_fails_the_test_in_its_words(fields: Any, payload: Any, words: str) -> None:
    with pytest.raises(NotAccepted, match=words):
        run(slack_post, fields, payload=payload)
    assert seen == []


def test_what_the_function_raises_is_raised() -> None:
    @executor("broken")
    def broken(message: Message[SlackPost]) -> Result:
        raise KeyError(message.action.channel)

    with pytest.raises(KeyError, match="#a"):
        run(broken, {"channel": "#a"})


# ------------------------------------------------------------ subscribers


def test_the_function_gets_one_event_after_the_other() -> None:
    first = event("scheduled", payload={"order": 7}, group="shop", tags={"of": "x"}, action={"type": "a", "b": 1})
    second = event("attempt-failed", attempt=3, detail="HTTP 500")
    assert deliver(big_spenders, first, second) == []
    assert read == [first, second]
    assert (first.payload, first.group, first.tags, first.action) == (
        '{"order": 7}',
        "shop",
        {"of": "x"},
        {"type": "a", "b": 1},
    )
    assert (second.type, second.state, second.attempt, second.group) == ("attempt-failed", "claimed", 3, "")
    assert first.cloud_event["type"] == "delayer.schedule.scheduled"
    assert first.schedule_id != second.schedule_id


def test_what_raises_comes_again_and_stderr_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    first, bad, last = event(), event(detail="come again"), event()
    assert deliver(big_spenders, first, bad, last) == [bad]
    assert read == [first, last]
    assert "NotDone: later" in capsys.readouterr().err


def test_an_event_may_come_twice() -> None:
    one = event("executed")
    deliver(big_spenders, one, one)
    assert [event.id for event in read] == [one.id, one.id]


def test_what_there_is_no_event_of_is_an_error() -> None:
    with pytest.raises(ValueError, match="exploded"):
        event("exploded")


def test_the_ports_are_those_of_the_function_again_afterwards() -> None:
    deliver(big_spenders, event())
    assert "ports" not in vars(big_spenders)


# ------------------------------------------------------------ what is around them


def status_of(url: str, **headers: str) -> int:
    request = urllib.request.Request(url, data=b'{"a": 1}', headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_fake_target_answers_by_its_script_and_remembers() -> None:
    with FakeTarget([503, Answer(status=429, headers={"Retry-After": "7"}, body="no")]) as target:
        assert [status_of(f"{target.url}/hook?a=1", X_Key="k") for _ in range(3)] == [503, 429, 200]
    first, *others = target.requests
    assert (first.method, first.path, first.json(), first.headers["x_key"]) == ("POST", "/hook?a=1", {"a": 1}, "k")
    assert len(others) == 2


def test_a_handler_is_found_in_its_folder() -> None:
    assert handler_in(ROOT / "functions/subscriber-failed-webhook").name == "failed-webhook"
    with pytest.raises(FileNotFoundError):
        handler_in(ROOT / "functions/none")


def test_the_clock_is_moved_by_hand() -> None:
    clock = clock_at("2027-01-01T00:00:00Z")
    clock.move(1500)
    assert run(slack_post, {"channel": "#a"}, payload={"text": ""}, attempt=2, clock=clock) == Done(f"at {clock.now()}")
