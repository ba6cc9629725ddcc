"""Scripts in fields do nothing, and no other page gets in."""

import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from delayer_client import HttpRequest, Repeat
from tests.client.console.world import served
from tests.e2e.console.browser import visit
from tests.e2e.console.conftest import World

pytestmark = pytest.mark.thorough

EVIL = "\"'></pre></script><script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)>"
RAN = "window.ran"


def test_scripts_in_every_field_do_nothing(browser: Browser, world: World) -> None:
    """It takes seconds: ten pages are loaded."""
    action = HttpRequest(
        url=f"{world.base}/nowhere?q=%3Cscript%3Ealert(1)%3C/script%3E'onload=alert(1)",
        headers={"X-Note": EVIL},
        keep_answer=True,
    )
    fields: dict[str, Any] = {"payload": {EVIL: [EVIL]}, "tags": {"note": EVIL}, "group": "console-hostile"}
    failed = world.delayer.schedule(action, delay=1, **fields)
    far = world.delayer.schedule(action, delay=172_800, **fields)
    series = world.delayer.series.create(Repeat(every="PT1H"), action, **fields)
    world.delayer.wait(failed.id, timeout=60)
    paths = [
        "",
        "/schedules",
        "/schedules?group=console-hostile",
        f"/schedules/{failed.id}",
        f"/schedules/{far.id}",
        "/series",
        f"/series/{series.id}",
        "/dead-letters",
        f"/search?q={EVIL.replace('#', '%23')}",
        "/search?q=tag:note",
    ]
    with visit(browser, world.base) as seen:
        for path in paths:
            page = seen.open(path)
            assert page.locator("main img, main script, main iframe, main [onload], main [onerror]").count() == 0
            time.sleep(0.05)
        assert [one for one in seen.complaints if not one.startswith("console: Failed to load resource")] == []
    world.delayer.series.cancel(series.id)


class Elsewhere(BaseHTTPRequestHandler):
    """A page of somebody else, on this machine too."""

    target = ""

    def do_GET(self) -> None:
        body = f"""<!doctype html><title>elsewhere</title><a id="link" href="{self.target}/console">open</a>
            <iframe id="frame" src="{self.target}/console"></iframe>
            <form id="form" method="post" action="{self.target}/console/owner">
            <input name="owner" value="mallory"></form>"""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Quiet."""


@pytest.fixture(scope="module")
def elsewhere(world: World) -> Iterator[str]:
    handler = type("Handler", (Elsewhere,), {"target": world.base})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"  # another site than localhost
    server.shutdown()
    server.server_close()


def test_a_link_from_elsewhere_opens_with_the_session_that_is_there(
    browser: Browser, world: World, elsewhere: str
) -> None:
    """It takes more than a second: pages are loaded."""
    with visit(browser, world.base) as seen:
        page = seen.open()
        before = page.context.cookies()
        page.goto(elsewhere)
        page.locator("#link").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Now")
        assert page.context.cookies() == before


def test_the_address_of_delayer_console_opens_from_another_page_too(
    browser: Browser, world: World, elsewhere: str
) -> None:
    """A mail, a chat: the cookie is not sent with that request, and is with the one that the empty page makes.

    It takes seconds: pages are loaded.
    """
    with served(world.base) as address:
        own = address.partition("/console")[0]
        with visit(browser, own) as seen:
            seen.page.goto(elsewhere.replace("127.0.0.1", "localhost"))
            seen.page.evaluate("address => { document.getElementById('link').href = address }", address)
            seen.page.locator("#link").click()
            expect(seen.page.get_by_role("heading", level=1)).to_have_text("Now")
            assert "token" not in seen.page.url
        with visit(browser, own) as another:
            another.page.goto(address)
            expect(another.page.locator("body")).to_contain_text("has been used")


def test_it_is_not_shown_in_a_frame(browser: Browser, world: World, elsewhere: str) -> None:
    """It takes more than a second: pages are loaded."""
    with visit(browser, world.base) as seen:
        seen.page.goto(elsewhere)
        frame = seen.page.frame_locator("#frame")
        expect(frame.locator("body")).not_to_contain_text("Due next")
        assert any("frame-ancestors" in one or "X-Frame-Options" in one for one in seen.complaints)


def test_a_form_of_another_page_changes_nothing(browser: Browser, world: World, elsewhere: str) -> None:
    """It takes more than a second: pages are loaded."""
    with visit(browser, world.base) as seen:
        seen.open()
        seen.page.goto(elsewhere)
        seen.page.evaluate("document.getElementById('form').submit()")
        expect(seen.page.locator("body")).to_contain_text("Only a page of the console itself")
        seen.open()
        expect(seen.page.locator("#owner")).to_have_value("")


def test_a_script_of_the_page_cannot_reach_another_host(browser: Browser, world: World, elsewhere: str) -> None:
    """It takes more than a second: pages are loaded."""
    with visit(browser, world.base) as seen:
        page = seen.open()
        refused = page.evaluate(f"fetch('{elsewhere}').then(() => 'reached', () => 'refused')")
        assert refused == "refused"
        page.evaluate(
            f"const s = document.createElement('script'); s.textContent = '{RAN} = true'; document.body.append(s)"
        )
        assert page.evaluate(RAN) is None
