"""The two pictures of the lifecycle show the transitions of the code: all, and no other."""

import re
from itertools import chain

from delayer.ledger.model import ALLOWED, ENDS, TRANSITIONS, EventType, State
from docs.pictures import lifecycle_exceptions, lifecycle_normal
from docs.pictures.state_shapes import is_normal
from tests.docs.test_site import page
from tests.running.of_each import of_each

PAGE = "how-it-works/lifecycle.md"
PICTURES = {"lifecycle_normal": lifecycle_normal.draw(), "lifecycle_exceptions": lifecycle_exceptions.draw()}
ARROW = re.compile(r'<g data-source="([a-z-]*)" data-event="([a-z-]+)" data-target="([a-z-]+)">(.*?)</g>')
Drawn = set[tuple[State | None, EventType, State]]


def drawn(name: str) -> list[tuple[State | None, EventType, State]]:
    """Each arrow that there is, by its attributes."""
    found = ARROW.findall(PICTURES[name])
    assert all("<line" in shape and "<polygon" in shape for *_, shape in found)
    return [(State(source) if source else None, EventType(event), State(target)) for source, event, target, _ in found]


def test_both_together_show_exactly_the_transitions_of_the_code() -> None:
    arrows = [*chain.from_iterable(drawn(name) for name in PICTURES)]
    assert len(arrows) == len(set(arrows)), "no transition is shown twice"
    assert {(source, target, event) for source, event, target in arrows} == ALLOWED


def test_the_normal_path_leads_from_no_end() -> None:
    normal = drawn("lifecycle_normal")
    assert {source for source, *_ in normal}.isdisjoint(ENDS)
    assert {EventType.FAILED, EventType.DROPPED, EventType.DEAD_LETTERED}.isdisjoint(event for _, event, _ in normal)
    assert {(one.source, one.event, one.target) for one in TRANSITIONS if is_normal(one)} == set(normal)


def test_each_picture_names_who_makes_its_transitions() -> None:
    for name, picture in PICTURES.items():
        shown = " ".join(re.findall(r"<text[^>]*>([^<]+)</text>", picture))
        wanted = {one.by for one in TRANSITIONS if is_normal(one) == (name == "lifecycle_normal")}
        assert [by for by in wanted if by not in shown] == []


def test_each_state_has_its_name_beside_each_arrow() -> None:
    for name, picture in PICTURES.items():
        for panel, arrows in ((one, ARROW.findall(one)) for one in picture.split("<svg")[1:]):
            shown = set(re.findall(r"<text[^>]*>([^<]+)</text>", panel))
            assert {state for source, _, target, _ in arrows for state in (source, target) if state} <= shown, name


@of_each(PICTURES)
def test_the_page_has_it_and_a_phone_shows_it_as_large_as_text(name: str) -> None:
    """A unit is a pixel at the width of a phone, or a little more."""
    assert f"<!-- picture: {name} -->" in page(PAGE)
    assert [width for width in re.findall(r'viewBox="0 0 (\d+)', PICTURES[name]) if int(width) > 360] == []
    assert [size for size in re.findall(r'font-size="(\d+)"', PICTURES[name]) if int(size) < 12] == []
    assert PICTURES[name].count('role="img"') == PICTURES[name].count("<title>") == PICTURES[name].count("<svg")
