"""Each page: what it shows with data, without, and when something is wrong."""

import re
from collections import Counter
from datetime import timedelta
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from delayer_client import AsyncDelayer, Aws, HttpRequest, Nothing, Repeat, Retry, Token
from delayer_client.console import Place, application, place_of
from delayer_client.testing import Answer
from delayer_client.transport.attempts import Retrying
from tests.client.console.world import ORIGIN, console

HOOK = HttpRequest(url="https://shop.example/hook", headers={"Authorization": "Bearer hush"})


def test_empty_pages_say_what_to_do() -> None:
    with console() as world:
        for path in ("", "/schedules", "/series"):
            page = world.page(path)
            assert "curl -X POST" in page
            assert "delayer s" in page
            assert world.fake.url in page


def test_now_shows_what_is_due_what_fired_and_what_fails() -> None:
    with console() as world:
        world.client.schedule(HOOK, delay=3, name="fires")
        world.client.schedule(HOOK, delay=7200, name="to-come")
        world.fake.advance(timedelta(seconds=5))
        world.fake.answer(Answer.http(404))
        world.client.schedule(HOOK, delay=1, name="refused")
        world.fake.advance(timedelta(seconds=5))
        page = world.page()
    assert "fires" in page
    assert "to-come" in page
    assert "shop.example" in page
    assert "HTTP 404" in page
    assert "Figures cover the 3 schedules" in page
    assert "1,000 at most" in page


def test_now_says_why_something_waits() -> None:
    with console() as world:
        world.fake.answer(Answer.http(503))
        world.client.schedule(HOOK, delay=1, name="again", retry=Retry(max_attempts=5))
        world.fake.advance(timedelta(seconds=3))
        page = world.page()
    assert re.search(r"<strong>retry</strong>: attempt 3 in [1-4]\u00a0s", page)
    assert "HTTP 503" in page


def test_without_credentials_of_aws_there_is_a_sentence() -> None:
    with console() as world:
        assert "Set AWS_PROFILE." in world.page()
        assert "Set AWS_PROFILE." in world.page("/dead-letters")


def test_a_page_of_the_list_has_two_hundred_and_leads_to_the_next() -> None:
    with console() as world:
        for number in range(205):
            world.client.schedule(HOOK, delay=60 + number)
        first = world.page("/schedules")
        assert first.count('class="id"') == 200
        following = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
        assert world.browser.get(following).text.count('class="id"') == 5


def test_a_page_is_two_calls_of_the_api_however_many_there_are() -> None:
    asked: list[str] = []
    with console() as world:
        for number in range(450):
            world.client.schedule(HOOK, delay=60 + number)
        call = world.fake.transport.handle_async_request

        async def counted(request: httpx.Request) -> httpx.Response:
            asked.append(request.url.path)
            return await call(request)

        world.fake.transport.handle_async_request = counted  # type: ignore[method-assign]
        world.page("/schedules")
    assert asked == ["/schedules", "/schedules"]


def test_figures_of_the_whole_stack_come_from_cloudwatch_and_are_asked_for_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []

    def figures(_stack: object, metrics: dict[str, object], _now: object) -> dict[str, list[float]]:
        asked.append(metrics)
        return {"p50": [4.0], "p99": [41.0], "failed": [1.0, 2.0], "dead": [], "near": [7.0, 2000.0], "far": []}

    monkeypatch.setattr("delayer_client.operator.doctor.gather.metrics.figures", figures)
    limits = {"limits": [{"target": "shop.example", "rate": "10/s"}], "suspensions": [], "circuits": []}
    stack = SimpleNamespace(name="delayer", flow=SimpleNamespace(list=lambda: limits))
    with console(operator=lambda: stack) as world:
        page = world.page()
        assert "41\u00a0ms" in page
        assert "2 arrived in 15 min, at most 2.0\u00a0s late" in page
        assert "none in 15 min" in page
        assert "shop.example" in page
        world.page()
        assert len(asked) == 1
        world.fake.advance(timedelta(minutes=1))
        world.page()
        assert len(asked) == 2


def test_the_list_can_be_asked_for_less() -> None:
    with console() as world:
        world.client.schedule(HOOK, delay=60, name="one", group="orders")
        world.client.schedule(HOOK, delay=60, name="two")
        page = world.page("/schedules?group=orders")
        assert "one" in page
        assert "two" not in page
        assert "Nothing fits" in world.page("/schedules?state=failed")
        refused = world.page("/schedules?state=made-up", status=422)
        assert "allowed: undecided, decided" in refused, "what is not a state is refused: it would list all"


