"""What a stack may register, and what CloudFormation is told if it may not."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from attrs import evolve, frozen

from delayer.actions.describe import Describe, DescribedByRemote
from delayer.actions.register import Register
from delayer.actions.repository import StoredActions
from delayer.actions.rules.invocation import DESCRIBE, QUESTION, described
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import CannotRegister, Command, Registrations
from delayer.engines.memory import MemoryObserver
from delayer.engines.ports import NoAnswer, Unavailable
from tests.fakes.messaging import MemoryFunction
from tests.looking import all_rows
from tests.tables import on_sqlite

OWN = "arn:aws:cloudformation:eu-west-1:123456789012:stack/delayer/0a1b"
REPORTS = "arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/1a2b"
ARN = "arn:aws:lambda:eu-west-1:123456789012:function:slack"
BUILT_IN = {"sqs-send": ActionType(type="sqs-send", schema='{"built": "in"}')}


def a_class(kind: str = "slack-post", **changes: Any) -> ActionType:
    schema = {
        "type": "object",
        "required": ["type"],
        "additionalProperties": False,
        "properties": {"type": {"const": kind}},
    }
    return evolve(ActionType(type=kind, schema=json.dumps(schema)), **changes)


def register_of(answer: object = None, actions: StoredActions | None = None) -> Register:
    """The registrar, executor-remote, and a function of another stack, as they are wired."""
    function = MemoryFunction(lambda _: described(a_class()) if answer is None else answer)
    remote = Describe(function_at={ARN: function}.__getitem__)
    return Register(
        action_rows=on_sqlite(StoredActions) if actions is None else actions,
        built_in=BUILT_IN,
        describe=DescribedByRemote(executor_remote=MemoryFunction(lambda question: remote(question["function"]))),
        observer=MemoryObserver(),
        stack_id=OWN,
    )


def a_command(request: str = "Create", **changes: Any) -> Command:
    properties = changes.pop("properties", {"Type": "slack-post", "Function": ARN})
    command = Command(request=request, request_id="r-1", stack=REPORTS, resource="Slack", properties=properties)
    return evolve(command, **changes)


def test_a_type_of_another_stack_is_registered_as_its_function_describes_it() -> None:
    actions = on_sqlite(StoredActions)
    assert register_of(actions=actions)(a_command()) == "slack-post/r-1"
    [one] = all_rows(actions)["slack-post"]
    assert (one.action, one.stack, one.function, one.queue) == (a_class(), REPORTS, ARN, "")


def test_a_type_of_its_own_stack_is_registered_as_it_was_built() -> None:
    """Nobody is asked: its function may not be there yet."""
    actions = on_sqlite(StoredActions)
    register = evolve(register_of(actions=actions), describe=DescribedByRemote(executor_remote=MemoryFunction()))
    command = a_command(stack=OWN, properties={"Type": "sqs-send", "Queue": "https://q", "Release": "2"})
    assert register(command) == "sqs-send/r-1"
    [one] = all_rows(actions)["sqs-send"]
    assert (one.action, one.queue, one.function) == (BUILT_IN["sqs-send"], "https://q", "")


@pytest.mark.parametrize(
    ("changes", "answer", "reason"),
    [
        ({"properties": {}}, None, "Type is missing"),
        ({"properties": {"Type": ["slack-post"], "Function": ARN}}, None, "Type is missing"),
        ({"properties": {"Type": "slack-post"}}, None, "Function is missing"),
        ({"properties": {"Type": "slack", "Function": ARN}}, None, "it does 'slack-post', not 'slack'"),
        ({"properties": {"Type": "slack-post", "Function": ARN}}, {"statusCode": 200}, "@executor"),
        ({}, described(a_class(payload="[]")), "payload is no JSON object"),
        ({}, {"action": '{"v": 2}'}, "newer Delayer"),
        ({"stack": OWN}, None, "no executor of this version has the type 'slack-post'"),
        ({"properties": {"Type": "sqs-send", "Function": ARN}}, described(a_class("sqs-send")), "one of Delayer's own"),
        ({"properties": {"Type": "sqs-send", "Function": ARN}}, None, "one of Delayer's own"),
    ],
)
def test_what_cannot_be_registered_has_a_reason(changes: dict[str, Any], answer: object, reason: str) -> None:
    actions = on_sqlite(StoredActions)
    with pytest.raises(CannotRegister, match=reason):
        register_of(answer, actions)(a_command(**changes))
    assert all_rows(actions) == {}


def test_a_function_that_cannot_be_asked_is_a_reason_too() -> None:
    def refuses(_: Mapping[str, Any]) -> object:
        raise NoAnswer("the function has no permission for the role of executor-remote")

    register = evolve(register_of(), describe=DescribedByRemote(executor_remote=MemoryFunction(refuses)))
    with pytest.raises(CannotRegister, match="executor-remote did not answer: the function has no permission"):
        register(a_command())


def test_executor_remote_asks_what_a_class_says_and_nothing_else() -> None:
    function = MemoryFunction(lambda _: described(a_class()))
    assert Describe(function_at=lambda arn: function)(ARN) == described(a_class())
    assert function.asked == [{QUESTION: DESCRIBE}]
    assert Describe(function_at=lambda arn: MemoryFunction())(ARN) == {"error": "the function does not exist"}
    assert "error" in Describe(function_at=lambda arn: MemoryFunction(lambda _: {"secret": 1}))(ARN)


@frozen(kw_only=True)
class Contested(StoredActions):
    """Another deployment is faster, so many times."""

    times: Iterator[int]

    def write(self, kind: str, registrations: Registrations, over: Registrations) -> bool:
        return super().write(kind, registrations, over) if next(self.times, None) is None else False


def contested(times: int) -> Contested:
    actions = on_sqlite(StoredActions)
    return Contested(store=actions.store, table=actions.table, times=iter(range(times)))


def test_a_write_that_another_one_overtook_is_repeated() -> None:
    actions = contested(5)
    register_of(actions=actions)(a_command())
    assert "slack-post" in all_rows(actions)
    with pytest.raises(Unavailable):
        register_of(actions=contested(10_000))(a_command())


def test_what_was_created_without_an_answer_is_taken_out() -> None:
    """CloudFormation got none in time, made up a name for the resource, and rolls back."""
    actions = on_sqlite(StoredActions)
    register = register_of(actions=actions)
    register(a_command())
    register(a_command("Delete", physical_id="reports-Other-1XYZ", resource="Other"))
    assert "slack-post" in all_rows(actions)
    register(a_command("Delete", physical_id="reports-Slack-1XYZ"))
    assert all_rows(actions) == {}
