"""What is wrong with a page, in the words of a test that failed."""

from contextlib import suppress

from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as TooLong

from tests.browser.accessibility import COLOURS, RULES, new_violations
from tests.browser.chromium import GENEROUS, PHONE, Visit
from tests.docs.browser.site import AXE_OF_THE_SITE

THEMES = ("default", "slate")  # light and dark, as the theme names them
WIDE = 1280  # with its tabs and both its menus, which the theme shows from 1220 on
HEIGHT = 900
PATIENCE = GENEROUS  # milliseconds, for all diagrams of a page
STILL = "*, *::before, *::after { transition: none !important; animation: none !important }"


DRAWN = """() => [...document.querySelectorAll('.mermaid')].every(
    one => one.tagName === 'DIV' && one.shadowRoot && one.shadowRoot.querySelector('svg'))"""
NOT_DRAWN = """() => [...document.querySelectorAll('.mermaid')].filter(one => {
    const svg = one.shadowRoot && one.shadowRoot.querySelector('svg');
    return !svg || svg.getAttribute('aria-roledescription') === 'error' || /Syntax error/.test(svg.textContent);
}).map(one => one.textContent.slice(0, 80)).concat(
    [...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src))"""
# What sticks out of the screen, unless it can be scrolled into view by itself.
STICKS_OUT = """() => [...document.querySelectorAll('article *')].filter(one => {
    const box = one.getBoundingClientRect();
    if (!box.width || box.right <= innerWidth + 1) return false;
    for (let around = one.parentElement; around; around = around.parentElement)
        if (/auto|scroll|hidden/.test(getComputedStyle(around).overflowX) && around !== document.body) return false;
    return true;
}).map(one => one.outerHTML.slice(0, 100))"""
# What our scripts and the theme do for a new size or theme is done in the frame after it.
CHOSEN = """async which => {
    document.getElementById(`__palette_${which}`).click();
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    localStorage.clear();
    return document.body.getAttribute('data-md-color-scheme');
}"""

# Each page has the menu of all pages: more elements than most pages have. Here it is left with three entries of a list,
# and those that lead to the page.
SHORT_MENU = """() => {
    for (const list of document.querySelectorAll('.md-nav--primary .md-nav__list'))
        if (!list.closest('.md-nav--secondary'))
            for (const one of [...list.children].slice(3))
                if (!one.matches('.md-nav__item--active')) one.remove();
}"""


def problems(seen: Visit, address: str, *, has_whole_menu: bool = True) -> list[str]:
    """Of a page, light and dark, wide and narrow. The dark one differs by its colours alone.

    It stays as wide as it is in the end, and the next page is opened so: to lay a page out anew is what takes long.
    """
    seen.complaints.clear()
    page = seen.open(address)
    if not has_whole_menu:
        page.evaluate(SHORT_MENU)
    found = not_drawn(page)
    looks = [wide, narrow]
    for look in looks if width(page) == WIDE else reversed(looks):
        found += look(seen)
    return [f"{address}: {one}" for one in (*found, *seen.complaints)]


def choose(page: Page, theme: str) -> None:
    """As the button in the header does; what was chosen is not kept for the next page."""
    assert page.evaluate(CHOSEN, THEMES.index(theme)) == theme


def not_drawn(page: Page) -> list[str]:
    """Diagrams without a drawing, and pictures that are not there."""
    if page.locator(".mermaid").count():
        with suppress(TooLong):  # below it is said which one
            page.wait_for_function(DRAWN, timeout=PATIENCE)
    return [f"not drawn: {one}" for one in page.evaluate(NOT_DRAWN)]


def wide(seen: Visit) -> list[str]:
    """What axe-core says."""
    resize(seen.page, WIDE)
    seen.page.add_script_tag(url=f"{seen.base}{AXE_OF_THE_SITE}")
    found = []
    for theme in THEMES:
        choose(seen.page, theme)
        rules = RULES if theme == THEMES[0] else COLOURS
        found += [f"{theme}: {one}" for one in new_violations(seen.page, rules, theme)]
    return found


def narrow(seen: Visit) -> list[str]:
    """What a phone does not show."""
    resize(seen.page, PHONE)
    out, too_wide = seen.page.evaluate(STICKS_OUT), seen.too_wide()
    return [f"{too_wide} pixels wider than a phone"] * (too_wide > 0) + [f"sticks out on a phone: {one}" for one in out]


def width(page: Page) -> int:
    """Of the screen, in pixels."""
    assert page.viewport_size
    return page.viewport_size["width"]


def resize(page: Page, pixels: int) -> None:
    """If it is not so wide already."""
    if width(page) != pixels:
        page.set_viewport_size({"width": pixels, "height": HEIGHT})