def test_a_schedule_shows_its_path_definition_and_history() -> None:
    with console() as world:
        one = world.client.schedule(HOOK, delay=3, payload={"order": 17}, group="orders", tags={"team": "billing"})
        world.fake.advance(timedelta(seconds=5))
        page = world.page(f"/schedules/{one.id}")
    for text in ("Its path, in UTC: scheduled", "claimed", "&#34;order&#34;: 17", "team: billing", "executed", "***"):
        assert text in page
    assert "hush" not in page, "masked as in the API"
    assert "What can be done" not in page


def test_a_series_shows_its_rule_in_words_and_its_next_ten_times() -> None:
    with console() as world:
        rule = Repeat(cron="0 9 * * MON-FRI", time_zone="Europe/Lisbon")
        one = world.client.series.create(rule, HOOK, name="report")
        page = world.page(f"/series/{one.id}")
        assert "every weekday at 09:00, Europe/Lisbon" in page
        assert page.count('<time datetime="2027-01-') >= 10
        assert page.count(">09:00</time>") == 10
        assert "report" in world.page("/series")


@pytest.mark.parametrize("text", ["one", "group:orders", "tag:team=billing", "tag:team"])
def test_search_leads_to_what_it_finds(text: str) -> None:
    with console() as world:
        one = world.client.schedule(HOOK, delay=timedelta(days=2), name="one", group="orders", tags={"team": "billing"})
        assert one.id in world.browser.get("/console/search", params={"q": text}).text


def test_search_by_an_id_opens_it_and_a_part_is_looked_for_in_what_is_listed() -> None:
    with console() as world:
        one = world.client.schedule(HOOK, delay=timedelta(days=2), name="reminder-17")
        series = world.client.series.create(Repeat(every="PT1H"), HOOK)
        assert world.browser.get(f"/console/search?q={one.id}").url.path == f"/console/schedules/{one.id}"
        assert world.browser.get(f"/console/search?q={series.id}").url.path == f"/console/series/{series.id}"
        assert one.id in world.page("/search?q=minder-1")
        assert one.id in world.page("/search?q=shop.exa")
        assert "Nothing" in world.page("/search?q=not-there")


def test_another_owner_sees_their_own() -> None:
    with console() as world:
        world.client.schedule(HOOK, delay=60, name="mine")
        world.fake.client(owner="alice").schedule(HOOK, delay=60, name="hers")
        assert "mine" in world.page("/schedules")
        world.press("/owner", owner="alice")
        page = world.page("/schedules")
        assert "hers" in page
        assert "mine" not in page
        assert 'value="alice"' in page


@pytest.mark.parametrize("name", ["Zoë", "a" * 257])
def test_what_can_be_no_owner_is_said_and_the_old_one_stays(name: str) -> None:
    with console() as world:
        world.page()
        world.press("/owner", owner="alice")
        page = world.press("/owner", owner=name)
        assert "That can be no owner" in page
        assert "The owner is still alice." in page
        assert 'value="alice"' in page


def test_a_mistake_of_the_console_is_a_page_too() -> None:
    def mistaken(_request: httpx.Request) -> httpx.Response:
        raise RuntimeError("a mistake")

    page = page_of(mistaken, raise_server_exceptions=False)
    assert page.status_code == 500
    assert "The console has made a mistake" in page.text
    assert "a mistake</p>" not in page.text, "what it was is for the log"


