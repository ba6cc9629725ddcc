"""template.yaml as data: CloudFormation's tags become what they are short for."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]


class _Loader(yaml.SafeLoader):
    """Reads `!Ref A` as {"Ref": "A"} and `!GetAtt A.B` as {"Fn::GetAtt": "A.B"}."""


def _tag(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        return {name: loader.construct_scalar(node)}
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    raise ValueError(f"a tag on a mapping: {suffix}")


_Loader.add_multi_constructor("!", _tag)


@cache
def template() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load((ROOT / "template.yaml").read_text(), Loader=_Loader)
    return loaded


def resources(kind: str) -> dict[str, dict[str, Any]]:
    """The properties of all resources of a type, by logical name."""
    return {
        name: resource.get("Properties", {})
        for name, resource in template()["Resources"].items()
        if resource["Type"] == kind
    }


def functions() -> dict[str, dict[str, Any]]:
    """The functions by their folder, `api-schedule-post`."""
    found = resources("AWS::Serverless::Function").values()
    return {properties["CodeUri"].removeprefix("functions/").rstrip("/"): properties for properties in found}


def variables(function: str) -> dict[str, Any]:
    """The environment variables of a function, those of all functions not counted."""
    own: dict[str, Any] = functions()[function].get("Environment", {}).get("Variables", {})
    return own


def shared_variables() -> dict[str, Any]:
    """Those that all functions have."""
    common: dict[str, Any] = template()["Globals"]["Function"]["Environment"]["Variables"]
    return common
