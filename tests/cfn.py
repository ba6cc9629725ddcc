"""template.yaml as data: as it is written, with its loops expanded, and as CloudFormation creates it."""

import json
import os
import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml
from samtranslator.translator.transform import transform as apply_serverless

from operate.deploy.expand import without_loops
from operate.deploy.routes import with_gathered_routes
from operate.deploy.settled import everything

ROOT = Path(__file__).parents[1]
TEMPLATE = ROOT / "template.yaml"
CODE = {"AWS::Serverless::Function": "CodeUri", "AWS::Serverless::LayerVersion": "ContentUri"}


class _Loader(yaml.CSafeLoader):
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
def written(file: Path = TEMPLATE) -> dict[str, Any]:
    """The template as it is written, loops and all; another one for a comparison."""
    loaded: dict[str, Any] = yaml.load(file.read_text(), Loader=_Loader)
    return loaded


@cache
def expanded() -> dict[str, Any]:
    """With its loops expanded over all actions, and what a parameter chooses by its default.

    Each route is still beside its function.
    """
    return expanded_with(**everything(written()))


def every_action() -> list[str]:
    """All that the template has; the default leaves some out."""
    return everything(written())["Actions"].split(",")


def expanded_with(**parameters: str) -> dict[str, Any]:
    """With other values than the defaults of these parameters."""
    return expanded_from(written(), parameters)


def expanded_from(template: dict[str, Any], parameters: dict[str, str]) -> dict[str, Any]:
    """The same of any template."""
    defaults = {name: str(given["Default"]) for name, given in template["Parameters"].items()}
    plain = without_loops(deepcopy(template), parameters)
    made: dict[str, Any] = shortened(_chosen(plain, plain.get("Mappings", {}), {**defaults, **parameters}))
    return made


def _chosen(value: Any, tables: dict[str, Any], parameters: dict[str, str]) -> Any:
    """What CloudFormation finds in a table for these parameters."""
    match value:
        case {"Fn::FindInMap": [table, {"Ref": str(parameter)}, column]}:
            return tables[table][parameters[parameter]][column]
        case dict():
            return {name: _chosen(item, tables, parameters) for name, item in value.items()}
        case list():
            return [_chosen(item, tables, parameters) for item in value]
    return value


def names_of(loop: list[Any]) -> list[str]:
    """What a loop is over: a list that is written there, or all that the rule of a parameter knows."""
    match loop[1]:
        case {"Ref": str(parameter)}:
            return everything(written())[parameter].split(",")
        case list(names):
            return names
    raise ValueError(f"a loop over {loop[1]}")


def shortened(value: Any) -> Any:
    """One spelling for one meaning: GetAtt as "A.B"."""
    match value:
        case {"Fn::GetAtt": [str(resource), str(attribute)]}:
            return {"Fn::GetAtt": f"{resource}.{attribute}"}
        case dict():
            return {name: shortened(item) for name, item in value.items()}
        case list():
            return [shortened(item) for item in value]
    return value


@cache
def deployed() -> dict[str, Any]:
    """After the SAM transform as well: what CloudFormation creates, with code that lies in a bucket."""
    return transformed(expanded())


def transformed(template: dict[str, Any]) -> dict[str, Any]:
    """The SAM transform of a template without loops, its routes gathered in the API."""
    packaged = in_a_bucket(with_gathered_routes(deepcopy(_long(template))))
    with patch.dict(os.environ, AWS_DEFAULT_REGION="us-east-1"):
        result = apply_serverless(packaged, {}, _NoManagedPolicies())
    return shortened(json.loads(json.dumps(result)))  # type: ignore[no-any-return]


def in_a_bucket(template: dict[str, Any]) -> dict[str, Any]:
    """The same template, whose code lies in a bucket."""
    for resource in template["Resources"].values():
        if resource["Type"] in CODE:
            folder = resource["Properties"][CODE[resource["Type"]]]
            resource["Properties"][CODE[resource["Type"]]] = f"s3://code/{folder}"
    return template


class _NoManagedPolicies:
    """The transform would ask IAM for AWS's managed policies by name; the template uses none of these names."""

    def load(self) -> dict[str, str]:
        return {}


