"""What a function may do with what, as a table."""

from typing import Any

from docs.hooks.reference.stack.values import parts
from docs.hooks.reference.text import cell, listed, table
from tests import cfn


def rights(function: str) -> str:
    """All that its role allows and denies, but for its own log group."""
    allowed = [row(one) for one in cfn.statements(function) if not is_of_logs(one)]
    denied = [row(one) for one in cfn.denied(function)]
    text = table(("on", "it may"), [(on, does) for rows in allowed for on, does in rows])
    text = text or "Nothing but to write its own log.\n"
    forbidden = table(("on", "it may never"), [(on, does) for rows in denied for on, does in rows])
    return text + (f"\nWhatever else allows it:\n\n{forbidden}" if forbidden else "")


def used(function: str) -> list[str]:
    """All that it may do anything with, without prefixes of keys."""
    statements = [one for one in cfn.statements(function) if not is_of_logs(one)]
    names = [named(one).replace("`", "") for statement in statements for one in flat(cfn.listed(statement["Resource"]))]
    return [f"`{name}`" if "[" not in name else name for name in dict.fromkeys(map(whole, names))]


def whole(name: str) -> str:
    """`Bucket` of `Bucket/prefix/*`, and the table of a stream."""
    return name if name.startswith(("arn:", "what ")) else name.partition("/")[0].removesuffix(".StreamArn")


def is_of_logs(statement: dict[str, Any]) -> bool:
    """Whether it lets the function write its log, as all may."""
    return "logs:CreateLogStream" in cfn.listed(statement["Action"])


def row(statement: dict[str, Any]) -> list[tuple[str, str]]:
    """A row for each resource."""
    actions = listed([f"`{action}`" for action in sorted(cfn.listed(statement["Action"]))])
    on = cfn.listed(statement["Resource"]) if "Resource" in statement else [statement["NotResource"]]
    besides = "all but " if "Resource" not in statement else ""
    return [(cell(f"{besides}{named(one)}"), cell(f"{actions}{limit(statement)}")) for one in flat(on)]


def flat(resources: list[Any]) -> list[Any]:
    """A list in a list is of one level."""
    return [one for entry in resources for one in (entry if isinstance(entry, list) else [entry])]


def named(reference: Any) -> str:
    """A resource of the stack by its logical name, all else by its ARN."""
    match reference:
        case str():
            return f"`{reference}`"
        case {"Fn::Sub": [str(text), *_]} | {"Fn::Sub": str(text)} if text.startswith("arn:"):
            return "`" + text.replace("${AWS::Partition}", "aws") + "`"
        case {"Fn::Split": _}:
            return f"what {parts(reference)} names"
    return f"`{cfn.resource_name(reference)}`"


def limit(statement: dict[str, Any]) -> str:
    """What else must be true."""
    keys = sorted(cfn.leading_keys(statement))
    found = [f"rows {listed([f'`{key}`' for key in keys])} only"] if keys else []
    for condition in statement.get("Condition", {}).values():
        found += [f"`{key}` is {parts(value)}" for key, value in condition.items() if key != "dynamodb:LeadingKeys"]
    return f" ({'; '.join(found)})" if found else ""
