"""A function in another stack, asked by executor-remote."""

import json
from typing import Annotated, Any

import pytest
from attrs import frozen

from delayer.actions.rules.invocation import DESCRIBE, QUESTION, as_action, as_result, attempt
from delayer.actions.rules.model import Done, Refused, Retry
from delayer.extension.executor import Action, Message, Meta, Result, executor
from tests.samples import an_executor_message


class SlackPost(Action, frozen=True):
    """A message in a Slack channel."""

    channel: Annotated[str, Meta(pattern="^#[a-z]{1,80}$", max_length=81)]


@executor("slack-post", fair_by="channel")
def slack_post(message: Message[SlackPost]) -> Result:
    if message.action.channel == "#boom":
        raise RuntimeError("boom")
    return Done(f"{message.action.channel} {message.payload} {message.attempt} {message.seconds_left}")


@frozen
class Context:
    """As Lambda gives it."""

    left: int

    def get_remaining_time_in_millis(self) -> int:
        return self.left


def asked(channel: Any = "#ops", context: object = None, **changes: Any) -> Any:
    action = json.dumps({"type": "slack-post", "channel": channel})
    question = attempt(an_executor_message(action=action, payload='{"a":1}')) | changes
    return slack_post(json.loads(json.dumps(question)), context)


def test_it_says_what_its_class_says() -> None:
    action = as_action(slack_post({QUESTION: DESCRIBE}, None))
    assert (action.type, action.fair_by) == ("slack-post", "channel")
    assert json.loads(action.schema)["properties"]["channel"]["maxLength"] == 81


@pytest.mark.parametrize(
    ("context", "seconds"), [(None, 30.0), (Context(10_000), 9.5), (Context(900_000), 30.0), (Context(100), 0.0)]
)
def test_it_makes_an_attempt_and_knows_how_long_it_may_take(context: Context | None, seconds: float) -> None:
    """No longer than Delayer waits, and no longer than Lambda lets it."""
    assert as_result(asked(context=context)) == Done(f'#ops {{"a":1}} 1 {seconds}')


@pytest.mark.parametrize(
    ("retry", "attempt", "has_next"), [("", 1, True), ("", 10, False), ('{"maxAttempts": 1}', 1, False)]
)
def test_it_knows_whether_its_policy_allows_another_attempt(retry: str, attempt: int, has_next: bool) -> None:
    action = json.dumps({"type": "slack-post", "channel": "#ops"})
    message = an_executor_message(attempt=attempt, action=action, retry=retry)
    assert slack_post.target.message_of(message).has_next == has_next


def test_what_was_stored_under_another_class_is_refused_with_the_reason() -> None:
    """No further attempt could do better; the body is kept."""
    result = as_result(asked(channel=5))
    assert isinstance(result, Refused)
    assert "slack-post" in result.detail
    assert "channel" in result.detail


def test_a_message_of_a_newer_delayer_is_tried_again() -> None:
    message = json.loads(attempt(an_executor_message())["message"])
    result = as_result(asked(message=json.dumps(message | {"v": 9})))
    assert result == Retry(detail="the function was built with an older Delayer, which cannot read this message")


def test_what_it_raises_fails_the_invocation() -> None:
    with pytest.raises(RuntimeError):
        asked(channel="#boom")
    with pytest.raises(ValueError, match="no such question"):
        slack_post({QUESTION: "surprise"}, None)
