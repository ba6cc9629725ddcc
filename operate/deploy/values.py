"""Values of parameters: what a person or a program has given, and what the template allows."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from operate.deploy.errors import TemplateError
from operate.deploy.settled import CONDITION

MOST_OF_A_FUNCTION = 4096  # bytes of the environment of a Lambda function, names and values together
UNKNOWN = 120  # bytes of what only the stack will know: a name of a resource, an ARN, an address of a queue


def given_in(texts: Sequence[str], what: str = "parameter") -> dict[str, str]:
    """Of a command line: NAME=VALUE. Errors: TemplateError."""
    pairs = [text.partition("=") for text in texts]
    for text, (name, equals, _) in zip(texts, pairs, strict=True):
        if not (name and equals):
            example = {"parameter": "LogLevel=WARNING", "tag": "team=payments"}[what]
            raise TemplateError(f"A {what} is written NAME=VALUE, for example {example}, not {text}.")
    return {name: value for name, _, value in pairs}


def check(declared: Mapping[str, Any], given: Mapping[str, str]) -> None:
    """Raises TemplateError for what CloudFormation would refuse: it would do so only after everything is built."""
    for name, value in given.items():
        if name not in declared:
            raise TemplateError(f"The template has no parameter {name}; it has: {', '.join(sorted(declared))}.")
        if problem := problem_of(declared[name], value):
            raise TemplateError(f"{name}={value} is not allowed: {problem}.")


def problem_of(parameter: Mapping[str, Any], value: str) -> str:
    """Why it is not allowed; empty if it is."""
    if "AllowedValues" in parameter and value not in [str(one) for one in parameter["AllowedValues"]]:
        return f"it is one of {', '.join(str(one) for one in parameter['AllowedValues'])}"
    if parameter["Type"] == "Number":
        low, high = parameter.get("MinValue", float("-inf")), parameter.get("MaxValue", float("inf"))
        if not re.fullmatch(r"-?\d+(\.\d+)?", value) or not low <= float(value) <= high:
            return f"it is a number from {low} to {high}"
    # Of a list, each item has to match. A list over which a loop runs is checked where it is settled.
    items = value.split(",") if parameter["Type"] == "CommaDelimitedList" else [value]
    pattern = parameter.get("AllowedPattern", "(?s:.*)")
    if not all(re.fullmatch(pattern, item.strip()) for item in items):
        return f"it must match {pattern}"
    longest = parameter.get("MaxLength", len(value))
    return f"it has {len(value)} characters, and {longest} are the most" if len(value) > longest else ""


def check_environments(template: Mapping[str, Any], given: Mapping[str, str]) -> None:
    """Raises TemplateError if the variables of a function are more than Lambda takes, of an expanded template."""
    values = {name: str(one.get("Default", "")) for name, one in template.get("Parameters", {}).items()} | dict(given)
    shared = _variables(template.get("Globals", {}).get("Function", {}))
    for name, resource in template.get("Resources", {}).items():
        if resource["Type"] == "AWS::Serverless::Function":
            sizes = {
                variable: len(variable) + _size(value, values)
                for variable, value in {**shared, **_variables(resource["Properties"])}.items()
            }
            if (size := sum(sizes.values())) > MOST_OF_A_FUNCTION:
                largest = max(sizes, key=lambda one: sizes[one])
                raise TemplateError(
                    f"The variables of the function {name} would have about {size:,} bytes, and Lambda takes "
                    f"{MOST_OF_A_FUNCTION:,}. The largest is {largest} with {sizes[largest]:,}: shorten the parameter "
                    "behind it."
                )


def _variables(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    variables: Mapping[str, Any] = properties.get("Environment", {}).get("Variables", {})
    return variables


def _size(value: Any, values: Mapping[str, str]) -> int:
    """Bytes, at most."""
    match value:
        case {"Ref": str(name)} if name in values:
            return len(values[name].encode())
        case {"Fn::If": [_, yes, no]}:
            return max(_size(yes, values), _size(no, values))
        case {"Fn::Sub": str(text)}:
            return len(text) + UNKNOWN * text.count("${")
        case dict():
            return UNKNOWN
    return len(str(value).encode())


def check_rules(template: Mapping[str, Any], given: Mapping[str, str], hidden: Collection[str] = ()) -> None:
    """Raises TemplateError in the words of the rule by which CloudFormation would refuse it, of an expanded template.

    `hidden` are parameters whose value only the stack knows. What depends on one of them is left to CloudFormation.
    """
    defaults = {name: str(one.get("Default", "")) for name, one in template.get("Parameters", {}).items()}
    values = {name: value for name, value in defaults.items() if name not in hidden} | dict(given)
    for rule in template.get("Rules", {}).values():
        if _is_true(rule.get(CONDITION, {"Fn::And": []}), values):
            for assertion in rule["Assertions"]:
                if _is_true(assertion["Assert"], values) is False:
                    raise TemplateError(assertion["AssertDescription"])


def _is_true(condition: Any, values: Mapping[str, str]) -> bool | None:
    """None if that cannot be said here."""
    match condition:
        case {"Fn::Equals": [one, other]}:
            texts = [_text(one, values), _text(other, values)]
            return None if None in texts else texts[0] == texts[1]
        case {"Fn::Not": [one]}:
            return None if (known := _is_true(one, values)) is None else not known
        case {"Fn::And": [*parts]}:
            found = [_is_true(part, values) for part in parts]
            return False if False in found else None if None in found else True
    return None


def _text(value: Any, values: Mapping[str, str]) -> str | None:
    return values.get(value["Ref"]) if isinstance(value, dict) and set(value) == {"Ref"} else str(value)
