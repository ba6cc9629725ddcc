"""Each view in a real browser, light and dark, wide and on a phone."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import SCREENS, Screen
from tests.e2e.console.browser import visit
from tests.e2e.console.conftest import World

VIEWS = {
    "now": ("", "Due next"),
    "schedules": ("/schedules", "{mark}-far"),
    "fired": ("/schedules/{fired}", "executed"),
    "failed": ("/schedules/{failed}", "Redrive"),
    "retried": ("/schedules/{retried}", "attempt 1"),
    "far": ("/schedules/{far}", "Move it"),
    "all-series": ("/series", "{mark}-series"),
    "series": ("/series/{series}", "every weekday at 09:00"),
    "dead-letters": ("/dead-letters", "HTTP 404"),
    "search": ("/search?q={mark}-", "Among those listed"),
    "nothing-found": ("/search?q=not-there", "Nothing"),
}
FIRST, *OTHERS = SCREENS


@pytest.mark.parametrize(
    "screen",
    [FIRST, *(pytest.param(one, marks=pytest.mark.thorough) for one in OTHERS)],
    ids=lambda one: f"{one.scheme}-{one.width}",
)
def test_a_view_works_for_everybody(browser: Browser, world: World, screen: Screen) -> None:
    """No error, no request off the page, no violation of WCAG 2.1 A or AA, nothing wider than the screen.

    It takes some seconds: eleven pages are loaded and looked through.
    """
    named = {name: getattr(world, name) for name in ("fired", "failed", "retried", "far", "series", "mark")}
    wrong: dict[str, object] = {}
    with visit(browser, world.base, screen) as seen:
        for view, (path, text) in VIEWS.items():
            page = seen.open(path.format_map(named))
            expect(page.locator("main"), view).to_contain_text(text.format_map(named))
            if found := [*seen.violations(), *seen.complaints, *(["too wide"] if seen.too_wide() else [])]:
                wrong[view] = found
            seen.complaints.clear()
    assert wrong == {}


@pytest.mark.thorough
def test_without_script_it_is_the_same_page_in_utc(browser: Browser, world: World) -> None:
    """It takes more than a second: pages are loaded."""
    with visit(browser, world.base, java_script_enabled=False) as seen:
        page = seen.open(f"/schedules/{world.far}")
        expect(page.locator("#zone")).to_contain_text("Times are in UTC")
        expect(page.locator("dl time").first).to_contain_text("UTC")
        page.goto(f"{world.base}/console")
        page.get_by_role("link", name="Schedules", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Schedules")


@pytest.mark.thorough
def test_times_are_those_of_the_browser(browser: Browser, world: World) -> None:
    """It takes more than a second: a page is loaded."""
    with visit(browser, world.base) as seen:
        page = seen.open()
        expect(page.locator("#zone")).to_contain_text("Europe/Lisbon")
        expect(page.locator("canvas")).to_be_visible()


def test_it_is_used_by_keyboard(browser: Browser, world: World) -> None:
    """It takes more than a second: pages are loaded."""
    with visit(browser, world.base) as seen:
        page = seen.open()
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        page.keyboard.press("/")
        expect(page.locator("#q")).to_be_focused()
        page.keyboard.type(world.name("far"))
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text(world.name("far"))


@pytest.mark.thorough
def test_now_is_renewed_by_itself_and_can_be_frozen(browser: Browser, world: World) -> None:
    """It takes the seconds until it is renewed."""
    with visit(browser, world.base) as seen:
        page = seen.open()
        with page.expect_response(lambda answer: answer.url.endswith("/console"), timeout=20_000) as renewed:
            pass
        assert renewed.value.request.headers["hx-request"] == "true"
        page.get_by_role("link", name="Freeze").click()
        expect(page.locator("#live")).not_to_have_attribute("hx-get", "/console")
        assert seen.complaints == []


@pytest.mark.thorough
def test_a_renewal_keeps_the_focus_and_what_was_scrolled(browser: Browser, world: World) -> None:
    """It takes the seconds until it is renewed, twice."""
    with visit(browser, world.base, Screen(width=390)) as seen:
        page = seen.open()
        page.locator("#t-due").evaluate("one => { one.scrollLeft = 60 }")
        for chosen in ("#t-fired a >> nth=0", "#t-due"):
            page.locator(chosen).focus()
            before = page.evaluate("document.activeElement.id")
            assert before
            page.evaluate("document.getElementById('live').dataset.old = 'yes'")
            expect(page.locator("#live[data-old]")).to_have_count(0, timeout=20_000)
            page.wait_for_timeout(100)
            assert page.evaluate("document.activeElement.id") == before
        assert page.locator("#t-due").evaluate("one => one.scrollLeft") == 60
        assert seen.complaints == []


@pytest.mark.thorough
def test_on_a_phone_a_path_begins_where_the_schedule_is(browser: Browser, world: World) -> None:
    """It takes more than a second: a page is loaded."""
    with visit(browser, world.base, Screen(width=390)) as seen:
        page = seen.open(f"/schedules/{world.fired}")
        page.wait_for_timeout(200)
        last = page.locator("#path .station").last.bounding_box()
        assert last
        assert 0 < last["x"] < 390


@pytest.mark.thorough
def test_a_schedule_that_fires_is_seen_to_fire(browser: Browser, world: World) -> None:
    """It takes the four seconds until it fires."""
    one = world.delayer.schedule(world.hook, delay=4)
    with visit(browser, world.base) as seen:
        page = seen.open(f"/schedules/{one.id}")
        expect(page.get_by_role("button", name="Cancel")).to_be_visible()
        expect(page.get_by_role("region", name="The events")).to_contain_text("executed", timeout=20_000)
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
        assert seen.complaints == []


def test_a_schedule_is_moved_and_cancelled_by_its_buttons(browser: Browser, world: World) -> None:
    """It takes some seconds: pages are loaded."""
    one = world.delayer.schedule(world.hook, delay=172_800, name=world.name("moved"))
    with visit(browser, world.base) as seen:
        page = seen.open(f"/schedules/{one.id}")
        page.get_by_label("Due in").fill("3")
        page.get_by_label("Unit").select_option("hours")
        page.get_by_role("button", name="Move…").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Move {world.name('moved')}?")
        expect(page.locator("dl time")).to_have_count(2)
        assert seen.violations() == []
        page.get_by_role("button", name="Move it").click()
        expect(page.locator("#messages")).to_contain_text("Moved to")
        page.get_by_label("or at").fill("2027-07-06T18:00")
        expect(page.locator("#at-zone")).to_have_text("Europe/Lisbon")
        page.get_by_role("button", name="Move…").click()
        expect(page.locator("dl time").last).to_have_attribute("datetime", "2027-07-06T17:00:00.000Z")
        page.get_by_role("link", name="Leave it").click()
        page.get_by_role("button", name="Cancel…").click()
        page.get_by_role("button", name="Cancel it").click()
        expect(page.locator("#messages")).to_contain_text("it will never be handed over")
        assert seen.complaints == []
    assert world.delayer.get_named(world.name("moved")).state == "cancelled"


@pytest.mark.thorough
def test_what_has_failed_is_redriven_by_its_button(browser: Browser, world: World) -> None:
    """It takes seconds: what was said has to stay."""
    one = world.delayer.schedule(world.hook.__class__(url=f"{world.base}/nowhere"), delay=1)
    world.delayer.wait(one.id, timeout=60)
    with visit(browser, world.base) as seen:
        page = seen.open(f"/schedules/{one.id}")
        page.get_by_role("button", name="Redrive…").click()
        page.get_by_role("button", name="Redrive it").click()
        expect(page.locator("#messages")).to_contain_text("Redriven: it is on its way again.")
        # Its state changes, and the buttons and the history follow; what was answered stays on the page.
        expect(page.get_by_role("region", name="The events")).to_contain_text("redriven", timeout=20_000)
        page.wait_for_timeout(2_500)
        expect(page.locator("#messages")).to_contain_text("Redriven: it is on its way again.")
        assert seen.complaints == []


@pytest.mark.thorough
def test_dead_letters_are_counted_before_they_are_discarded(browser: Browser, world: World) -> None:
    """It takes seconds: it is due in one, and pages are loaded."""
    one = world.delayer.schedule(world.hook.__class__(url=f"{world.base}/nothing-there"), delay=1)
    world.delayer.wait(one.id, timeout=60)
    with visit(browser, world.base) as seen:
        page = seen.open("/dead-letters")
        page.get_by_role("button", name="Discard these…").first.click()
        expect(page.locator("main")).to_contain_text("Schedules to be discarded")
        page.get_by_role("link", name="Leave them").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Dead letters")
        assert seen.complaints == []
