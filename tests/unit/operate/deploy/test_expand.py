"""A template is expanded to one that CloudFormation takes without AWS::LanguageExtensions."""

from typing import Any

import pytest

from operate.deploy.errors import TemplateError
from operate.deploy.expand import TRANSFORM, expand
from operate.deploy.settled import names_of_settled

JOINED = {"Fn::Join": ["", {"Fn::Split": ["-", {"Ref": "Name"}]}]}
TABLES = {"Sizes": {"a-b": {"Memory": 384, "Setting": "Url"}}, "Scales": {"small": {"Lanes": 2}}}


def made(body: Any, names: Any = ("a-b", "c"), key: str = "Of&{Name}", **sections: Any) -> dict[str, Any]:
    """The resources of a loop over these names."""
    template = {"Mappings": TABLES, "Resources": {"Fn::ForEach::All": ["Name", list(names), {key: body}]}, **sections}
    resources: dict[str, Any] = expand(template, {})["Resources"]
    return resources


def one(value: Any, name: str = "a-b") -> Any:
    """What becomes of a value in a loop, for one name."""
    return next(iter(made({"Value": value}, [name]).values())).get("Value", "nothing")


def test_a_loop_makes_one_of_each_and_a_logical_id_has_no_hyphens() -> None:
    assert list(made({"Type": "X"})) == ["Ofab", "Ofc"]
    assert list(made({"Type": "X"}, ["A", "B"], "${Name}Logs")) == ["ALogs", "BLogs"]


def test_loops_may_be_in_loops_and_among_properties() -> None:
    inner = {"Fn::ForEach::Inner": ["Path", ["x", "y"], {"/${Name}/${Path}": {"Fn::Sub": "${Path}-${Name}"}}]}
    assert made({"Paths": inner}, ["a"]) == {"Ofa": {"Paths": {"/a/x": "x-a", "/a/y": "y-a"}}}
    nested = {"Fn::ForEach::Both": ["B", ["x", "y"], {"${A}${B}": {"Type": {"Ref": "B"}}}]}
    expanded = expand({"Resources": {"Fn::ForEach::Outer": ["A", ["1", "2"], nested]}}, {})
    assert expanded["Resources"] == {f"{a}{b}": {"Type": b} for a in "12" for b in "xy"}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"Ref": "Name"}, "a-b"),
        ({"Ref": "Table"}, {"Ref": "Table"}),
        ({"Ref": {"Fn::Sub": ["Of${Id}Queue", {"Id": JOINED}]}}, {"Ref": "OfabQueue"}),
        ({"Fn::GetAtt": [{"Fn::Sub": ["Of${Id}", {"Id": JOINED}]}, "Arn"]}, {"Fn::GetAtt": ["Ofab", "Arn"]}),
        ({"Fn::GetAtt": "Table.Arn"}, {"Fn::GetAtt": "Table.Arn"}),
        ({"Fn::Sub": "functions/${Name}/"}, "functions/a-b/"),
        ({"Fn::Sub": "${AWS::StackName}-${Name}"}, {"Fn::Sub": "${AWS::StackName}-a-b"}),
        ({"Fn::Sub": ["${Name}-${Id}", {"Id": {"Ref": "X"}}]}, {"Fn::Sub": ["a-b-${Id}", {"Id": {"Ref": "X"}}]}),
        ({"Fn::Sub": "&{Name}"}, "&{Name}"),
        ("${Name} in a plain text", "${Name} in a plain text"),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Name"}, "Memory"]}, 384),
        ({"Fn::FindInMap": ["Sizes", "else", "Memory", {"DefaultValue": 256}]}, 256),
        ({"Fn::FindInMap": ["Sizes", "a-b", "Memory", {"DefaultValue": 256}]}, 384),
        ({"Ref": {"Fn::FindInMap": ["Sizes", {"Ref": "Name"}, "Setting"]}}, {"Ref": "Url"}),
        ({"Ref": {"Fn::FindInMap": ["Sizes", "else", "Setting", {"DefaultValue": "AWS::NoValue"}]}}, "nothing"),
        ({"Fn::If": ["C", 1, {"Ref": "AWS::NoValue"}]}, {"Fn::If": ["C", 1, {"Ref": "AWS::NoValue"}]}),
        ([1, {"Ref": "AWS::NoValue"}, 2], [1, 2]),
        (
            {"Fn::FindInMap": ["Scales", {"Ref": "Scale"}, "Lanes"]},
            {"Fn::FindInMap": ["Scales", {"Ref": "Scale"}, "Lanes"]},
        ),
        ({"Fn::Select": [1, {"Fn::Split": ["-", {"Ref": "Name"}]}]}, "b"),
        (
            {"Fn::Select": [1, {"Fn::Split": ["-", {"Ref": "AWS::StackId"}]}]},
            {"Fn::Select": [1, {"Fn::Split": ["-", {"Ref": "AWS::StackId"}]}]},
        ),
        ({"Fn::Join": ["-", [{"Ref": "Name"}, {"Ref": "Other"}]]}, {"Fn::Join": ["-", ["a-b", {"Ref": "Other"}]]}),
    ],
)
def test_what_can_be_worked_out_is_and_the_rest_is_left_to_cloudformation(written: Any, expected: Any) -> None:
    assert one(written) == expected


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ({"Ref": {"Fn::Sub": "${AWS::StackName}"}}, "no name that is known"),
        ({"Fn::FindInMap": ["Sizes", "else", "Memory"]}, "has no Memory of else"),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Scale"}, "Memory", {"DefaultValue": 1}]}, "all of it must be known"),
        ({"Fn::Length": [1, 2]}, "Fn::Length needs AWS::LanguageExtensions"),
        ({"Fn::ForEach::Inner": ["Path", {"Ref": "Other"}, {"${Path}": 1}]}, "no list that is known"),
        ({"Fn::ForEach::Inner": ["Path", ["x"]]}, "not a name, a list and what is made of each"),
    ],
)
def test_what_only_the_transform_could_do_is_refused(written: Any, sentence: str) -> None:
    with pytest.raises(TemplateError, match=sentence):
        one(written)


