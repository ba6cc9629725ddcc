"""States, events and policies: each of the code has a section that says something."""

import re

from delayer.ledger.model import TRANSITIONS, EventType, State, Transition
from docs.hooks.reference import comments, pages
from docs.hooks.reference.core import policies, states
from tests.cfn import ROOT
from tests.running.of_each import of_each


def page(path: str) -> str:
    return pages.filled((ROOT / "docs" / path).read_text(), path)


STATES = page("reference/states.md")


def part(heading: str) -> str:
    """The text below a heading of the third level."""
    return re.split(r"^##+ ", STATES.split(f"\n### {heading}\n")[1], flags=re.MULTILINE)[0]


@of_each(State)
def test_a_state_is_described(state: State) -> None:
    assert len(comments.beside(states.CODE, "State")[state]) > 20
    assert states.texts("State")[state] in part(f"`{state}`")


@of_each(EventType)
def test_an_event_is_described_with_the_states_that_it_leads_to(event: EventType) -> None:
    assert len(comments.beside(states.CODE, "EventType")[event]) > 20
    text = part(f"`{event}` {{ #event-{event} }}")
    assert states.texts("EventType")[event] in text
    assert [one for one in TRANSITIONS if one.event is event and f"[`{one.target}`]" not in text] == []


@of_each(TRANSITIONS)
def test_a_transition_is_there_with_its_decision(item: Transition) -> None:
    """With its state, or among those within a state."""
    text = part(f"`{item.target}`") if item.source is not item.target else STATES.split("\n## Transitions within")[1]
    lines = [line for line in text.splitlines() if f"(#event-{item.event})" in line and f"[ADR {item.adr:04d}]" in line]
    assert any((f"From [`{item.source}`]" if item.source else "New") in line for line in lines)


def test_the_page_of_events_has_them_all() -> None:
    linked = r"^\| \[`([a-z-]+)`\]\(\.\./reference/states\.md#event-\1\) \|"
    rows = re.findall(linked, page("use/events.md"), re.MULTILINE)
    assert rows == list(EventType)


def test_every_policy_is_described_with_its_fields() -> None:
    folders = {path.parent.name.removeprefix("policy-") for path in ROOT.glob("functions/policy-*/app.py")}
    text = page("reference/policies.md")
    assert re.findall(r"^## `(.+)`$", text, re.MULTILINE) == list(policies.schemas())
    assert set(policies.schemas()) == folders
    for schema in policies.schemas().values():
        assert [name for name in schema["properties"] if name != "policy" and f"\n| `{name}` |" not in text] == []


def test_comments_above_and_behind_are_read() -> None:
    source = 'x = 1\nclass One(Two):\n    # above\n    A = "a"  # said\n\nend = 2\n'
    assert comments.block(source, "One") == [("", "above"), ('A = "a"', "said"), ("", "")]
