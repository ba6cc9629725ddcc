"""What is settled when a template is packaged decides its conditions there; all else is left to CloudFormation."""

from typing import Any

import pytest

from operate.deploy.decided import without_decided
from operate.deploy.errors import TemplateError
from operate.deploy.expand import expand
from tests.running.of_each import of_each

YES, NO = {"Fn::Equals": ["a", "a"]}, {"Fn::Equals": ["a", "b"]}
OPEN: dict[str, Any] = {"Fn::Equals": [{"Ref": "Alarms"}, "all"]}
NOTHING = {"Ref": "AWS::NoValue"}
CONDITIONS: dict[str, Any] = {
    "Yes": YES,
    "No": NO,
    "Open": OPEN,
    "Other": {"Fn::Equals": [{"Ref": "Lifecycle"}, "off"]},
    "NotNo": {"Fn::Not": [{"Condition": "No"}]},
}


def a_template(**conditions: Any) -> dict[str, Any]:
    """A resource for each condition, named like it, and one that looks at all."""
    every = {**CONDITIONS, **conditions}
    resources: dict[str, Any] = {
        name: {"Type": "AWS::SQS::Queue", "Condition": name, "Properties": {"Of": name}} for name in every
    }
    return {"Conditions": every, "Resources": {**resources, "Always": {"Type": "AWS::SNS::Topic"}}}


@of_each(
    [
        ({"Fn::And": [{"Condition": "Yes"}, {"Condition": "Open"}]}, "Open"),
        ({"Fn::And": [{"Condition": "No"}, {"Condition": "Open"}]}, False),
        ({"Fn::And": [{"Condition": "Yes"}, {"Condition": "NotNo"}]}, True),
        ({"Fn::Or": [{"Condition": "No"}, {"Condition": "Open"}]}, "Open"),
        ({"Fn::Or": [{"Condition": "Yes"}, {"Condition": "Open"}]}, True),
        ({"Fn::Or": [NO, {"Condition": "No"}]}, False),
        ({"Fn::Not": [{"Condition": "Yes"}]}, False),
        ({"Condition": "NotNo"}, True),
    ],
    unpacked=True,
)
def test_a_condition_is_decided_or_is_what_is_left_of_it(condition: dict[str, Any], outcome: bool | str) -> None:
    made = without_decided(a_template(Asked=condition))
    assert "Asked" not in made["Conditions"]
    assert ("Asked" in made["Resources"]) == bool(outcome)
    if outcome:
        resource = {"Type": "AWS::SQS::Queue", "Properties": {"Of": "Asked"}}
        assert made["Resources"]["Asked"] == resource | ({"Condition": outcome} if isinstance(outcome, str) else {})


def test_what_cloudformation_decides_is_left_to_it() -> None:
    both = {"Fn::And": [{"Condition": "Open"}, {"Condition": "Yes"}, {"Condition": "Other"}]}
    made = without_decided(a_template(Both=both))
    assert made["Conditions"] == {
        "Open": OPEN,
        "Other": CONDITIONS["Other"],
        "Both": {"Fn::And": [{"Condition": "Open"}, {"Condition": "Other"}]},
    }
    assert made["Resources"]["Both"]["Condition"] == "Both"


def test_a_choice_is_made_and_nothing_is_left_where_nothing_is_chosen() -> None:
    template = a_template()
    template["Resources"]["Always"]["Properties"] = {
        "List": [1, {"Fn::If": ["No", 2, NOTHING]}, {"Fn::If": ["Yes", 3, NOTHING]}],
        "Gone": {"Fn::If": ["Yes", NOTHING, 4]},
        "Open": {"Fn::If": ["Open", {"Fn::If": ["No", 5, NOTHING]}, {"Fn::If": ["Yes", 6, 7]}]},
    }
    assert without_decided(template)["Resources"]["Always"]["Properties"] == {
        "List": [1, 3],
        "Open": {"Fn::If": ["Open", NOTHING, 6]},
    }


def test_nothing_waits_for_what_is_not_there_and_no_output_shows_it() -> None:
    template = a_template()
    template["Resources"]["Always"]["DependsOn"] = ["No", "Yes", "Open"]
    template["Outputs"] = {name: {"Value": 1, "Condition": name} for name in ("No", "Yes", "Open")}
    made = without_decided(template)
    assert made["Resources"]["Always"]["DependsOn"] == ["Yes", "Open"]
    assert made["Outputs"] == {"Yes": {"Value": 1}, "Open": {"Value": 1, "Condition": "Open"}}


def test_a_template_without_such_conditions_stays_as_it_is() -> None:
    plain = {"Conditions": {"Open": OPEN}, "Resources": {"A": {"Type": "AWS::SNS::Topic", "Condition": "Open"}}}
    assert without_decided(plain) == plain
    assert without_decided({"Resources": {}}) == {"Resources": {}}


def test_a_choice_that_is_none_is_refused() -> None:
    template = a_template()
    template["Resources"]["Always"]["Properties"] = {"Wrong": {"Fn::If": ["Yes", 1]}}
    with pytest.raises(TemplateError, match="which is not a condition and two values"):
        without_decided(template)


def test_a_list_that_a_condition_looks_at_counts_when_it_is_packaged() -> None:
    """CloudFormation has no such parameter, and what nobody names is not in the template. Nor is what is shared."""
    template = {
        "Metadata": {"Shared": [{"Ref": "Nobody"}], "Other": 1},
        "Parameters": {"Lanes": {"Type": "CommaDelimitedList", "Default": "none"}},
        "Conditions": {"HasLanes": {"Fn::Not": [{"Fn::Equals": [{"Fn::Join": [",", {"Ref": "Lanes"}]}, ""]}]}},
        "Resources": {"Table": {"Type": "AWS::DynamoDB::Table", "Condition": "HasLanes"}},
    }
    default, named = expand(template, {}), expand(template, {"Lanes": "relaxed"})
    assert default["Parameters"] == default["Resources"] == default["Conditions"] == {}
    assert default["Metadata"] == {"Other": 1}
    assert named["Resources"] == {"Table": {"Type": "AWS::DynamoDB::Table"}}
