"""Every parameter of template.yaml, in the groups of its interface."""

import re
from typing import Any

from docs.hooks.reference.text import ROOT, counted, linked, listed, plain
from tests import cfn

PAGE = ROOT / "docs/reference/parameters.md"


def groups() -> dict[str, list[str]]:
    """The parameters by the title of their group."""
    interface = cfn.written()["Metadata"]["AWS::CloudFormation::Interface"]
    return {group["Label"]["default"]: group["Parameters"] for group in interface["ParameterGroups"]}


def group(title: str) -> str:
    """A section for each of its parameters."""
    return "\n".join(section(name, cfn.written()["Parameters"][name]) for name in groups()[title])


def others() -> str:
    """The groups for which the page has no place of their own, such as that of an action that a team has added."""
    placed = re.findall(r"^<!-- generated: parameters (.+) -->$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return "\n".join(f"## {title}\n\n{group(title)}" for title in groups() if title not in placed)


def section(name: str, said: dict[str, Any]) -> str:
    """What it is for, its default, and what is allowed."""
    lines = [f"- **Default**: {default(said)}", f"- **Allowed**: {allowed(said)}"]
    if said.get("NoEcho"):
        lines.append("- Its value is not shown by CloudFormation (`NoEcho`).")
    return f"### `{name}`\n\n{linked(plain(said['Description']))}\n\n" + "\n".join(lines) + "\n"


def default(said: dict[str, Any]) -> str:
    """What holds if it is not given."""
    return f"`{said['Default']}`" if said["Default"] != "" else "empty"


def allowed(said: dict[str, Any]) -> str:
    """In words, as far as it can be."""
    if "AllowedValues" in said:
        return listed([f"`{one}`" for one in said["AllowedValues"]], "or")
    if "MinValue" in said:
        return f"a number from {said['MinValue']:,} to {said['MaxValue']:,}"
    each = "each of the names matches" if said["Type"] == "CommaDelimitedList" else "what matches"
    if "AllowedPattern" in said:
        return f"{each} `{said['AllowedPattern']}`"
    return counted(1, "text")