def _long(value: Any) -> Any:
    """GetAtt as a list, which is how the SAM transform reads it."""
    if isinstance(value, list):
        return [_long(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: item.split(".", 1) if name == "Fn::GetAtt" and isinstance(item, str) else _long(item)
        for name, item in value.items()
    }


def resources(kind: str) -> dict[str, dict[str, Any]]:
    """The properties of all resources of a type, by logical name."""
    return dict(_by_type().get(kind, {}))


@cache
def _by_type() -> dict[str, dict[str, dict[str, Any]]]:
    """Asked for thousands of times by the pages that are made of the template."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name, resource in expanded()["Resources"].items():
        found.setdefault(resource["Type"], {})[name] = resource.get("Properties", {})
    return found


@cache
def entry_of(alarm: str) -> str:
    """Its entry in the runbook. What a loop makes for each of its names has one: without the name."""
    for loop in written()["Resources"].values():
        for key in loop[2] if isinstance(loop, list) else ():
            begins, hole, ends = re.sub(r"&\{\w+\}", "&", key).partition("&")
            if hole and alarm in {begins + name.replace("-", "") + ends for name in names_of(loop)}:
                return begins + ends
    return alarm


def functions() -> dict[str, dict[str, Any]]:
    """The functions by their folder, `api-schedule-post`."""
    found = resources("AWS::Serverless::Function").values()
    return {folder_of(properties): properties for properties in found}


def folder_of(function: dict[str, Any]) -> str:
    """The folder of a function."""
    return str(function["CodeUri"]).removeprefix("functions/").rstrip("/")


def of_a_loop(function: str) -> bool:
    """Whether a loop makes it."""
    return logical_names()[function] not in written()["Resources"]


def logical_names() -> dict[str, str]:
    """The logical name of each function by its folder: `ApiSchedulePost` of `api-schedule-post`."""
    return {folder_of(properties): name for name, properties in resources("AWS::Serverless::Function").items()}


def variables(function: str) -> dict[str, Any]:
    """The environment variables of a function, those of all functions not counted."""
    own: dict[str, Any] = functions()[function].get("Environment", {}).get("Variables", {})
    return {name: value for name, value in own.items() if value != {"Ref": "AWS::NoValue"}}


def shared_variables() -> dict[str, Any]:
    """Those that all functions have."""
    common: dict[str, Any] = expanded()["Globals"]["Function"]["Environment"]["Variables"]
    return common


def listed(value: Any) -> list[Any]:
    """A statement may name one action or resource without a list around it."""
    return value if isinstance(value, list) else [value]


def logical(reference: Any) -> str:
    """The logical name in {"Ref": name}, {"Fn::GetAtt": "name.Arn"} or the first in {"Fn::Sub": "${name.Arn}/*"}."""
    [(kind, value)] = reference.items()
    if kind == "Fn::Sub":
        return next(str(name) for name in re.findall(r"\$\{([A-Za-z0-9]+)", value) if name in expanded()["Resources"])
    return str(value).partition(".")[0]


def statements(function: str) -> list[dict[str, Any]]:
    """All that the role of a function may do: what a loop gave it, and what the function's own policy adds."""
    return [statement for statement in _statements(function) if statement["Effect"] != "Deny"]


def denied(function: str) -> list[dict[str, Any]]:
    """What its role may not do, whatever else allows it."""
    return [statement for statement in _statements(function) if statement["Effect"] == "Deny"]


def attached_to(role: str) -> list[dict[str, Any]]:
    """The policies beside a role: those that name it, and the managed ones that it names."""
    naming = [
        policy for policy in resources("AWS::IAM::Policy").values() if role in [logical(one) for one in policy["Roles"]]
    ]
    managed = resources("AWS::IAM::ManagedPolicy")
    return [*naming, *(managed[name] for name in managed_policies_of(role) if name in managed)]


def managed_policies_of(role: str) -> list[str]:
    """The logical names, or the references, in its list; what a parameter adds among them."""
    arns = resources("AWS::IAM::Role")[role].get("ManagedPolicyArns", [])
    if "Fn::If" in arns:
        return []  # that of tracing alone
    chosen = [one["Fn::If"][1] if "Fn::If" in one else one for one in arns]
    return [str(one["Ref"]) for one in chosen if one.get("Ref", "AWS::NoValue") != "AWS::NoValue"]


def _statements(function: str) -> list[dict[str, Any]]:
    """With what a parameter adds."""
    role = logical(functions()[function]["Role"])
    policies = [*resources("AWS::IAM::Role")[role]["Policies"], *attached_to(role)]
    found = [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]
    return [statement["Fn::If"][1] if "Fn::If" in statement else statement for statement in found]


def resource_name(reference: Any) -> str:
    """How a resource is written in tests and documentation: `Table`, `Table.StreamArn`, `Bucket/prefix/*`."""
    [(kind, value)] = reference.items()
    if kind == "Fn::Split":
        return str(value[1]["Ref"])
    if kind == "Fn::Sub" and str(value).endswith("${AWS::StackName}-executor-*"):
        return "Executor*" if ":lambda:" in value else "Executor*Queue"
    if kind == "Fn::Sub" and (secrets := re.fullmatch(r"arn:.*:secret:\$\{([\w:]+)\}(/connections)/\*", value)):
        return secrets[1] + secrets[2]
    if kind == "Fn::Sub":
        pattern = re.fullmatch(r"arn:.*\$\{(\w+)\}", value)
        return pattern[1] if pattern else re.sub(r"\$\{(\w+)\.Arn\}", r"\1", value)
    return str(value).removesuffix(".Arn").removesuffix(".Id")  # of a secret, whose Ref is a name in the emulator


def leading_keys(statement: dict[str, Any]) -> set[str]:
    """The rows that a statement is limited to; none for one without a limit."""
    conditions = statement.get("Condition", {}).values()
    return {key for condition in conditions for key in condition.get("dynamodb:LeadingKeys", [])}


def events(kind: str) -> list[tuple[str, dict[str, Any]]]:
    """(function, properties) of all event sources of a kind: those that SAM maps, and those that a loop maps."""
    by_sam = [
        (function, event["Properties"])
        for function, properties in functions().items()
        for event in properties.get("Events", {}).values()
        if event["Type"] == kind
    ]
    by_name = {name: function for function, name in logical_names().items()}
    source, types = {"SQS": ("Queue", "AWS::SQS::Queue"), "DynamoDB": ("Stream", "AWS::DynamoDB::Table")}.get(
        kind, ("", "")
    )
    by_loop = [
        (by_name[logical(mapping["FunctionName"])], {**mapping, source: mapping["EventSourceArn"]})
        for mapping in resources("AWS::Lambda::EventSourceMapping").values()
        if logical(mapping["EventSourceArn"]) in resources(types)
    ]
    return by_sam + by_loop


def consumed() -> dict[str, str]:
    """The function that consumes each queue, by the queue's name."""
    return {logical(properties["Queue"]): function for function, properties in events("SQS")}
