"""All functions, in groups, each with what it does and what invokes it."""

import re

from docs.hooks.reference.functions import facts, rights
from docs.hooks.reference.text import ROOT, listed, table
from tests import cfn

TABLE = re.compile(r"^\| \| \|\n\|---\|---\|\n((?:\|.+\|\n?)+)", re.MULTILINE)  # without a heading: a list is plainer
ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
# By the first word of their names. All others are on the way of a schedule.
GROUPS = {
    "api": "Calls of the API",
    "": "On the way of a schedule",
    "executor": "Executors",
    "policy": "Policies",
    "lifecycle": "Readers of lifecycle events",
    "subscriber": "Readers of lifecycle events",
    "deploy": "For operators and deployments",
    "operator": "For operators and deployments",
}


def grouped() -> dict[str, list[str]]:
    """The functions by the title of their group."""
    found: dict[str, list[str]] = {title: [] for title in GROUPS.values()}
    for name in sorted(cfn.functions()):
        found[GROUPS.get(name.partition("-")[0], GROUPS[""])].append(name)
    return found


def functions() -> str:
    """A list for each group."""
    parts = [f"## {title}\n\n" + "\n\n".join(map(entry, names)) for title, names in grouped().items()]
    return "\n\n".join(parts) + "\n"


def entry(function: str) -> str:
    """Its name, what it does, what invokes it, and what it may use."""
    facts_of_it = {
        "Invoked by": " ".join(facts.invoked_by(function)),
        "Has": f"{facts.memory(function)} of memory, and {facts.timeout(function)} at most.",
        "May use": f"{listed(rights.used(function)) or 'nothing but its log'}.",
    }
    lines = "\n".join(f"    - **{title}**: {said}" for title, said in facts_of_it.items())
    return (
        f"[`{function}`](docs:reference/functions/{function}.md){{ #{function} }}\n"
        f":   {first_paragraph(function)}\n\n{lines}"
    )


def readme(function: str) -> str:
    """What its folder says, without the title, with links from docs/."""
    text = (ROOT / f"functions/{function}/README.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\(\.\./\.\./docs/", "](docs:", text)
    text = re.sub(r"\]\(\.\./\.\./adr/", "](docs:adr/", text)
    text = re.sub(r"\]\(\.\./([a-z0-9-]+)/README\.md", r"](docs:reference/functions/\1.md", text)
    text = TABLE.sub(lambda found: ROW.sub(r"- **\1**: \2", found[1]), text)
    return text.partition("\n")[2].strip()


def first_paragraph(function: str) -> str:
    """What it does."""
    return " ".join(readme(function).partition("\n\n")[0].split())


def shared_settings() -> str:
    """The environment variables that all functions have."""
    return table(("variable", "value"), [(f"`{name}`", value) for name, value in facts.shared_settings()])