def test_ids_are_those_that_cloudformation_takes_each_once() -> None:
    with pytest.raises(TemplateError, match="letters and digits only"):
        made({"Type": "X"}, ["a-b"], "Of${Name}")
    with pytest.raises(TemplateError, match="made twice"):
        made({"Type": "X"}, ["ab", "a-b"])


def test_nothing_of_the_transform_is_left() -> None:
    """Nor a table in which nobody looks any more."""
    template = {
        "Transform": [TRANSFORM, "AWS::Serverless-2016-10-31"],
        "Mappings": TABLES,
        "Globals": {"Function": {"MemorySize": {"Fn::FindInMap": ["Scales", {"Ref": "Scale"}, "Lanes"]}}},
        "Resources": {"A": {"Type": {"Fn::FindInMap": ["Sizes", "a-b", "Memory"]}}},
    }
    expanded = expand(template, {})
    assert expanded["Transform"] == "AWS::Serverless-2016-10-31"
    assert expanded["Mappings"] == {"Scales": TABLES["Scales"]}
    alone = expand({"Transform": TRANSFORM, "Mappings": TABLES, "Resources": {}}, {})
    assert "Transform" not in alone
    assert "Mappings" not in alone


SETTLED = {
    "Metadata": {
        "AWS::CloudFormation::Interface": {
            "ParameterGroups": [
                {"Label": {"default": "Both"}, "Parameters": ["Names", "Period"]},
                {"Label": {"default": "One"}, "Parameters": ["Names"]},
            ]
        }
    },
    "Parameters": {
        "Names": {"Type": "CommaDelimitedList", "Default": "a,b", "AllowedPattern": "[a-z]"},
        "Period": {"Type": "Number", "Default": 60},
    },
    "Rules": {
        "NamesAreKnown": {
            "Assertions": [
                {"Assert": {"Fn::EachMemberIn": [{"Ref": "Names"}, ["a", "b", "c"]]}, "AssertDescription": "a, b or c."}
            ]
        },
        "PeriodIsLong": {
            "Assertions": [{"Assert": {"Fn::Equals": [{"Ref": "Period"}, 60]}, "AssertDescription": "It is 60."}]
        },
    },
    "Resources": {"Fn::ForEach::All": ["Name", {"Ref": "Names"}, {"${Name}": {"Of": {"Ref": "Period"}}}]},
    "Outputs": {"Names": {"Value": {"Fn::Join": [",", {"Ref": "Names"}]}}},
}


