"""Actions: a stack has the executors that it names, and nothing in it refers to any other (ADR 0155)."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import pytest

from operate.deploy.errors import TemplateError
from operate.deploy.settled import settled
from tests.cfn import ROOT, every_action, expanded_with, listed, transformed, written
from tests.running.of_each import of_each

OWN = ("remote", "canary")
EVERY = tuple(every_action())
DEFAULT = tuple(written()["Parameters"]["Actions"]["Default"].split(","))
LISTS = [
    EVERY,
    DEFAULT,
    OWN,
    ("http-request", "sqs-send", *OWN),
    ("event-put", "step-start", *OWN),
    *((name, *OWN) for name in EVERY if name not in OWN),
]
each_list = of_each(LISTS)


@cache
def stack_of(names: tuple[str, ...]) -> dict[str, Any]:
    """What CloudFormation creates, conditions not yet decided."""
    return transformed(expanded_with(Actions=",".join(names)))


def references(value: Any) -> Iterator[str]:
    """The logical names in Ref, GetAtt, Sub and DependsOn."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from NAMED[key](item) if key in NAMED else references(item)


def in_sub(value: str | list[Any]) -> Iterator[str]:
    """But for those that it has a value for."""
    text, constants = (value, {}) if isinstance(value, str) else value
    yield from (name for name in re.findall(r"\$\{([\w:]+)", text) if name not in constants)
    yield from references(constants)


NAMED: dict[str, Callable[[Any], Iterable[str]]] = {
    "Ref": lambda name: [name],
    "Fn::GetAtt": lambda value: [listed(value)[0].partition(".")[0]],
    "Fn::Sub": in_sub,
    "DependsOn": listed,
}


def test_the_rule_knows_each_that_has_a_folder_once() -> None:
    folders = {path.name.removeprefix("executor-") for path in (ROOT / "functions").glob("executor-*")}
    assert set(EVERY) == folders
    assert len(EVERY) == len(folders)
    assert EVERY[-2:] == OWN
    assert {"event-put", "http-request", "lambda-invoke", "sns-publish", "sqs-send", "step-start"} <= set(EVERY)


def test_by_default_a_stack_has_those_that_most_need() -> None:
    """Each costs something though nothing is scheduled (ADR 0161). A team's own are in the default, too."""
    assert {"http-request", "sqs-send", *OWN} <= set(DEFAULT) <= set(EVERY)
    assert not {"event-put", "lambda-invoke", "sns-publish", "step-start"} & set(DEFAULT)


@each_list
def test_a_stack_has_the_executors_that_are_named(names: tuple[str, ...]) -> None:
    """It takes some seconds: the template is expanded for each list."""
    stack = stack_of(names)
    registered = [one for one in stack["Resources"].values() if one["Type"] == "Custom::DelayerAction"]
    assert [one["Properties"]["Type"] for one in registered] == list(names)
    queues = {f"Executor{name.replace('-', '')}QueueUrl" for name in names}
    assert {name for name in stack["Outputs"] if name.startswith("Executor")} == queues


@each_list
def test_nothing_refers_to_what_is_left_out(names: tuple[str, ...]) -> None:
    """Not even where a condition is false: CloudFormation would refuse the template.

    It takes some seconds, unless another test has expanded the template for each list.
    """
    stack = stack_of(names)
    known = {*stack["Resources"], *stack["Parameters"]}
    found = set(references([stack["Resources"], stack["Outputs"]]))
    assert {name for name in found if not name.startswith("AWS::")} <= known
    used = {one["Condition"] for one in stack["Resources"].values() if "Condition" in one}
    assert used <= set(stack["Conditions"])


def test_each_action_less_saves_all_that_the_loop_makes() -> None:
    """What it alone may do stays, as a policy of no role: it costs nothing, and allows nobody anything."""
    all_of_them, two = (len(stack_of(names)["Resources"]) for names in (EVERY, ("http-request", "sqs-send", *OWN)))
    assert all_of_them - two == len(written()["Resources"]["Fn::ForEach::Executors"][2]) * (len(EVERY) - 4)


@of_each([",".join(names) for names in LISTS] + ["sqs-send, remote, canary"])
def test_a_list_with_delayers_own_is_accepted(actions: str) -> None:
    assert ",".join(settled(written(), {"Actions": actions})["Actions"]) == actions.replace(" ", "")


