"""What is done about a schedule or a series, and the truth of the answer."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from delayer_client import HttpRequest, Repeat, Retry, Schedule
from delayer_client.api.models import HistoryEntry
from delayer_client.console.views.schedule import is_behind, possible
from delayer_client.testing import Answer
from tests.client.console.world import OperatorFunction, console

OVERFLOWS = {"at": "0001-01-01T00:00:00+23:59"}
HOOK = HttpRequest(url="https://shop.example/hook")


@pytest.mark.parametrize(
    ("state", "claimed", "deeds"),
    [
        ("undecided", False, {"cancel", "move"}),
        ("scheduled", False, {"cancel", "move"}),
        ("enqueued", False, {"cancel", "move"}),
        ("claimed", True, {"stop"}),
        ("failed", True, {"move", "redrive"}),
        ("dead-lettered", False, {"cancel", "move", "redrive"}),
        ("dead-lettered", True, {"stop", "move", "redrive"}),
        ("executed", True, set()),
        ("made-up", False, set()),
    ],
)
def test_what_is_offered_is_what_the_lifecycle_allows(state: str, claimed: bool, deeds: set[str]) -> None:
    at = datetime(2027, 1, 4, tzinfo=UTC)
    found = possible(Schedule(id="x", state=state, claimed_at=at if claimed else None))
    assert {name for name in ("cancel", "move", "stop", "redrive") if getattr(found, name)} == deeds


def test_a_page_is_renewed_until_the_journal_has_the_end() -> None:
    at = datetime(2027, 1, 4, tzinfo=UTC)
    history = [
        HistoryEntry(event="claimed", at=at, state="claimed"),
        HistoryEntry(event="executed", at=at, state="executed"),
    ]
    behind = Schedule(id="x", state="executed", since=at, history=history[:1])
    assert is_behind(behind, at + timedelta(seconds=2))
    assert not is_behind(behind, at + timedelta(minutes=2)), "it will never have it"
    assert not is_behind(Schedule(id="x", state="executed", since=at, history=history), at)
    assert not is_behind(Schedule(id="x", state="executed", since=at), at), "there is no journal"


def test_a_cancel_says_that_it_will_never_be_handed_over() -> None:
    with console() as world:
        one = world.client.schedule(HOOK, delay=60)
        assert 'action="/console/schedules/' in world.page(f"/schedules/{one.id}")
        page = world.press(f"/schedules/{one.id}/cancel", sure="yes")
        assert "Cancelled: it will never be handed over." in page
        assert world.client.get(one.id).state == "cancelled"
        assert "Cancelled:" not in world.page(f"/schedules/{one.id}"), "a message is shown once"


def test_a_renewal_takes_no_message() -> None:
    """It takes a part of the page that shows none: what came of a deed would be lost."""
    with console() as world:
        one = world.client.schedule(HOOK, delay=60)
        world.page()
        headers = {"Origin": "http://localhost:8080"}
        sent = {"headers": headers, "data": {"sure": "yes"}, "follow_redirects": False}
        world.browser.post(f"/console/schedules/{one.id}/cancel", **sent)
        for path in ("", f"/schedules/{one.id}"):
            assert "Cancelled:" not in world.browser.get(f"/console{path}", headers={"HX-Request": "true"}).text
        assert "Cancelled: it will never be handed over." in world.page(f"/schedules/{one.id}")


def test_a_cancel_that_is_too_late_says_so() -> None:
    with console() as world:
        one = world.client.schedule(HOOK, delay=1)
        world.page()
        world.fake.advance(timedelta(seconds=3))
        page = world.press(f"/schedules/{one.id}/cancel", sure="yes")
        assert 'It is too late: it was handed over at <time datetime="2027-01-04T09:00:0' in page


def test_a_move_leads_to_the_schedule_that_took_its_place() -> None:
    with console() as world:
        one = world.client.schedule(HOOK, delay=60, name="moved")
        world.page()
        page = world.press(f"/schedules/{one.id}/move", amount="2", unit="hours", sure="yes")
        assert 'Moved to <time datetime="2027-01-04T11:00:00.000Z"' in page
        moved = world.client.get_named("moved").id
        page = world.press(f"/schedules/{moved}/move", at="2027-01-05T10:30", sure="yes")
        assert 'Moved to <time datetime="2027-01-05T10:30:00.000Z"' in page


def test_nothing_that_cannot_be_undone_is_done_at_one_click() -> None:
    """The question names the schedule; its button carries the answer, and nothing else does."""
    with console() as world:
        one = world.client.schedule(HOOK, delay=60, name="invoice-20")
        world.page()
        for what in ("cancel", "move", "stop", "redrive"):
            page = world.press(f"/schedules/{one.id}/{what}", amount="1", unit="hours")
            assert f"<h1>{what.capitalize()} invoice-20?</h1>" in page
            assert f'action="/console/schedules/{one.id}/{what}"' in page
            assert f'<a class="button" href="/console/schedules/{one.id}">Leave it</a>' in page
        found = world.client.get_named("invoice-20")
        assert (found.id, found.state) == (one.id, "scheduled")


def test_a_move_asks_with_the_old_time_and_the_new_one_by_the_clock_of_the_reader() -> None:
    """Typed by the clock of Tokyo: 18:00 there is 09:00 in UTC. The answer carries the instant that was shown."""
    with console() as world:
        one = world.client.schedule(HOOK, delay=60, name="invoice-20")
        world.page()
        page = world.press(f"/schedules/{one.id}/move", at="2027-01-06T18:00", zone="Asia/Tokyo")
        old, new = re.findall(r'<time datetime="([^"]+)" data-as="moment">', page)
        assert (old, new) == ("2027-01-04T09:01:00.000Z", "2027-01-06T09:00:00.000Z")
        assert 'name="at" value="2027-01-06T09:00:00+00:00"' in page
        world.press(f"/schedules/{one.id}/move", at="2027-01-06T09:00:00+00:00", sure="yes")
        assert world.client.get_named("invoice-20").point_in_time == datetime(2027, 1, 6, 9, tzinfo=UTC)


def test_a_move_to_nowhere_says_what_is_allowed() -> None:
    with console() as world:
        one = world.client.schedule(HOOK, delay=60)
        world.page()
        for fields in (
            {"amount": "soon", "unit": "hours"},
            {"amount": "1", "unit": "moons"},
            {"at": "tomorrow"},
            {"at": "2027-01-06T18:00", "zone": "Mars/Olympus"},
            {"at": "2027-01-06T18:00", "zone": "../etc/passwd"},
            OVERFLOWS,
        ):
            page = world.press(f"/schedules/{one.id}/move", **fields)
            assert "Nothing was changed." in page


def test_a_stop_keeps_further_attempts_from_starting() -> None:
    with console() as world:
        world.fake.answer(Answer.http(503))
        one = world.client.schedule(HOOK, delay=1, retry=Retry(max_attempts=9))
        world.fake.advance(timedelta(seconds=3))
        assert "Stop…</button>" in world.page(f"/schedules/{one.id}")
        assert "No further attempt starts." in world.press(f"/schedules/{one.id}/stop", sure="yes")


def failed(world: object) -> str:
    world.fake.answer(Answer.http(404))  # type: ignore[attr-defined]
    one = world.client.schedule(HOOK, delay=1)  # type: ignore[attr-defined]
    world.fake.advance(timedelta(seconds=3))  # type: ignore[attr-defined]
    world.page()  # type: ignore[attr-defined]
    return str(one.id)


def test_a_redrive_without_credentials_says_what_it_needs() -> None:
    with console() as world:
        schedule_id = failed(world)
        assert "Redrive…</button>" in world.page(f"/schedules/{schedule_id}")
        assert "It was not redriven. boto3 finds no AWS credentials." in world.press(
            f"/schedules/{schedule_id}/redrive", sure="yes"
        )


def test_a_redrive_asks_the_operator_function() -> None:
    letters = OperatorFunction({})
    with console(operator=letters.stack) as world:
        schedule_id = failed(world)
        letters.letters = {"failed/another/1.json": "HTTP 404", f"failed/{schedule_id}/2.json": "HTTP 404"}
        page = world.press(f"/schedules/{schedule_id}/redrive", sure="yes")
        assert letters.asked[-1] == {"command": "redrive", "key": f"failed/{schedule_id}/2.json", "by": "console"}
        assert "Redriven: it is on its way again." in page
        assert "not among the dead letters" in world.press(f"/schedules/{schedule_id}/redrive", sure="yes")


def test_nothing_else_can_be_done() -> None:
    with console() as world:
        one = world.client.schedule(HOOK, delay=60)
        world.page()
        for path in (
            f"/console/schedules/{one.id}/delete",
            "/console/dead-letters/many/burn",
            "/console/series/x/burn",
        ):
            assert world.browser.post(path, headers={"Origin": "http://localhost:8080"}).status_code == 404


def test_a_series_is_paused_resumed_and_run_now() -> None:
    with console() as world:
        one = world.client.series.create(Repeat(every="PT1H"), HOOK, name="hourly")
        world.page()
        assert "Paused. 1 occurrence will not be handed over." in world.press(f"/series/{one.id}/pause")
        assert "Nothing was changed." in world.press(f"/series/{one.id}/run-now", sure="yes")
        assert "Resumed." in world.press(f"/series/{one.id}/resume")
        assert "<h1>Run an occurrence now of hourly?</h1>" in world.press(f"/series/{one.id}/run-now")
        assert "One occurrence is due at once" in world.press(f"/series/{one.id}/run-now", sure="yes")
        world.fake.advance(timedelta(minutes=1))
        assert "executed" in world.page(f"/series/{one.id}")
