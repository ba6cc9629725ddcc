"""Lanes: a stack has those that it names, and nothing in it refers to any other (ADR 0172)."""

import re
from functools import cache
from typing import Any

import pytest
from ministack.core.responses import request_scope
from ministack.services.cloudformation import engine

from operate.deploy.errors import TemplateError
from operate.deploy.settled import settled
from tests.cfn import expanded_with, listed, transformed, written
from tests.running.of_each import of_each
from tests.template.actions.test_left_out import references

NEITHER = {"Policies": "none", "Lanes": "none", "Subscribers": "none"}
STACKS: list[dict[str, str]] = [
    NEITHER,
    {**NEITHER, "Lanes": "relaxed"},
    {**NEITHER, "Policies": "spread"},
    {**NEITHER, "Subscribers": "failed-webhook"},
    {"Policies": "next-business-hour,spread", "Lanes": "relaxed", "Subscribers": "failed-webhook"},
]
OF_TIMING = re.compile(r"Waiting|Timing|Policies|^Policy[a-z]|Undecided|NotDecided|TimeRefused")
OF_RELAXED = re.compile(r"Relaxed")
OF_SUBSCRIBERS = re.compile(r"Subscriber(?!sDeadLetter)")  # that queue takes what series could not be given, too
each_stack = of_each(STACKS)


def created(given: dict[str, str]) -> set[str]:
    """The logical names of what such a stack consists of, as its conditions decide."""
    template = transformed(expanded_with(**given))
    values = [{"Key": name, "Value": value} for name, value in given.items() if name in template["Parameters"]]
    with request_scope("123456789012", "eu-west-1"):
        conditions = engine._evaluate_conditions(template, engine._resolve_parameters(template, values))
    resources = template["Resources"].items()
    return {name for name, one in resources if conditions.get(one.get("Condition", ""), True)}


@cache
def _stack(names: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    return transformed(expanded_with(**dict(names)))


def stack_of(given: dict[str, str]) -> dict[str, Any]:
    """What CloudFormation is given."""
    return _stack(tuple(sorted(given.items())))


@each_stack
def test_a_stack_has_the_lanes_that_it_names(given: dict[str, str]) -> None:
    """Without a condition that would have to be false. It takes a second for each stack: the template is expanded."""
    stack = stack_of(given)
    for parameter, table, own in (
        ("Policies", "WaitingTable", OF_TIMING),
        ("Lanes", "RelaxedTable", OF_RELAXED),
        ("Subscribers", "", OF_SUBSCRIBERS),
    ):
        found = [name for name in stack["Resources"] if own.search(name)]
        is_named = given[parameter] != "none"
        assert bool(found) == is_named, found
        assert (table in stack["Outputs"]) == (is_named and bool(table))
        assert stack["Outputs"][parameter]["Value"] == given[parameter], "which the next deployment keeps"


@each_stack
def test_nothing_refers_to_a_lane_that_is_not_there(given: dict[str, str]) -> None:
    """CloudFormation would refuse the template; a list without members would be refused by IAM."""
    stack = stack_of(given)
    known = {*stack["Resources"], *stack["Parameters"]}
    found = set(references([stack["Resources"], stack["Outputs"]]))
    assert {name for name in found if not name.startswith("AWS::")} <= known
    waited_for = {name for one in stack["Resources"].values() for name in listed(one.get("DependsOn", []))}
    assert waited_for <= known
    assert {one["Condition"] for one in stack["Resources"].values() if "Condition" in one} <= set(stack["Conditions"])
    for role in (one["Properties"] for one in stack["Resources"].values() if one["Type"] == "AWS::IAM::Role"):
        for policy in role["Policies"]:
            assert [one for one in policy["PolicyDocument"]["Statement"] if one.get("Resource") == []] == []


def test_each_lane_brings_what_serves_it_and_nothing_else() -> None:
    """With all alarms. It takes seconds: the template is expanded for each lane."""
    default = created({**NEITHER, "Alarms": "all"})
    for given, own in zip(STACKS[1:4], (OF_RELAXED, OF_TIMING, OF_SUBSCRIBERS), strict=True):
        more = created({**given, "Alarms": "all"}) - default
        assert len(more) >= 10
        assert {name for name in more if not own.search(name)} == set()


def test_a_stack_without_a_lane_has_no_right_on_it() -> None:
    text = str(stack_of(NEITHER)["Resources"])
    assert not re.search(r"RELAXED_TABLE|WAITING_TABLE|RELAXED_CLAIMER", text)
    functions = [one["Properties"] for one in stack_of(NEITHER)["Resources"].values() if "Environment" in str(one)]
    admitting = [one["Environment"]["Variables"] for one in functions if "LANES" in str(one.get("Environment"))]
    assert {variables["LANES"] for variables in admitting} == {""}
    assert len(admitting) == 7


def test_by_default_there_is_none_and_a_name_that_nobody_knows_is_refused() -> None:
    """A team's own policies and subscribers are in the default."""
    assert written()["Parameters"]["Lanes"]["Default"] == "none"
    assert settled(written(), {})["Lanes"] == []
    for wrong, sentence in (("relaxd", "Lanes names a lane that is not in this template"), ("Relaxed", "Lanes")):
        with pytest.raises(TemplateError, match=sentence):
            settled(written(), {"Lanes": wrong})
