"""Each layout on a phone, and what opens on it; the keyboard reaches what scrolls."""

import pytest
from playwright.sync_api import Frame, Page, expect

from tests.browser.accessibility import AXE, COLOURS, RULES, violations
from tests.browser.chromium import PHONE, Visit
from tests.docs.browser.looks import STILL, THEMES, choose, resize
from tests.docs.browser.site import AXE_OF_THE_SITE

LAYOUTS = {
    "home": "/",
    "text": "/how-it-works/failure/",
    "lists-of-code": "/use/api/",
    "wide-tables": "/reference/resources/",
    "diagrams": "/how-it-works/architecture/",
    "pictures": "/use/console/",
    "drawn-from-data": "/how-it-works/scale/",
    "tabs": "/use/tutorial/",
    "calculator": "/decide/cost/",
    "action": "/actions/http-request/",
    "record": "/adr/0018-ledger-decides/",
    "records": "/adr/",
    "calls": "/reference/http-api/",
    "missing": "/404.html",
}


pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_works_on_a_phone(phone: Visit, layout: str) -> None:
    """In both themes. A page with diagrams takes seconds, until all are drawn."""
    phone.complaints.clear()
    page = opened(phone, LAYOUTS[layout])
    assert of_both_themes(page, page) == []
    assert phone.complaints == []


def test_the_menu_of_a_phone_works_for_everybody(phone: Visit) -> None:
    """Its more than 200 entries are measured, which takes some seconds."""
    page = opened(phone, "/use/api/")
    page.locator("label.md-header__button[for=__drawer]").click()
    expect(page.locator(".md-sidebar--primary .md-nav__link").first).to_be_visible()
    assert of_both_themes(page, page) == []


@pytest.mark.parametrize("width", [1200, PHONE])
def test_the_search_works_for_everybody(with_search: Visit, width: int) -> None:
    """The page builds the index of all pages, which takes some seconds."""
    resize(with_search.page, width)
    page = opened(with_search, "/use/api/")
    page.keyboard.press("/")
    page.keyboard.type("restore")
    expect(page.locator(".md-search-result__link").first).to_be_visible()
    assert of_both_themes(page, page) == []


def test_the_rendered_calls_work_for_everybody_and_ask_no_other_host(seen: Visit) -> None:
    """They are a page of their own in a frame, which takes seconds to draw them all."""
    seen.complaints.clear()
    page = opened(seen, "/reference/http-api/")
    [frame] = page.frames[1:]
    frame.locator(".opblock").first.locator("button").first.click()
    expect(frame.locator(".opblock.is-open .responses-table").first).to_be_visible()
    frame.add_style_tag(content=STILL)
    frame.evaluate(AXE)
    assert of_both_themes(page, frame) == []
    assert seen.complaints == []


def test_the_first_key_leads_to_the_text(seen: Visit) -> None:
    page = opened(seen, "/use/api/")
    page.keyboard.press("Tab")
    expect(page.locator(".md-skip")).to_be_focused()


@pytest.mark.parametrize("address", ["/reference/resources/", "/how-it-works/architecture/"])
def test_tables_that_scroll_are_reached_and_named(phone: Visit, address: str) -> None:
    """One of the pages has diagrams, which takes seconds to draw."""
    page = opened(phone, address)
    tables = page.locator(".md-typeset__scrollwrap[tabindex='0']")
    expect(tables.first).to_be_attached()
    tables.first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.activeElement.scrollLeft > 0")
    assert str(tables.first.get_attribute("aria-label")).startswith("Table: ")


def opened(seen: Visit, address: str) -> Page:
    """With the checks at hand."""
    page = seen.open(address)
    page.add_script_tag(url=f"{seen.base}{AXE_OF_THE_SITE}")
    return page


def of_both_themes(page: Page, place: Page | Frame) -> list[str]:
    """What is wrong in a page or in a frame of it. The dark theme differs by its colours alone."""
    found = []
    for theme in THEMES:
        choose(page, theme)
        rules = RULES if theme == THEMES[0] else COLOURS
        found += [f"{theme}: {one}" for one in violations(place, rules)]
    return found