class Focusable(HTMLParser):
    """Ids of a page, and what takes the focus within the part that is renewed without having one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.without: list[str] = []
        self.depth = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "div" and (self.depth or given.get("id") == "live"):
            self.depth += 1
        if self.depth and (tag in ("a", "button", "input", "select", "summary") or "tabindex" in given):
            self.without += [] if given.get("id") else [str(self.get_starttag_text())]

    def handle_endtag(self, tag: str) -> None:
        if tag == "div" and self.depth:
            self.depth -= 1


def test_ids_are_unique_and_all_that_takes_the_focus_in_a_renewed_part_has_one() -> None:
    """The focus finds its place again by its id; two of the same would lead it elsewhere."""
    with console() as world:
        tags = {"group": "orders", "tags": {"team": "billing", "shop": "north"}}
        empty = world.page()
        world.fake.answer(Answer.http(503))
        for _ in range(3):
            world.client.schedule(HOOK, delay=1, retry=Retry(max_attempts=9), **tags)  # type: ignore[arg-type]
        one = world.client.schedule(HOOK, delay=600, name="one", **tags)  # type: ignore[arg-type]
        series = world.client.series.create(Repeat(every="PT1H"), HOOK, name="one", group="orders")
        world.fake.advance(timedelta(seconds=4))
        paths = ["", f"/schedules/{one.id}", "/schedules", f"/series/{series.id}", "/series", "/search?q=o"]
        for page in [empty, *(world.page(path) for path in paths)]:
            found = Focusable(page)
            assert [name for name, number in Counter(found.ids).items() if number > 1] == []
            assert found.without == []


def test_the_renewal_of_a_schedule_can_be_paused() -> None:
    with console() as world:
        one = world.client.schedule(HOOK, delay=600)
        page = world.page(f"/schedules/{one.id}")
        assert "every 2s" in page
        assert f'href="/console/schedules/{one.id}?live=off">Freeze' in page
        page = world.page(f"/schedules/{one.id}?live=off")
        assert "every 2s" not in page
        assert ">Follow</a>" in page


@pytest.mark.parametrize(
    ("url", "credentials", "expected"),
    [
        ("http://localhost:8080", Nothing(), True),
        ("http://localhost:8080", Token("t"), False),
        ("https://abc.execute-api.eu-west-1.amazonaws.com", Aws(), False),
        ("https://delayer.example", Nothing(), False),
    ],
    ids=["one-machine", "token", "aws", "elsewhere"],
)
def test_an_owner_can_be_chosen_on_one_machine_only(url: str, credentials: Any, expected: bool) -> None:
    place = place_of(url, credentials=credentials)
    assert place.chooses_owner is expected
    place.client = lambda _owner: AsyncDelayer(url, transport=httpx.MockTransport(lambda _request: httpx.Response(503)))
    with TestClient(application(place), base_url=ORIGIN) as browser:
        browser.get("/console/static/console.css")
        assert ('name="owner"' in browser.get("/console/nothing").text) is expected
        answer = browser.post("/console/owner", data={"owner": "x"}, headers={"Origin": ORIGIN}, follow_redirects=False)
        assert answer.status_code == (303 if expected else 404)


def test_what_is_not_there_is_said_in_words() -> None:
    with console() as world:
        page = world.page("/schedules/none", 404)
        assert "There is no such thing here" in page
        assert "by-name" not in page, "the paths are those of the API"
        assert "There is no such page" in world.page("/none", 404)


def test_a_delayer_that_cannot_answer_is_said_in_words() -> None:
    with console() as world, world.fake.down():
        assert "Delayer cannot answer now" in world.page("/schedules", 503)


@pytest.mark.parametrize(
    ("status", "title"),
    [(403, "You may not do this"), (401, "You may not do this"), (429, "Too many calls"), (410, "It is too long ago")],
)
def test_refusals_of_the_api_are_said_in_words(status: int, title: str) -> None:
    page = page_of(lambda _request: httpx.Response(status, json={"message": "Forbidden"}))
    assert title in page.text


def test_nobody_at_the_address_is_said_in_words() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    page = page_of(refuse)
    assert page.status_code == 502
    assert "Delayer does not answer" in page.text
    assert "delayer serve" in page.text


def test_a_stack_without_a_journal_lists_groups_alone() -> None:
    wrong = [{"field": "group", "problem": "is required", "allowed": "a group"}]
    problem = {"type": "about:blank", "title": "Invalid", "status": 422, "detail": "1 field is wrong", "errors": wrong}
    page = page_of(lambda _request: httpx.Response(422, json=problem))
    assert "Only groups can be listed here" in page.text


def test_something_else_at_the_address_is_said_in_words() -> None:
    assert "This is not what Delayer answers" in page_of(lambda _request: httpx.Response(200, text="<html>")).text


def page_of(answer: object, **settings: Any) -> httpx.Response:
    transport = httpx.MockTransport(answer)  # type: ignore[arg-type]
    place = Place(
        url="http://localhost:9",
        client=lambda _owner: AsyncDelayer("http://localhost:9", transport=transport, retrying=Retrying(times=0)),
        chooses_owner=True,
    )
    with TestClient(application(place), base_url=ORIGIN, **settings) as browser:
        found: httpx.Response = browser.get("/console/schedules")
        return found


def test_a_retry_is_said_beside_the_state_and_can_be_asked_for() -> None:
    with console() as world:
        world.fake.answer(Answer.http(503))
        world.client.schedule(HOOK, delay=1, name="again", retry=Retry(max_attempts=9))
        world.client.schedule(HOOK, delay=600, name="later")
        world.fake.advance(timedelta(seconds=3))
        assert re.search(
            r'<span class="badge claimed retried">claimed</span> <span class="quiet">attempt \d', world.page()
        )
        page = world.page("/schedules?retried=yes")
        assert ("again" in page, "later" in page, " checked>" in page) == (True, False, True)
        assert "Nothing fits" in world.page("/schedules?state=executed&retried=yes")
        bookmarked = world.page("/schedules?state=retrying")
        assert ("again" in bookmarked, "later" in bookmarked, " checked>" in bookmarked) == (True, False, True)
