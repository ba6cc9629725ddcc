"""A real Chromium without a window: Debian's own, which playwright only drives."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from attrs import define, field, frozen
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.accessibility import AXE, RULES, violations

PATH = "/usr/bin/chromium"
WHY = "Chromium is not at /usr/bin/chromium: install it with `apt-get install chromium`."
# Chromium as root has no sandbox; the others keep it from asking anything of the network by itself.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
ZONE = "Europe/Lisbon"
# What has to happen is waited for; on a busy machine it may take long, and then the wait ends all the same.
GENEROUS = 120_000  # milliseconds
expect.set_options(timeout=GENEROUS)


def require_chromium() -> None:
    """Skips the test without it; in the check of a commit (DELAYER_CI) that is a failure."""
    if not shutil.which(PATH):
        if os.environ.get("DELAYER_CI"):
            pytest.fail(WHY)
        pytest.skip(WHY)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Started for each module: while it runs, its event loop does, and other tests need one of their own."""
    require_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PATH, args=list(FLAGS))
        yield browser
        browser.close()


@frozen(kw_only=True)
class Screen:
    """How somebody looks at it."""

    scheme: Any = "light"
    width: int = 1200


PHONE = 390
SCREENS = (Screen(), Screen(scheme="dark"), Screen(width=PHONE), Screen(scheme="dark", width=PHONE))


@define
class Visit:
    """A page, and what it has done meanwhile."""

    page: Page
    base: str
    room: str = ""
    complaints: list[str] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.page.on(
            "console", lambda said: self.complaints.append(f"console: {said.text}") if said.type == "error" else None
        )
        self.page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self._watch(request.url))

    def _watch(self, url: str) -> None:
        if not url.startswith(f"{self.base}/"):
            self.complaints.append(f"request: {url}")

    def open(self, path: str = "") -> Page:
        """A path of the room."""
        self.page.goto(f"{self.base}{self.room}{path}")
        return self.page

    def violations(self) -> list[str]:
        """Of WCAG 2.1 A and AA, with the page's policy in force."""
        self.page.evaluate(AXE)
        return violations(self.page, RULES)

    def too_wide(self) -> int:
        """By how many pixels the page is wider than the screen."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@contextmanager
def visit(browser: Browser, base: str, screen: Screen = SCREENS[0], **settings: Any) -> Iterator[Visit]:
    """With cookies of its own."""
    context: BrowserContext = browser.new_context(
        color_scheme=screen.scheme, viewport={"width": screen.width, "height": 900}, timezone_id=ZONE, **settings
    )
    context.set_default_timeout(GENEROUS)
    yield Visit(page=context.new_page(), base=base)
    context.close()
