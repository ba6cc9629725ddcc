"""Each layout on a phone, and what opens on it; the keyboard reaches what scrolls."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessibility import AXE, RULES, violations
from tests.browser.chromium import PHONE, Screen, Visit, visit
from tests.docs.browser.looks import STILL, THEMES, choose

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


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_works_on_a_phone(browser: Browser, base: str, layout: str) -> None:
    with visit(browser, base, Screen(width=PHONE)) as seen:
        page = opened(seen, LAYOUTS[layout])
        for theme in THEMES:
            choose(page, theme)
            assert violations(page, RULES) == []
        assert seen.complaints == []


def test_the_menu_of_a_phone_works_for_everybody(browser: Browser, base: str) -> None:
    with visit(browser, base, Screen(width=PHONE)) as seen:
        page = opened(seen, "/use/api/")
        page.locator("label.md-header__button[for=__drawer]").click()
        expect(page.locator(".md-sidebar--primary .md-nav__link").first).to_be_visible()
        for theme in THEMES:
            choose(page, theme)
            assert violations(page, RULES) == []


@pytest.mark.parametrize("width", [1200, PHONE])
def test_the_search_works_for_everybody(browser: Browser, base: str, width: int) -> None:
    with visit(browser, base, Screen(width=width)) as seen:
        page = opened(seen, "/use/api/")
        page.keyboard.press("/")
        page.keyboard.type("restore")
        expect(page.locator(".md-search-result__link").first).to_be_visible()
        for theme in THEMES:
            choose(page, theme)
            assert violations(page, RULES) == []


def test_the_rendered_calls_work_for_everybody_and_ask_no_other_host(browser: Browser, base: str) -> None:
    """They are a page of their own in a frame."""
    with visit(browser, base) as seen:
        page = opened(seen, "/reference/http-api/")
        [frame] = page.frames[1:]
        frame.locator(".opblock").first.locator("button").first.click()
        expect(frame.locator(".opblock.is-open .responses-table").first).to_be_visible()
        frame.add_style_tag(content=STILL)
        frame.evaluate(AXE)
        for theme in THEMES:
            choose(page, theme)
            assert violations(frame, RULES) == []
        assert seen.complaints == []


def test_the_first_key_leads_to_the_text(seen: Visit) -> None:
    page = opened(seen, "/use/api/")
    page.keyboard.press("Tab")
    expect(page.locator(".md-skip")).to_be_focused()


@pytest.mark.parametrize("address", ["/reference/resources/", "/how-it-works/architecture/"])
def test_tables_that_scroll_are_reached_and_named(browser: Browser, base: str, address: str) -> None:
    with visit(browser, base, Screen(width=PHONE)) as seen:
        page = opened(seen, address)
        tables = page.locator(".md-typeset__scrollwrap[tabindex='0']")
        expect(tables.first).to_be_attached()
        tables.first.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("document.activeElement.scrollLeft > 0")
        assert str(tables.first.get_attribute("aria-label")).startswith("Table: ")


def opened(seen: Visit, address: str) -> Page:
    """With the checks at hand, and without what moves."""
    page = seen.open(address)
    page.add_style_tag(content=STILL)
    page.evaluate(AXE)
    return page
