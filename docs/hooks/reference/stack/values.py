"""Values of template.yaml in words: `{"Ref": "LedgerTable"}` is `LedgerTable`."""

import re
from functools import cache
from typing import Any

from operate.deploy.settled import everything
from tests import cfn

WORDS = {
    "HasAllAlarms": "with `Alarms=all`",
    "HasJournalDays": "if `JournalDays` is not 0",
    "HasShards": "if `Shards` is not 0",
    "IsLarge": "with `Scale=large`",
    "IsTraced": "with `Tracing=true`",
    "HasPrivateTargets": "if `AllowPrivateTargets` is confirmed",
    "HasSqsTargetRegions": "if `SqsTargetRegions` is set",
    "HasTargetRegions": "if `TargetRegions` is set",
}

PSEUDO = {
    "AWS::AccountId": "the account",
    "AWS::Region": "the region",
    "AWS::StackId": "the ARN of the stack",
    "AWS::StackName": "the name of the stack",
}


LISTS = ("Lanes", "Policies", "Subscribers")


@cache
def needed() -> dict[str, str]:
    """The list that has to name something, by each resource that a stack has only then (ADR 0172)."""
    whole = everything(cfn.written())
    found: dict[str, str] = {}
    for name in LISTS:
        without = cfn.expanded_with(**{**whole, name: "none"})["Resources"]
        found |= dict.fromkeys(cfn.expanded()["Resources"].keys() - without.keys(), name)
    return found


def only_if(name: str) -> str:
    """Of a resource, as an item of a list; empty if each stack has it."""
    if name not in needed():
        return ""
    parameter = needed()[name]
    return f"- Only if [`{parameter}`](docs:reference/parameters.md#{parameter.lower()}) is not `none`."


def resource(reference: Any) -> str:
    """The logical name of what a reference names, `LedgerTable`; the pattern of names for what is not of the stack."""
    return cfn.resource_name(reference)


def parts(value: Any) -> str:
    """A value as Markdown."""
    match value:
        case {"Ref": str(name)} if name in cfn.expanded()["Parameters"]:
            return f"[`{name}`](docs:reference/parameters.md#{name.lower()})"
        case {"Ref": str(name)}:
            return PSEUDO.get(name, f"`{name}`")
        case {"Fn::GetAtt": str(text)} | {"Fn::Sub": str(text)}:
            return f"`{text}`"
        case {"Fn::Split": [_, inner]}:
            return parts(inner)
        case {"Fn::If": [str(condition), yes, no]}:
            return f"{parts(yes)} {WORDS[condition]}, otherwise {parts(no)}"
    return f"`{value}`"


def logical_names(value: Any) -> set[str]:
    """All resources that a value names, those included that the SAM transform makes."""
    if isinstance(value, list):
        return {name for item in value for name in logical_names(item)}
    if not isinstance(value, dict):
        return set()
    named = set()
    for key, inner in value.items():
        if key in ("Ref", "Fn::GetAtt") and isinstance(inner, str):
            named.add(inner.partition(".")[0])
        elif key == "Fn::Sub" and isinstance(inner, str):
            named |= set(re.findall(r"\$\{(\w+)", inner))
        else:
            named |= logical_names(inner)
    return {name for name in named if not name.startswith("AWS")} - set(cfn.expanded()["Parameters"])
