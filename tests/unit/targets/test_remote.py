"""executor-remote: the outcome of an attempt that another stack's function makes."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve

from delayer.actions.rules.invocation import answered
from delayer.actions.rules.model import ActionType, Done, Result, Retry
from delayer.actions.rules.registration import Registration
from delayer.engines.ports import NoAnswer
from delayer.schedule.messages import ExecutorMessage, decode
from delayer.targets.remote import NotRegistered, RemoteTarget
from tests.fakes.messaging import MemoryFunction
from tests.samples import an_executor_message

ARN = "arn:aws:lambda:eu-west-1:123456789012:function:slack"
NEW_ARN = f"{ARN}-2"
MESSAGE = an_executor_message(action='{"type": "slack-post", "channel": "#ops"}', payload='{"é": 1.50}')
REGISTRATIONS = {
    kind: Registration(action=ActionType(type=kind, schema="{}"), stack="s", token="1", function=function)
    for kind, function in {"slack-post": ARN, "sqs-send": ""}.items()
}


def target_of(function: MemoryFunction, now: Mapping[str, Registration] = REGISTRATIONS) -> RemoteTarget:
    """`now` are the registrations that another read would find."""
    functions = {ARN: function, NEW_ARN: MemoryFunction(lambda _: {"outcome": "done", "detail": "new"})}
    return RemoteTarget(
        registration=REGISTRATIONS.__getitem__, registration_now=now.__getitem__, function_at=functions.__getitem__
    )


def result_of(content: object) -> Result:
    return target_of(MemoryFunction(lambda _: content))(MESSAGE)


def test_the_function_gets_the_message_and_its_answer_is_the_outcome() -> None:
    read: list[ExecutorMessage] = []

    def function(question: Mapping[str, Any]) -> object:
        read.append(decode(question["message"], ExecutorMessage))
        return answered(Retry(detail="busy", after_seconds=9))

    asked = MemoryFunction(function)
    assert target_of(asked)(MESSAGE) == Retry(detail="busy", after_seconds=9)
    assert read == [MESSAGE]
    assert len(asked.asked) == 1
    assert result_of({"outcome": "done", "detail": "HTTP 200"}) == Done("HTTP 200")


@pytest.mark.parametrize(
    "content", [None, {"outcome": "maybe"}, "<secret>", {"errorMessage": "<secret>"}], ids=json.dumps
)
def test_no_answer_is_a_failed_attempt_and_shows_no_text_of_the_function(content: object) -> None:
    result = result_of(content)
    assert result == Retry(detail="what the function returned is no Done, Retry or Refused")


def test_neither_is_an_invocation_that_fails() -> None:
    assert target_of(MemoryFunction())(MESSAGE) == Retry(detail="the function does not exist")


@pytest.mark.parametrize("is_outage", [True, False])
def test_a_function_that_does_not_answer_is_an_outage_and_one_that_was_not_asked_is_none(is_outage: bool) -> None:
    def silent(_: Mapping[str, Any]) -> object:
        raise NoAnswer("why", is_outage=is_outage)

    assert target_of(MemoryFunction(silent))(MESSAGE) == Retry(detail="why", is_outage=is_outage)


def test_what_the_function_says_of_its_target_is_passed_on() -> None:
    said = Retry(detail="HTTP 503", is_outage=True)
    assert result_of(answered(said)) == said


@pytest.mark.parametrize("kind", ["sms-send", "sqs-send"])
def test_a_type_that_no_other_stack_has_registered_waits(kind: str) -> None:
    """It is no failed attempt: a stack that is deployed again finds all that waited."""
    message = an_executor_message(action=json.dumps({"type": kind}))
    with pytest.raises(NotRegistered, match=kind):
        target_of(MemoryFunction())(message)


def test_a_stack_that_was_deleted_a_moment_ago_costs_no_attempt() -> None:
    """Its registration was read before."""
    with pytest.raises(NotRegistered, match="slack-post"):
        target_of(MemoryFunction(), now={})(MESSAGE)


def test_a_function_that_was_replaced_a_moment_ago_is_found() -> None:
    now = {"slack-post": evolve(REGISTRATIONS["slack-post"], function=NEW_ARN)}
    assert target_of(MemoryFunction(), now)(MESSAGE) == Done("new")
    busy = MemoryFunction(lambda _: answered(Retry(detail="busy")))
    assert target_of(busy, now)(MESSAGE) == Retry(detail="busy"), "it has been asked: no other is asked as well"
