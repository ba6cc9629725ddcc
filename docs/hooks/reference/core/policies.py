"""The policies that decide times, from their READMEs and the schemas of their classes."""

import json
from functools import cache
from typing import Any

from docs.hooks import actions
from docs.hooks.reference.functions import index
from docs.hooks.reference.text import ROOT, table

SCHEMAS = ROOT / "shared/delayer/accept/rules/policies.json"


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """What the class of each policy says, which `make contract` writes down."""
    return {name: json.loads(text) for name, text in json.loads(SCHEMAS.read_text(encoding="utf-8")).items()}


def policies() -> str:
    """A section for each."""
    return "\n".join(section(name, schema) for name, schema in schemas().items())


def section(name: str, schema: dict[str, Any]) -> str:
    """The README, with the fields behind its example."""
    begins, example, more = index.readme(f"policy-{name}").partition("\n```\n")
    function = f"Its function is [`policy-{name}`](docs:reference/functions/policy-{name}.md)."
    return f"## `{name}`\n\n{begins}{example}\n{fields(schema)}\n{more.strip()}\n\n{function}\n"


def fields(schema: dict[str, Any]) -> str:
    """All but the name of the policy."""
    own = {name: field for name, field in schema["properties"].items() if name != "policy"}
    rows = [(f"`{name}`", actions.default(name, field, schema), actions.meaning(field)) for name, field in own.items()]
    return table(("field", "default", "meaning"), rows) or "It has no fields.\n"
