"""Each action has a page, made of its README and its class; its example is one that the API accepts."""

import json
import re

import pytest

from delayer.accept.rules.admission import admit
from delayer.actions.rules.foreign import built_in
from delayer.schedule.instants import parse_instant
from docs.hooks import actions
from tests.cfn import ROOT

NOW = parse_instant("2026-11-21T09:00:00Z")


PAGES = actions.pages()
KINDS = sorted(actions.described())

each = pytest.mark.parametrize("kind", KINDS)


def test_there_is_a_page_for_each_action_that_clients_can_schedule() -> None:
    folders = {path.parent.name.removeprefix("executor-") for path in ROOT.glob("functions/executor-*/app.py")}
    assert set(KINDS) == folders - {"canary", "remote"}
    assert sorted(PAGES) == sorted(["actions/index.md", *(f"actions/{kind}.md" for kind in KINDS)])
    assert [kind for kind in KINDS if f"({kind}.md)" not in PAGES["actions/index.md"]] == []


@each
def test_the_page_has_each_field_with_its_text_and_bounds(kind: str) -> None:
    text = PAGES[f"actions/{kind}.md"]
    assert text.startswith(f"# {kind}\n")
    schema = actions.described()[kind]["schema"]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", text, re.MULTILINE))
    for name, field in schema["properties"].items():
        if name != "type":
            assert (rows[name] == "required") == (name in schema["required"])
            assert actions.meaning(field) in text


@each
def test_the_example_is_accepted_by_the_api(kind: str) -> None:
    readme = (ROOT / f"functions/executor-{kind}/README.md").read_text()
    examples = re.findall(r"^```json\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    requests = [one for one in map(json.loads, examples) if "action" in one]
    assert requests, "the README has no example of a request"
    for request in requests:
        assert request["action"]["type"] == kind
        admit(json.dumps(request).encode(), NOW, built_in())


@each
def test_links_lead_somewhere(kind: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", PAGES[f"actions/{kind}.md"]):
        path = target.partition("#")[0]
        if not path.startswith("https://"):
            assert f"actions/{path}" in PAGES or (ROOT / "docs/actions" / path).resolve().exists(), target


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (
            {"type": "string", "description": "The channel.", "pattern": "^a|b$"},
            "The channel. Allowed: must match `^a|b$`.",
        ),
        ({"type": "string", "pattern": "^a$", "x-allowed": "the letter a"}, "Allowed: the letter a."),
        ({"type": "integer", "minimum": 1, "maximum": 3000}, "Allowed: from 1 to 3,000."),
        ({"type": "integer", "minimum": 0}, "Allowed: from 0."),
        ({"type": "string", "minLength": 1, "maxLength": 80}, "Allowed: 1 characters or more; 80 characters at most."),
        ({"enum": ["a", "b"]}, "Allowed: one of `a`, `b`."),
        (
            {"type": "array", "maxItems": 3, "items": {"maxLength": 9}},
            "Allowed: 3 entries at most. Values: 9 characters at most.",
        ),
        ({"type": "string", "writeOnly": True, "description": "A | B"}, "A \\| B It is shown to the target only."),
        ({"type": "boolean"}, "Any boolean."),
    ],
)
def test_bounds_are_said_in_words(field: dict[str, object], words: str) -> None:
    assert actions.meaning(field) == words
