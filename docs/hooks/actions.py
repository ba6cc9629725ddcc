"""Makes a page for each action, and an index of them.

A hook of mkdocs. Each fact has one place: what a function does and an example are in the README of its folder, the
fields and their bounds in its class, from which `make contract` writes `built_in.json` (ADR 0088).
"""

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
BUILT_IN = ROOT / "shared/delayer/actions/rules/built_in.json"
FOLDER = "actions"
BEHIND = "reference/http-api.md"  # in the navigation
INDEX = """\
# Actions

What can be scheduled. Each action is one function, and [you can add one](../extend/extending.md). `GET /actions` lists
those of a deployed stack, also those that other stacks have added to it.

| type | what it does |
|---|---|
"""


def on_config(config: Any) -> Any:
    """Puts the pages into the navigation, behind that of the API."""
    entries = [f"{FOLDER}/index.md", *({kind: f"{FOLDER}/{kind}.md"} for kind in described())]
    for pages in lists(config["nav"]):
        for at in [at for at, page in enumerate(pages) if isinstance(page, dict) and BEHIND in page.values()]:
            pages.insert(at + 1, {"Actions": entries})
    return config


def lists(pages: list[Any]) -> list[list[Any]]:
    """A list of the navigation, and all in it."""
    inner = [part for page in pages if isinstance(page, dict) for part in page.values() if isinstance(part, list)]
    return [pages, *(found for part in inner for found in lists(part))]


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages, which are no files."""
    for path, content in pages().items():
        files.append(File.generated(config, path, content=content))
    return files


def described() -> dict[str, dict[str, Any]]:
    """What the classes say of their types; those that no client can schedule are left out."""
    types = {kind: json.loads(text) for kind, text in json.loads(BUILT_IN.read_text(encoding="utf-8")).items()}
    return {
        kind: {**said, "schema": json.loads(said["schema"])} for kind, said in types.items() if not said["internal"]
    }


def pages() -> dict[str, str]:
    """The text of each page, by its path below docs/."""
    types = described()
    rows = [f"| [`{kind}`]({kind}.md) | {said['schema'].get('description', '')} |\n" for kind, said in types.items()]
    made = {f"{FOLDER}/{kind}.md": page(kind, said) for kind, said in types.items()}
    return {f"{FOLDER}/index.md": INDEX + "".join(rows), **made}


def page(kind: str, said: dict[str, Any]) -> str:
    """The README, with the type as its title, and a table of the fields behind its example."""
    text = (ROOT / f"functions/executor-{kind}/README.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\(\.\./\.\./(?:docs/)?", "](../", text)
    text = re.sub(r"\]\(\.\./executor-([a-z0-9-]+)/README\.md", r"](\1.md", text)
    text = re.sub(r"^# .+$", f"# {kind}", text, count=1, flags=re.MULTILINE)
    before, example, after = text.partition("\n```\n")
    return before + example + "\n" + fields(said) + after if example else text + "\n" + fields(said)


def fields(said: dict[str, Any]) -> str:
    """The table of the fields, and what holds for the payload."""
    schema = said["schema"]
    of_action = {name: one for name, one in schema["properties"].items() if name != "type"}
    rows = [f"| `{name}` | {default(name, one, schema)} | {meaning(one)} |\n" for name, one in of_action.items()]
    table = "| field | default | meaning |\n|---|---|---|\n" + "".join(rows) + "\n" if rows else "It has no fields.\n\n"
    payload = (
        f"The payload must match this schema:\n\n```json\n{pretty(said['payload'])}\n```\n\n" if said["payload"] else ""
    )
    return f"{table}{payload}The payload has {said['largest_payload']:,} bytes at most.\n"


def pretty(schema: str) -> str:
    """As people read it."""
    return json.dumps(json.loads(schema), indent=2, ensure_ascii=False)


def default(name: str, field: dict[str, Any], schema: dict[str, Any]) -> str:
    """`required`, or what holds if the field is left out."""
    if name in schema.get("required", []):
        return "required"
    given = field.get("default")
    return f"`{json.dumps(given)}`" if given not in (None, "", {}, []) else "none"


def meaning(field: dict[str, Any]) -> str:
    """Its text and its bounds, in words."""
    parts = [str(field["description"])] if "description" in field else []
    parts += [sentence for sentence in (bounds(field), names(field), values(field)) if sentence]
    if field.get("writeOnly"):
        parts.append("It is shown to the target only.")
    return cell(" ".join(parts) or f"Any {field.get('type', 'JSON')}.")


def bounds(field: dict[str, Any]) -> str:
    """What is allowed, as one sentence."""
    words = [str(field["x-allowed"])] if "x-allowed" in field else []
    if "enum" in field:
        words.append("one of " + ", ".join(f"`{one}`" for one in field["enum"]))
    if "pattern" in field and "x-allowed" not in field:
        words.append(f"must match `{field['pattern']}`")
    if "minimum" in field or "maximum" in field:
        words.append(" ".join([*least(field.get("minimum")), *most(field.get("maximum"))]))
    for key, unit in (("minLength", "characters"), ("minItems", "entries"), ("minProperties", "entries")):
        words += [f"{number:,} {unit} or more" for number in [field.get(key)] if number]
    for key, unit in (("maxLength", "characters"), ("maxItems", "entries"), ("maxProperties", "entries")):
        words += [f"{number:,} {unit} at most" for number in [field.get(key)] if number]
    return f"Allowed: {'; '.join(words)}." if words else ""


def least(number: float | None) -> list[str]:
    """In words, if there is such a bound."""
    return [] if number is None else [f"from {number:,}"]


def most(number: float | None) -> list[str]:
    """In words, if there is such a bound."""
    return [] if number is None else [f"to {number:,}"]


def names(field: dict[str, Any]) -> str:
    """What the names of an object may be."""
    allowed = bounds(field["propertyNames"]) if "propertyNames" in field else ""
    return f"Names: {allowed.removeprefix('Allowed: ')}" if allowed else ""


def values(field: dict[str, Any]) -> str:
    """What the values of an object or a list may be."""
    inner = field.get("additionalProperties") or field.get("items")
    allowed = bounds(inner) if isinstance(inner, dict) else ""
    return f"Values: {allowed.removeprefix('Allowed: ')}" if allowed else ""


def cell(text: str) -> str:
    """On one line; a bar outside of code would end the cell."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else part.replace("|", "\\|").replace("<", "&lt;") for part in parts)
