"""Visits of the console."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser

from tests.browser.chromium import SCREENS, Screen, Visit
from tests.browser.chromium import visit as of_any_page


@contextmanager
def visit(browser: Browser, base: str, screen: Screen = SCREENS[0], **settings: Any) -> Iterator[Visit]:
    """With cookies of its own."""
    with of_any_page(browser, base, screen, **settings) as seen:
        seen.room = "/console"
        yield seen
