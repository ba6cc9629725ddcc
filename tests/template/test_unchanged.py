"""The template by feature creates what the one by type created: `before.json`, but for what `renames.json` lists.

What was added since, and whatever in the rest mentions it, is passed over: a new function changes nothing of the old.
"""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.cfn import deployed

HERE = Path(__file__).parent
RENAMES = json.loads((HERE / "renames.json").read_text())
BEFORE = (HERE / "before.json").read_text()
FIXED = ("AWSTemplateFormatVersion", "Description", "Metadata", "Parameters", "Conditions", "Rules", "Outputs")


def renamed(text: str) -> str:
    for before, after in RENAMES["names"] + RENAMES["sentences"]:
        text = text.replace(before, after)
    return text


THEN: dict[str, Any] = json.loads(renamed(BEFORE))
NOW = deployed()
POLICIES = {name: one for name, one in NOW["Resources"].items() if one["Type"] == "AWS::IAM::Policy"}


ADDED = {name for part in ("Resources", "Parameters") for name in set(NOW[part]) - set(THEN[part])} - set(POLICIES)


def mentions_added(value: Any) -> bool:
    """Whether it refers to something that was added, however it does."""
    if isinstance(value, dict):
        return any(mentions_added(one) for one in value.values())
    if isinstance(value, list):
        return any(mentions_added(one) for one in value)
    return isinstance(value, str) and bool(ADDED & set(re.findall(r"\w+", value)))


def without_added(value: Any) -> Any:
    """The same without the entries of objects and lists that name or mention what was added."""
    if isinstance(value, dict):
        left = {name: one for name, one in value.items() if name not in ADDED and not is_added(one)}
        return {name: without_added(one) for name, one in left.items()}
    return [without_added(one) for one in value if not is_added(one)] if isinstance(value, list) else value


def is_added(value: Any) -> bool:
    """A reference, not a whole that has one somewhere within."""
    is_reference = isinstance(value, str) or (isinstance(value, dict) and len(value) == 1 and not is_plain(value))
    return is_reference and mentions_added(value)


def is_plain(value: dict[str, Any]) -> bool:
    """No intrinsic function."""
    return not next(iter(value)).startswith(("Ref", "Fn::"))


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


Permission = tuple[str | None, str, str, str, str]


def permissions(documents: list[dict[str, Any]]) -> set[Permission]:
    """(version, effect, action, resource, condition): what the documents grant, however their statements are cut."""
    statements = [(document.get("Version"), one) for document in documents for one in document["Statement"]]
    assert {key for _, statement in statements for key in statement} <= {"Effect", "Action", "Resource", "Condition"}
    return {
        (version, statement["Effect"], action, text(resource), text(statement.get("Condition")))
        for version, statement in statements
        for action, resource in product(listed(statement["Action"]), listed(statement["Resource"]))
    }


def granted(stack: dict[str, Any], role: str) -> set[Permission]:
    """By the role itself, and by the policies that are attached to it."""
    own = [policy["PolicyDocument"] for policy in stack["Resources"][role]["Properties"].get("Policies", [])]
    attached = [
        resource["Properties"]["PolicyDocument"]
        for resource in stack["Resources"].values()
        if resource["Type"] == "AWS::IAM::Policy" and {"Ref": role} in resource["Properties"]["Roles"]
    ]
    return {one for one in permissions(own + attached) if not mentions_added(one[3])}


def without_policies(resource: dict[str, Any]) -> dict[str, Any]:
    """A role but for what it grants; anything else as it is."""
    if resource["Type"] != "AWS::IAM::Role":
        return resource
    properties = {name: value for name, value in resource["Properties"].items() if name != "Policies"}
    return {**resource, "Properties": properties}


def without_waiting(name: str, resource: dict[str, Any]) -> dict[str, Any]:
    """A function but for the wait for its own policy."""
    waits = resource["Type"] == "AWS::Lambda::Function" and resource.get("DependsOn") == f"{name}Policy"
    return {key: value for key, value in resource.items() if not (waits and key == "DependsOn")}


def test_the_same_resources_but_for_the_policies_beside_the_functions() -> None:
    assert set(NOW["Resources"]) - set(POLICIES) - ADDED == set(THEN["Resources"])


@pytest.mark.parametrize("name", sorted(THEN["Resources"]))
def test_each_resource_has_the_same_properties(name: str) -> None:
    now = without_waiting(name, without_policies(NOW["Resources"][name]))
    assert without_added(now) == without_policies(THEN["Resources"][name])


@pytest.mark.parametrize("role", sorted(n for n, one in THEN["Resources"].items() if one["Type"] == "AWS::IAM::Role"))
def test_each_role_may_do_the_same(role: str) -> None:
    assert granted(NOW, role) == granted(THEN, role)


def test_each_policy_is_attached_to_one_role_that_stood_before() -> None:
    for policy in POLICIES.values():
        if policy["Properties"]["Roles"][0]["Ref"] in ADDED:
            continue
        assert set(policy) == {"Type", "Properties"}
        assert set(policy["Properties"]) == {"PolicyName", "Roles", "PolicyDocument"}
        [role] = policy["Properties"]["Roles"]
        assert THEN["Resources"][role["Ref"]]["Type"] == "AWS::IAM::Role"


@pytest.mark.parametrize("section", FIXED)
def test_each_other_section_is_the_same(section: str) -> None:
    assert without_added(NOW[section]) == THEN[section]


def test_no_section_is_new_but_the_names_of_the_functions() -> None:
    assert set(NOW) - set(FIXED) == {"Resources", "Mappings"}
    assert set(THEN) - set(FIXED) == {"Resources"}
    assert set(NOW["Mappings"]) == {"Functions"}


def test_each_rename_is_needed_and_each_difference_has_its_reason() -> None:
    for before, after in RENAMES["names"] + RENAMES["sentences"]:
        assert before in BEFORE
        assert after not in BEFORE
    assert set(RENAMES["differences"]) == {"AWS::IAM::Policy", "DependsOn", "Mappings"}
    assert all(reason.endswith(".") for reason in RENAMES["differences"].values())
