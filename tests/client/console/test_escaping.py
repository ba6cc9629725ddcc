"""Whatever a field holds is shown as a text."""

from datetime import timedelta
from html.parser import HTMLParser

from delayer_client import HttpRequest, Repeat
from delayer_client.testing import Answer
from tests.client.console.world import OperatorFunction, console

EVIL = "</script></pre>\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}"
ALLOWED = (
    "/console/static/vendored/htmx/htmx.min.js",
    "/console/static/vendored/uplot/uPlot.iife.min.js",
    "/console/static/console.js",
)


class Elements(HTMLParser):
    """What a browser would run."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.suspicious: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "script":
            self.scripts.append(given.get("src") or "inline")
        if tag in ("img", "iframe", "object", "style", "base") or any(
            name.startswith("on") or name == "style" for name in given
        ):
            self.suspicious.append(f"{tag} {given}")


def assert_harmless(page: str) -> None:
    elements = Elements()
    elements.feed(page)
    assert tuple(elements.scripts) == ALLOWED
    assert elements.suspicious == []


def test_scripts_in_every_field_are_texts() -> None:
    letters = OperatorFunction({f"failed/{EVIL}": EVIL})
    with console(operator=letters.stack) as world:
        world.fake.answer(Answer.http(404, EVIL))
        action = HttpRequest(
            url=f"https://shop.example/?q={EVIL.replace(' ', '').replace(chr(34), '')}",
            headers={"X-Note": EVIL},
            keep_answer=True,
        )
        one = world.client.schedule(action, delay=1, payload={EVIL: [EVIL]}, tags={"note": EVIL})
        series = world.client.series.create(Repeat(every="PT1H"), action, payload=EVIL, tags={"note": EVIL})
        world.fake.advance(timedelta(seconds=3))
        paths = ["", "/schedules", f"/schedules/{one.id}", "/series", f"/series/{series.id}", "/dead-letters"]
        for path in paths:
            assert_harmless(world.page(path))
        for query in ({"q": EVIL}, {"q": f"tag:note={EVIL}"}, {"q": f"group:{EVIL}"}):
            assert_harmless(world.browser.get("/console/search", params=query).text)
        assert_harmless(world.browser.get("/console/schedules", params={"state": EVIL, "from": EVIL}).text)
        assert_harmless(world.browser.get("/console/dead-letters/look", params={"key": f"failed/{EVIL}"}).text)
        assert_harmless(world.press("/dead-letters/count/redrive", reason=EVIL, prefix=EVIL))
        assert_harmless(world.press("/owner", owner=EVIL))


def test_a_link_cannot_make_the_console_say_something() -> None:
    with console() as world:
        world.page()
        assert EVIL[:20] not in world.browser.get("/console", params={"message": EVIL, "live": EVIL}).text
