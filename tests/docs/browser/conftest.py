"""The built site, served on this machine, and one page of a browser for each module."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import PHONE, Screen, Visit, chromium, visit
from tests.docs.browser.looks import STILL, WIDE
from tests.docs.browser.site import built, served

# The theme draws diagrams into closed shadow roots, into which neither a test nor axe-core can look. Nothing moves.
BEFORE = f"""
const closed = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (how) {{ return closed.call(this, {{ ...how, mode: "open" }}); }};
const still = new CSSStyleSheet();
still.replaceSync({json.dumps(STILL)});
document.adoptedStyleSheets = [still];
"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory)


@pytest.fixture(scope="module")
def base(site: Path) -> Iterator[str]:
    """With its search."""
    with served(site) as base:
        yield base


@pytest.fixture(scope="module")
def quick_base(site: Path) -> Iterator[str]:
    """With a search that knows no page."""
    with served(site, search=False) as base:
        yield base


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def seen(browser: Browser, quick_base: str) -> Iterator[Visit]:
    """Opened once for a module, without a search: a new one for each page would cost as much time as its checks."""
    with visit(browser, quick_base, Screen(width=WIDE)) as seen:
        seen.page.add_init_script(BEFORE)
        yield seen


@pytest.fixture(scope="module")
def phone(browser: Browser, quick_base: str) -> Iterator[Visit]:
    """The same, narrow."""
    with visit(browser, quick_base, Screen(width=PHONE)) as seen:
        seen.page.add_init_script(BEFORE)
        yield seen


@pytest.fixture(scope="module")
def with_search(browser: Browser, base: str) -> Iterator[Visit]:
    """Its index is built once for each page that is opened."""
    with visit(browser, base) as seen:
        seen.page.add_init_script(BEFORE)
        yield seen
