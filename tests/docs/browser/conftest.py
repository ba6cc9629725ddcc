"""The built site, served on this machine, and one page of a browser for each module."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import Screen, Visit, chromium, visit
from tests.docs.browser.site import built, served

# The theme draws diagrams into closed shadow roots, into which neither a test nor axe-core can look.
OPEN_SHADOWS = """
const closed = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (how) { return closed.call(this, { ...how, mode: "open" }); };
"""
# Each page builds the index of the search when it is opened, which takes longer than all of its checks.
EMPTY = {"config": {"lang": ["en"], "separator": " ", "pipeline": [], "fields": {}}, "docs": []}
# With its tabs and both its menus, which the theme shows from 1220 on.
WIDE = Screen(width=1280)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory)


@pytest.fixture(scope="module")
def base(site: Path) -> Iterator[str]:
    with served(site) as base:
        yield base


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def seen(browser: Browser, base: str) -> Iterator[Visit]:
    """Opened once for a module, without a search: a new one for each page would cost as much time as its checks."""
    with visit(browser, base, WIDE) as seen:
        seen.page.add_init_script(OPEN_SHADOWS)
        seen.page.route("**/search_index.json", lambda asked: asked.fulfill(json=EMPTY))
        yield seen
