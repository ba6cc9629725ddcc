"""Now: what has waited for hours is seen, nothing is left out in silence, and AWS keeps no page waiting."""

import re
import time
from datetime import timedelta
from threading import Event
from typing import Any

import httpx
from starlette.testclient import TestClient

from delayer_client import AsyncDelayer, HttpRequest, Repeat, Retry
from delayer_client.console import Place, application
from delayer_client.testing import Answer
from delayer_client.transport.attempts import Retrying
from tests.client.console.world import ORIGIN, console

HOOK = HttpRequest(url="https://shop.example/hook")
FAR = timedelta(minutes=80)


def card(page: str, name: str) -> str:
    return page.split(f"<dt>{name}</dt><dd>")[1].split("</dd>")[0]


def test_what_is_still_attempted_after_an_hour_is_failing_and_waits() -> None:
    with console() as world:
        world.fake.answer(Answer.http(503))
        world.client.schedule(HOOK, delay=1, name="again", retry=Retry(max_attempts=50))
        world.fake.advance(FAR)
        assert world.client.get_named("again").state == "claimed"
        page = world.page()
    assert card(page, "Failing") == "1"
    assert card(page, "Waiting") == "1"
    assert "<strong>circuit</strong>" in page, "its target is down, and it waits for it"
    assert "1 that were due before and have not ended" in page


def test_more_than_twenty_that_wait_are_all_counted() -> None:
    with console() as world:
        world.fake.answer(Answer.http(503))
        for _ in range(35):
            world.client.schedule(HOOK, delay=1, retry=Retry(max_attempts=50))
        world.fake.advance(timedelta(seconds=5))
        page = world.page()
    assert card(page, "Waiting") == "35"
    assert "35; why, for the 20 that have waited longest." in page
    assert len(re.findall("<strong>(retry|circuit)</strong>", page)) == 20


def test_lists_by_state_are_asked_for_now_and_then() -> None:
    asked: list[str] = []
    with console() as world:
        call = world.fake.transport.handle_async_request

        async def counted(request: httpx.Request) -> httpx.Response:
            asked.extend(request.url.params.get_list("state"))
            return await call(request)

        world.fake.transport.handle_async_request = counted  # type: ignore[method-assign]
        world.page()
        world.page()
        assert sorted(asked) == ["claimed", "enqueued", "scheduled", "undecided"]
        world.fake.advance(timedelta(minutes=1))
        world.page()
        assert len(asked) == 8


def test_a_page_does_not_wait_for_aws() -> None:
    answers, asked = Event(), Event()

    def slow() -> Any:
        asked.set()
        answers.wait(20)
        raise LookupError("The credentials have run out.")

    with console(operator=slow) as world:
        began = time.monotonic()
        assert "are being fetched" in world.page()
        assert time.monotonic() - began < 5
        assert asked.is_set()
        answers.set()
        assert "The credentials have run out." in world.page()


def without_a_journal() -> TestClient:
    """A stack whose journal is off; it knows a schedule and a series by name."""
    wrong = [{"field": "group", "problem": "missing", "allowed": "a group, as the journal is off"}]
    refused = {"type": "about:blank", "title": "Invalid", "status": 422, "detail": "1 field is wrong", "errors": wrong}
    known = {"scheduleId": "s" * 45, "state": "scheduled", "name": "invoice-7", "pointInTime": "2027-01-04T09:00:00Z"}
    series = {"seriesId": "5" * 32, "state": "active", "name": "morning-report"}

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path == "/schedules":
            group = request.url.params.get("group")
            return httpx.Response(200, json={"schedules": []}) if group else httpx.Response(422, json=refused)
        if path == "/series":
            return httpx.Response(200, json={"series": [series]})
        if path.startswith("/schedules") and path.endswith(("invoice-7", "s" * 45)):
            return httpx.Response(200, json=known)
        return httpx.Response(404, json={"type": "about:blank", "title": "Not found", "status": 404})

    transport = httpx.MockTransport(answer)
    place = Place(
        url="http://localhost:9",
        client=lambda _owner: AsyncDelayer("http://localhost:9", transport=transport, retrying=Retrying(times=0)),
    )
    return TestClient(application(place), base_url=ORIGIN)


def test_without_a_journal_now_shows_the_stack_and_says_why_nothing_else() -> None:
    with without_a_journal() as browser:
        answer = browser.get("/console")
    assert answer.status_code == 200
    assert "The stack has no journal: only groups can be listed" in answer.text
    assert "The whole stack" in answer.text


def test_without_a_journal_a_name_is_found_and_a_part_is_refused_in_words() -> None:
    with without_a_journal() as browser:
        assert "invoice-7" in browser.get("/console/search?q=invoice-7").text
        page = browser.get("/console/search?q=ing-rep").text
    assert "morning-report" in page, "series are listed without it"
    assert "The stack has no journal" in page


def test_a_search_looks_at_the_last_and_the_next_and_at_series() -> None:
    """It takes some seconds: there are a thousand schedules."""
    with console() as world:
        for number in range(30):
            for _ in range(36):
                world.client.schedule(HOOK, delay=1 + number * 600)
        world.fake.advance(timedelta(hours=6))
        world.client.schedule(HOOK, delay=1, name="the-newest")
        world.client.series.create(Repeat(every="PT1H"), HOOK, name="hourly-report")
        world.fake.advance(timedelta(hours=2))
        assert "the-newest" in world.page("/search?q=e-newes"), "more than a thousand are older"
        assert "hourly-report" in world.page("/search?q=ly-repo")