def test_the_parameter_of_a_loop_counts_here_and_is_none_of_cloudformations() -> None:
    assert names_of_settled(SETTLED) == ["Names"]
    expanded = expand(SETTLED, {"Names": "c, a", "Period": "70"})
    assert list(expanded["Resources"]) == ["c", "a"]
    assert expanded["Outputs"] == {"Names": {"Value": "c,a"}}
    assert list(expanded["Parameters"]) == ["Period"]
    assert list(expanded["Rules"]) == ["PeriodIsLong"]
    [group] = expanded["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    assert group["Parameters"] == ["Period"]
    assert list(expand(SETTLED, {})["Resources"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "sentence"), [("a,d", "a, b or c"), ("a,bb", "does not match"), ("a,b,a", "an item twice")]
)
def test_a_wrong_value_is_refused_in_the_words_of_its_rule(given: str, sentence: str) -> None:
    with pytest.raises(TemplateError, match=sentence):
        expand(SETTLED, {"Names": given})


def conditioned(condition: object) -> dict[str, Any]:
    """With a rule that also looks at what CloudFormation knows."""
    return {
        **SETTLED,
        "Rules": {
            "LongNeedsC": {
                "RuleCondition": condition,
                "Assertions": [
                    {"Assert": {"Fn::EachMemberIn": [["c"], {"Ref": "Names"}]}, "AssertDescription": "It needs c."}
                ],
            }
        },
    }


@pytest.mark.parametrize(
    ("condition", "period", "names", "is_refused"),
    [
        ({"Fn::Equals": [{"Ref": "Period"}, "70"]}, "70", "a", True),
        ({"Fn::Equals": [{"Ref": "Period"}, "70"]}, "60", "a", False),
        ({"Fn::Equals": [{"Ref": "Period"}, "70"]}, "70", "a,c", False),
        ({"Fn::Not": [{"Fn::Equals": [{"Ref": "Period"}, "60"]}]}, "70", "a", True),
        ({"Fn::Not": [{"Fn::Equals": [{"Ref": "Period"}, "60"]}]}, None, "a", False),
        ({"Fn::Not": [{"Fn::Equals": [{"Ref": "Period"}, "60"]}]}, "61", "", True),
    ],
)
def test_a_rule_with_a_condition_counts_where_it_holds_and_stays(
    condition: dict[str, Any], period: str | None, names: str, *, is_refused: bool
) -> None:
    """CloudFormation asks its condition again when the parameter alone is changed."""
    given = {"Names": names} | ({} if period is None else {"Period": period})
    if is_refused:
        with pytest.raises(TemplateError, match="It needs c"):
            expand(conditioned(condition), given)
        return
    kept = expand(conditioned(condition), given)["Rules"]["LongNeedsC"]
    assert kept["RuleCondition"] == condition
    holds = "true" if "c" in names else "false"
    assert kept["Assertions"] == [{"Assert": {"Fn::Equals": [holds, "true"]}, "AssertDescription": "It needs c."}]


def test_a_condition_that_it_does_not_understand_is_refused() -> None:
    with pytest.raises(TemplateError, match="a condition that is not understood"):
        expand(conditioned({"Fn::Contains": [["a"], {"Ref": "Period"}]}), {})


@pytest.mark.parametrize("given", ["", "none"])
def test_an_empty_list_makes_nothing_and_says_so(given: str) -> None:
    """AWS does not say what it makes of an output without a text."""
    expanded = expand({**SETTLED, "Rules": {}}, {"Names": given})
    assert (expanded["Resources"], expanded["Outputs"]) == ({}, {"Names": {"Value": "none"}})


def test_a_rule_that_it_cannot_judge_is_refused() -> None:
    rule = {"Assertions": [{"Assert": {"Fn::Contains": [{"Ref": "Names"}, "a"]}, "AssertDescription": "x"}]}
    with pytest.raises(TemplateError, match="uses no EachMemberIn"):
        expand({**SETTLED, "Rules": {"Odd": rule}}, {})