@of_each(
    [
        ("http-request,sqs-send", "must have remote and canary"),
        ("http-request,canary", "must have remote and canary"),
        ("http-request,remote", "must have remote and canary"),
        ("http-requst,remote,canary", "names an action that is not in this template"),
        ("HTTP,remote,canary", "Actions"),
        ("", "Actions"),
        ("remote,canary,remote", "an item twice"),
    ],
    unpacked=True,
)
def test_any_other_is_refused_in_words(actions: str, sentence: str) -> None:
    """Before anything is built."""
    with pytest.raises(TemplateError, match=sentence):
        expanded_with(Actions=actions)


def test_policies_and_subscribers_are_there_if_they_are_named() -> None:
    """It takes some seconds: the template is expanded twice. By default nobody pays for their queues."""
    shipped = {"Policies": {"next-business-hour", "spread"}, "Subscribers": {"failed-webhook"}}
    for name, ours in shipped.items():
        assert not ours & {*written()["Parameters"][name]["Default"].split(",")}, "but what a team has added"
    default = transformed(expanded_with(Actions=",".join(OWN), Policies="none", Subscribers="none"))
    wanted = transformed(expanded_with(Actions=",".join(OWN), Policies="spread", Subscribers="failed-webhook"))
    more = set(wanted["Resources"]) - set(default["Resources"])  # with the lane that all policies share (ADR 0172)
    for loop, name in (("Policies", "Policyspread"), ("Subscribers", "Subscriberfailedwebhook")):
        bodies = written()["Resources"][f"Fn::ForEach::{loop}"][2]
        assert len([one for one in more if one.startswith(name)]) == len(bodies)
    names = "|".join(one.replace("-", "") for ours in shipped.values() for one in ours)
    assert not [one for one in default["Resources"] if re.match(rf"(Policy|Subscriber)({names})", one)]
    for name, value in (("Policies", "spread"), ("Subscribers", "failed-webhook")):
        assert default["Outputs"][name]["Value"] == "none", "which the next deployment keeps"
        assert settled(written(), {name: "none"})[name] == []
        assert wanted["Outputs"][name]["Value"] == value
    assert {variables["POLICIES"] for variables in variables_of(default)} == {""}
    assert {variables["POLICIES"] for variables in variables_of(wanted)} == {"spread"}


def variables_of(stack: dict[str, Any]) -> list[dict[str, Any]]:
    """Of those functions that are told which policies there are."""
    functions = [one["Properties"] for one in stack["Resources"].values() if one["Type"] == "AWS::Lambda::Function"]
    found = [function["Environment"]["Variables"] for function in functions]
    return [variables for variables in found if "POLICIES" in variables]


@of_each(
    [
        ({"Policies": "spread,next-hour"}, "Policies names a policy that is not in this template"),
        ({"Subscribers": "other"}, "Subscribers names a subscriber that is not in this template"),
        ({"Policies": "spread,spread"}, "an item twice"),
    ],
    unpacked=True,
)
def test_what_nobody_has_written_is_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(TemplateError, match=sentence):
        settled(written(), given)


def test_a_webhook_without_its_subscriber_is_refused() -> None:
    """When it is packaged, and by CloudFormation when only the parameter changes."""
    url = {"FailedWebhookUrl": "https://example.com/hook"}
    with pytest.raises(TemplateError, match="FailedWebhookUrl needs the subscriber that posts there"):
        settled(written(), url)
    assert settled(written(), {**url, "Subscribers": "failed-webhook"})["Subscribers"] == ["failed-webhook"]
    for subscribers, holds in (("", "false"), ("failed-webhook", "true")):
        rule = expanded_with(Actions=",".join(OWN), Subscribers=subscribers)["Rules"]["TheWebhookIsASubscriber"]
        assert rule["RuleCondition"] == written()["Rules"]["TheWebhookIsASubscriber"]["RuleCondition"]
        assert [one["Assert"] for one in rule["Assertions"]] == [{"Fn::Equals": [holds, "true"]}]


def test_cloudformation_has_no_such_parameter_and_the_stack_says_its_actions() -> None:
    """The next deployment takes them from there."""
    stack = stack_of(OWN)
    assert "Actions" not in stack["Parameters"]
    assert "Actions" not in str(stack["Rules"]) + str(stack["Metadata"])
    assert stack["Outputs"]["Actions"]["Value"] == "remote,canary"
