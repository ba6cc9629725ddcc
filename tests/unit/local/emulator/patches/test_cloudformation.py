"""A condition may name the account and the region; a stack that is created again keeps its id."""

import importlib
from types import SimpleNamespace
from typing import Any

from ministack.core import responses
from ministack.core.responses import request_scope

from local.emulator.patches.cloudformation import resolve_pseudo_parameters

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
