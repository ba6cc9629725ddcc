"""A condition may name the account and the region; a loop over names with hyphens refers to its own resources."""

import importlib
from importlib.util import find_spec, module_from_spec
from types import SimpleNamespace
from typing import Any

import pytest
from ministack.core import responses
from ministack.core.responses import request_scope

from local.emulator.patches.cloudformation import name_stack, resolve_names_in_loops, resolve_pseudo_parameters

engine: Any = importlib.import_module("ministack.services.cloudformation.engine")
TEMPLATE = {
    "Conditions": {
        "Own": {"Fn::Equals": [{"Ref": "Account"}, {"Ref": "AWS::AccountId"}]},
        "Here": {"Fn::Equals": [{"Ref": "AWS::Region"}, "eu-west-1"]},
    }
}


def conditions(account: str) -> dict[str, bool]:
    """In account 1…2, with this parameter."""
    module = SimpleNamespace(_evaluate_conditions=engine._evaluate_conditions)
    resolve_pseudo_parameters([module], responses)
    with request_scope("123456789012", "eu-west-1"):
        found: dict[str, bool] = module._evaluate_conditions(TEMPLATE, {"Account": {"Value": account}})
        return found


def test_the_account_and_the_region_have_their_values() -> None:
    assert conditions("123456789012") == {"Own": True, "Here": True}
    assert conditions("000000000000") == {"Own": False, "Here": True}
    assert conditions("AWS::AccountId") == {"Own": False, "Here": True}


def reference_to(resource: str) -> dict[str, Any]:
    """A name for the resource of the loop's own item, as a template writes it."""
    without_hyphens = {"Fn::Join": ["", {"Fn::Split": ["-", {"Ref": "Name"}]}]}
    return {"Fn::Sub": [resource + "${Id}Queue", {"Id": without_hyphens}]}


def looped(properties: dict[str, Any], *, is_corrected: bool = True) -> dict[str, Any]:
    """What a loop over one name with two hyphens makes of it, by a copy of ministack's module."""
    spec = find_spec("ministack.services.cloudformation.language_extensions")
    assert spec
    assert spec.loader
    copy: Any = module_from_spec(spec)
    spec.loader.exec_module(copy)
    if is_corrected:
        resolve_names_in_loops(copy)
    template = {"Resources": {"Fn::ForEach::All": ["Name", ["a-b-1"], {"Of&{Name}Queue": {"Properties": properties}}]}}
    found: dict[str, Any] = copy.apply(template, {})["Resources"]
    return found


def test_what_a_loop_makes_is_found_by_its_name_without_hyphens() -> None:
    made = looped({"Url": {"Ref": reference_to("Of")}, "Arn": {"Fn::GetAtt": [reference_to("Of"), "Arn"]}})
    assert made == {
        "Ofab1Queue": {"Properties": {"Url": {"Ref": "Ofab1Queue"}, "Arn": {"Fn::GetAtt": ["Ofab1Queue", "Arn"]}}}
    }


def test_what_only_the_stack_knows_is_still_refused_as_a_name() -> None:
    with pytest.raises(ValueError, match="Ref takes the name of a parameter or a resource"):
        looped({"Url": {"Ref": {"Fn::Sub": ["${Id}Queue", {"Id": {"Ref": "AWS::StackName"}}]}}})


def test_without_the_correction_ministack_refuses_it() -> None:
    with pytest.raises(ValueError, match="Ref takes the name of a parameter or a resource"):
        looped({"Url": {"Ref": reference_to("Of")}}, is_corrected=False)


def test_a_stack_that_is_created_again_has_its_id_and_any_other_one_of_its_own() -> None:
    handlers: Any = SimpleNamespace(new_uuid=lambda: "new")
    name_stack(handlers, "the same")
    assert [handlers.new_uuid() for _ in range(3)] == ["the same", "new", "new"]
