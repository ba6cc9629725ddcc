"""Whoever deploys a stack again takes away no lane in which schedules may wait."""

from collections.abc import Mapping
from typing import Any

import boto3
import pytest

from operate.deploy.account import Stack
from operate.deploy.errors import TemplateError
from operate.deploy.expand import expand
from operate.deploy.lanes import holds_something, in_steps, refuse_to_take_a_lane, with_lanes
from operate.deploy.reading import read_template
from tests.cfn import ROOT
from tests.running.of_each import of_each
from tests.unit.empty_account import empty_account

TABLES = {"RelaxedTable": "relaxed", "WaitingTable": "waiting"}
OLDER = Stack(status="UPDATE_COMPLETE", outputs={**TABLES, "Policies": "none"})  # of a release without the choice
OLDEST = Stack(status="UPDATE_COMPLETE", outputs=TABLES)  # of a release that had each policy, and no list of them
WITH_BOTH = Stack(status="UPDATE_COMPLETE", outputs={**TABLES, "Policies": "spread", "Lanes": "relaxed"})
WITH_NONE = Stack(status="UPDATE_COMPLETE", outputs={"Policies": "none", "Lanes": "none"})


def deployed(stack: Stack, *holding: str, **given: str) -> dict[str, str]:
    """The lists, as `make deploy` keeps those of the stack. `holding` are tables in which something is."""
    kept = {name: stack.value(name) for name in ("Lanes", "Policies") if name not in given and stack.value(name)}
    values = with_lanes(stack, {**given, **kept}, given)
    refuse_to_take_a_lane(stack, "delayer", values, lambda table: table in holding)
    return values


def test_what_a_stack_has_is_kept_and_what_it_has_not_stays_away() -> None:
    assert deployed(WITH_BOTH) == {"Lanes": "relaxed", "Policies": "spread"}
    assert deployed(WITH_NONE) == {"Lanes": "none", "Policies": "none"}
    assert deployed(Stack()) == {}, "and the template's defaults count"


def test_a_lane_can_be_added_at_any_time() -> None:
    assert deployed(WITH_NONE, Lanes="relaxed", Policies="spread") == {"Lanes": "relaxed", "Policies": "spread"}
    assert deployed(WITH_BOTH, Policies="next-business-hour")["Policies"] == "next-business-hour"


@of_each([{"Lanes": "none"}, {"Policies": "none"}, {"Lanes": "", "Policies": "spread"}])
def test_no_lane_is_taken_away_whether_something_waits_or_not(given: dict[str, str]) -> None:
    """A look at the table would be a race: the API accepts until the deployment is through."""
    with pytest.raises(TemplateError, match="So a lane that a stack has stays: name at least one of its"):
        deployed(WITH_BOTH, **given)


def test_a_stack_of_an_older_release_keeps_its_relaxed_lane() -> None:
    """It had the lane without naming it."""
    assert deployed(OLDER)["Lanes"] == "relaxed"
    with pytest.raises(TemplateError, match="Lanes=relaxed"):
        deployed(OLDER, Lanes="none")


def test_the_empty_lane_of_policies_of_an_older_stack_goes() -> None:
    """It names no policy, so nothing can come into the table; unless something is left of a time when it did."""
    assert deployed(OLDER)["Policies"] == "none"
    with pytest.raises(TemplateError, match=r"WaitingTable, in which something waits.*Name the policies") as refused:
        deployed(OLDER, "waiting")
    assert "to keep what it has" not in str(refused.value), "that would be refused again"
    assert deployed(OLDER, "waiting", Policies="spread")["Policies"] == "spread"
    with pytest.raises(TemplateError, match="Policies=spread"):
        deployed(Stack(status="UPDATE_COMPLETE", outputs={**TABLES, "Policies": "spread"}), Policies="none")


@of_each([(), ("waiting",)])
def test_of_a_stack_that_accepts_for_every_policy_they_have_to_be_named(holding: tuple[str, ...]) -> None:
    """It has no list, so it takes schedules for each until the deployment is through: a look at the table is a race."""
    for given in ({}, {"Policies": "none"}):
        with pytest.raises(TemplateError, match=r"older than the list.*Policies=next-business-hour,spread"):
            deployed(OLDEST, *holding, **given)
    assert deployed(OLDEST, Policies="spread") == {"Policies": "spread", "Lanes": "relaxed"}


def accepted_by(template: Mapping[str, Any]) -> dict[str, set[str]]:
    """What the functions that accept schedules know, by the name of the variable."""
    given = [
        one.get("Properties", {}).get("Environment", {}).get("Variables", {}) for one in template["Resources"].values()
    ]
    accepting = [variables for variables in given if "LANES" in variables]
    assert len(accepting) == 7
    return {name: {one[name] for one in accepting if name in one} for name in ("LANES", "POLICIES")}


def test_a_lane_is_there_before_anything_is_accepted_for_it() -> None:
    """Or an update that fails takes back the table that it has made, with what was answered 201 meanwhile.

    It takes a second: the template is expanded.
    """
    named = {"Lanes": "relaxed", "Policies": "spread", "Subscribers": "none"}
    template = expand(read_template(ROOT / "template.yaml"), named)
    first, second = in_steps(WITH_NONE, template)
    assert second is template
    assert accepted_by(second) == {"LANES": {"relaxed"}, "POLICIES": {"spread"}}
    assert accepted_by(first) == {"LANES": {""}, "POLICIES": {""}}
    assert set(first["Resources"]) == set(template["Resources"])
    assert first["Outputs"] == template["Outputs"], "the lane stays from now on, whatever becomes of the second step"
    timing = [first["Resources"][name]["Properties"] for name in ("TimingEnqueuer", "Task1MinuteTiming")]
    assert {one["Environment"]["Variables"]["POLICIES"] for one in timing} == {"spread"}, "for they accept nothing"
    [one, _] = in_steps(Stack(status="UPDATE_COMPLETE", outputs={"RelaxedTable": "r", "Lanes": "relaxed"}), template)
    assert accepted_by(one) == {"LANES": {"relaxed"}, "POLICIES": {""}}, "what is new comes first"


def test_any_other_deployment_has_one_step() -> None:
    """Nobody calls a stack that is not there yet."""
    template = expand(read_template(ROOT / "template.yaml"), {"Lanes": "relaxed", "Policies": "spread"})
    assert in_steps(Stack(), template) == [template]
    assert in_steps(WITH_BOTH, template) == [template]


def test_a_table_is_asked_for_one_item() -> None:
    with empty_account():
        dynamodb: Any = boto3.client("dynamodb", region_name="eu-west-1")
        for table in ("empty", "used"):
            dynamodb.create_table(
                TableName=table,
                AttributeDefinitions=[{"AttributeName": "bucket", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "bucket", "KeyType": "HASH"}],
                BillingMode="PAY_PER_REQUEST",
            )
        dynamodb.put_item(TableName="used", Item={"bucket": {"S": "b"}})
        assert not holds_something(dynamodb, "empty")
        assert holds_something(dynamodb, "used")
