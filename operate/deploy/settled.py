"""Lists over which a loop runs or which a condition looks at: they count when the template is packaged.

CloudFormation knows none of these parameters.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from operate.deploy.errors import TemplateError

LOOP = "Fn::ForEach::"
NONE = "none"
CONDITION = "RuleCondition"  # of a rule, about parameters that may be changed without packaging
SECTIONS = ("Conditions", "Resources", "Outputs")  # those in which there may be loops


def settled(template: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, list[str]]:
    """Settles the value of each of them: as it is `given`, or else its default. Errors: TemplateError, in the words of
    its rule.
    """
    declared = template.get("Parameters", {})
    values = {
        name: _items(given.get(name, str(declared[name].get("Default", "")))) for name in names_of_settled(template)
    }
    for name, items in values.items():
        pattern = declared[name].get("AllowedPattern", ".*")
        for item in items:
            if not re.fullmatch(pattern, item):
                raise TemplateError(f"{name} has the item {item!r}, which does not match {pattern}.")
        if len(set(items)) < len(items):
            raise TemplateError(f"{name} has an item twice: {','.join(items)}.")
    texts = {name: given.get(name, str(one.get("Default", ""))) for name, one in declared.items()}
    for rule in template.get("Rules", {}).values():
        for assertion in rule["Assertions"] if is_about(rule, values) and _applies(rule, texts) else ():
            if not _holds(assertion["Assert"], values):
                raise TemplateError(assertion["AssertDescription"])
    return values


def _items(text: str) -> list[str]:
    """An empty one has a word, for parameters and outputs are texts."""
    return [] if text.strip() in ("", NONE) else [one.strip() for one in text.split(",")]


def everything(template: Mapping[str, Any]) -> dict[str, str]:
    """Each of them with all that its rule knows: the default may leave some out."""
    found = {}
    for rule in template.get("Rules", {}).values():
        for assertion in rule["Assertions"]:
            match assertion["Assert"]:
                case {"Fn::EachMemberIn": [{"Ref": str(name)}, [*items]]}:
                    found[name] = ",".join(items)
    return {name: found[name] for name in names_of_settled(template) if name in found}


def names_of_settled(template: Mapping[str, Any]) -> list[str]:
    """The parameters to which the lists of loops refer, and the lists to which conditions do, each once."""
    declared = template.get("Parameters", {})
    collections = [loop[1] for section in SECTIONS for loop in _loops(template.get(section, {}))]
    named = [one["Ref"] for one in collections if isinstance(one, dict) and isinstance(one.get("Ref"), str)]
    asked = _references(template.get("Conditions", {}))
    named += [name for name in asked if declared.get(name, {}).get("Type") == "CommaDelimitedList"]
    return list(dict.fromkeys(name for name in named if name in declared))


def without_settled(template: Mapping[str, Any], names: Mapping[str, list[str]]) -> dict[str, Any]:
    """The template without these parameters, their rules, and their places in the form of CloudFormation's console.

    A rule that has a condition, too, stays: what it asserts of them is true or false from now on.
    """
    kept = dict(template)
    if "Parameters" in kept:
        kept["Parameters"] = {name: one for name, one in template["Parameters"].items() if name not in names}
    if "Rules" in kept:
        kept["Rules"] = {
            name: _decided(one, names) if is_about(one, names) else one
            for name, one in template["Rules"].items()
            if CONDITION in one or not is_about(one, names)
        }
    form = template.get("Metadata", {}).get("AWS::CloudFormation::Interface")
    if form:
        groups = [
            {**group, "Parameters": [name for name in group["Parameters"] if name not in names]}
            for group in form["ParameterGroups"]
        ]
        shown = {**form, "ParameterGroups": [group for group in groups if group["Parameters"]]}
        kept["Metadata"] = {**template["Metadata"], "AWS::CloudFormation::Interface": shown}
    return kept


def _decided(rule: Mapping[str, Any], values: Mapping[str, list[str]]) -> dict[str, Any]:
    """The rule without a look at what is settled."""
    return {
        **rule,
        "Assertions": [
            {**one, "Assert": {"Fn::Equals": [str(_holds(one["Assert"], values)).lower(), "true"]}}
            for one in rule["Assertions"]
        ],
    }


def is_about(rule: Any, names: Mapping[str, Any]) -> bool:
    """Whether it looks at one of them."""
    return any(name in names for name in _references(rule))


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _references(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from [item] if key == "Ref" and isinstance(item, str) else _references(item)


def _applies(rule: Mapping[str, Any], texts: Mapping[str, str]) -> bool:
    """By its condition, which asks whether a parameter has a text."""
    match rule.get(CONDITION):
        case None:
            return True
        case {"Fn::Equals": [{"Ref": str(name)}, str(text)]}:
            return texts[name] == text
        case {"Fn::Not": [{"Fn::Equals": [{"Ref": str(name)}, str(text)]}]}:
            return texts[name] != text
    raise TemplateError(f"A rule about what is settled has a condition that is not understood: {rule[CONDITION]}")


def _holds(condition: Any, values: Mapping[str, list[str]]) -> bool:
    """The one function that looks into lists. No item is in an empty one, and all of none are in any."""
    match condition:
        case {"Fn::EachMemberIn": [members, allowed]}:
            return set(_list(members, values)) <= set(_list(allowed, values))
    raise TemplateError(f"A rule about what is settled when the template is packaged uses no EachMemberIn: {condition}")


def _list(value: Any, values: Mapping[str, list[str]]) -> list[str]:
    match value:
        case {"Ref": str(name)} if name in values:
            return values[name]
        case list(items):
            return [str(item) for item in items]
    raise TemplateError(f"A rule about what is settled when the template is packaged compares it with {value}.")


def _loops(value: Any) -> Iterator[list[Any]]:
    """All of them, those within others, too."""
    if isinstance(value, list):
        for item in value:
            yield from _loops(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if str(key).startswith(LOOP):
                yield item
            yield from _loops(item)
