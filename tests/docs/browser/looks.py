"""What is wrong with a page, in the words of a test that failed."""

from contextlib import suppress

from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as TooLong

from tests.browser.accessibility import AXE, COLOURS, RULES, violations
from tests.browser.chromium import PHONE, Visit

THEMES = ("default", "slate")  # light and dark, as the theme names them
PATIENCE = 20_000  # milliseconds, for all diagrams of a page
STILL = "*, *::before, *::after { transition: none !important; animation: none !important }"


DRAWN = """() => [...document.querySelectorAll('.mermaid')].every(
    one => one.tagName === 'DIV' && one.shadowRoot && one.shadowRoot.querySelector('svg'))"""
NOT_DRAWN = """() => [...document.querySelectorAll('.mermaid')].filter(one => {
    const svg = one.shadowRoot && one.shadowRoot.querySelector('svg');
    return !svg || svg.getAttribute('aria-roledescription') === 'error' || /Syntax error/.test(svg.textContent);
}).map(one => one.textContent.slice(0, 80))"""
# What sticks out of the screen, unless it can be scrolled into view by itself.
STICKS_OUT = """() => [...document.querySelectorAll('article *')].filter(one => {
    const box = one.getBoundingClientRect();
    if (!box.width || box.right <= innerWidth + 1) return false;
    for (let around = one.parentElement; around; around = around.parentElement)
        if (/auto|scroll|hidden/.test(getComputedStyle(around).overflowX) && around !== document.body) return false;
    return true;
}).map(one => one.outerHTML.slice(0, 100))"""
PICTURES = "() => [...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
CHOSEN = "document.body.getAttribute('data-md-color-scheme')"


def problems(seen: Visit, address: str) -> list[str]:
    """Of a page, light and dark, wide and narrow. The dark one differs by its colours alone."""
    seen.complaints.clear()
    page = seen.open(address)
    page.add_style_tag(content=STILL)
    found = not_drawn(page)
    page.evaluate(AXE)
    for theme in THEMES:
        choose(page, theme)
        rules = RULES if theme == THEMES[0] else COLOURS
        found += [f"{theme}: {one}" for one in violations(page, rules)]
    found += narrow(seen)
    return [f"{address}: {one}" for one in (*found, *seen.complaints)]


def choose(page: Page, theme: str) -> None:
    """As the button in the header does; what was chosen is not kept for the next page."""
    page.evaluate("which => document.getElementById(`__palette_${which}`).click()", THEMES.index(theme))
    assert page.evaluate(CHOSEN) == theme
    page.evaluate("localStorage.clear()")


def not_drawn(page: Page) -> list[str]:
    """Diagrams without a drawing, and pictures that are not there."""
    if page.locator(".mermaid").count():
        with suppress(TooLong):  # below it is said which one
            page.wait_for_function(DRAWN, timeout=PATIENCE)
    return [f"not drawn: {one}" for one in (*page.evaluate(NOT_DRAWN), *page.evaluate(PICTURES))]


def narrow(seen: Visit) -> list[str]:
    """What a phone does not show; afterwards the screen is wide again."""
    before = seen.page.viewport_size
    assert before
    seen.page.set_viewport_size({"width": PHONE, "height": 900})
    wide, out = seen.too_wide(), seen.page.evaluate(STICKS_OUT)
    seen.page.set_viewport_size(before)
    return [f"{wide} pixels wider than a phone"] * (wide > 0) + [f"sticks out on a phone: {one}" for one in out]
