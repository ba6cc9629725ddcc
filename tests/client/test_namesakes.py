"""A repeat never ends what somebody else has made, or turned back, since the first try (ADR 0149)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from attrs import define, field

from delayer_client import BearerConnection, Delayer, HttpRequest, NoAnswer, NotAllowed, Repeat
from delayer_client.testing import FakeDelayer
from tests.client.transport.test_sending import ID, SCHEDULED, Api, played

__all__ = ["played"]  # a fixture

HOOK = HttpRequest(url="https://example.com/hook")


@define
class Loses(httpx.BaseTransport):
    """The answer to the first call of this method and path is lost, and something happens before the next one."""

    fake: FakeDelayer
    method: str
    meanwhile: Callable[[Delayer], Any]
    made: Any = None
    sent: list[str] = field(factory=list)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(f"{request.method} {request.url.path}")
        answer = self.fake.transport.handle_request(request)
        if request.method == self.method and self.made is None:
            self.made = self.meanwhile(self.fake.client())
            raise httpx.ReadTimeout("lost")
        return answer


def a_schedule(delayer: Delayer, **where: str) -> str:
    made = delayer.schedule(HOOK, delay=timedelta(hours=1), **where)  # type: ignore[arg-type] # a name, or a group
    assert made.id
    return made.id


def a_series(delayer: Delayer, **where: str) -> str:
    found = delayer.series.create(Repeat(every="PT1H"), HOOK, **where)  # type: ignore[arg-type] # the same
    return found.id


def through(loses: Loses) -> Delayer:
    return Delayer(loses.fake.url, transport=loses, sleep=lambda _: None)


def test_a_namesake_is_not_cancelled() -> None:
    """By its name, the repeat would cancel what somebody has made since."""
    fake = FakeDelayer()
    first = a_schedule(fake.client(), name="n")
    loses = Loses(fake, "DELETE", lambda delayer: a_schedule(delayer, name="n"))
    done = through(loses).cancel_named("n")
    assert done.schedule
    assert done.schedule.id == first
    assert fake.client().get_named("n").id == loses.made
    assert fake.client().get_named("n").state == "scheduled"


def test_what_has_taken_its_place_meanwhile_is_cancelled() -> None:
    """The name is that one's now, and nothing was cancelled by the first try."""
    fake = FakeDelayer()
    a_schedule(fake.client(), name="n")
    loses = Loses(fake, "GET", lambda delayer: delayer.replace("n", HOOK, delay=timedelta(hours=2)).id)
    done = through(loses).cancel_named("n")
    assert done.schedule
    assert done.schedule.id == loses.made


def test_a_series_of_the_same_name_goes_on() -> None:
    fake = FakeDelayer()
    first = a_series(fake.client(), name="n")
    loses = Loses(fake, "DELETE", lambda delayer: a_series(delayer, name="n"))
    assert through(loses).series.cancel_named("n").series_id == first
    assert fake.client().series.get(loses.made).state == "active"


def test_what_joins_a_group_is_not_cancelled_with_it() -> None:
    fake = FakeDelayer()
    a_schedule(fake.client(), group="g")
    loses = Loses(fake, "DELETE", lambda delayer: a_schedule(delayer, group="g"))
    with pytest.raises(NoAnswer) as raised:
        through(loses).groups.cancel("g")
    assert raised.value.may_be_applied
    assert len(loses.sent) == 1


def test_a_pause_that_somebody_has_ended_is_not_made_again() -> None:
    fake = FakeDelayer()
    series = a_series(fake.client())
    loses = Loses(fake, "POST", lambda delayer: delayer.series.resume(series))
    with pytest.raises(NoAnswer):
        through(loses).series.pause(series)
    assert fake.client().series.get(series).state == "active"


def test_a_series_that_somebody_has_paused_is_not_resumed_again() -> None:
    fake = FakeDelayer()
    series = a_series(fake.client())
    fake.client().series.pause(series)
    loses = Loses(fake, "POST", lambda delayer: delayer.series.pause(series))
    with pytest.raises(NoAnswer):
        through(loses).series.resume(series)
    assert fake.client().series.get(series).state == "paused"


def test_a_connection_of_the_same_name_stays() -> None:
    fake = FakeDelayer()
    fake.client().connections.put("crm", BearerConnection(token="t" * 20))
    loses = Loses(fake, "DELETE", lambda delayer: delayer.connections.put("crm", BearerConnection(token="u" * 20)))
    with pytest.raises(NoAnswer):
        through(loses).connections.delete("crm")
    assert fake.client().connections.get("crm").name == "crm"


def test_who_may_not_look_cancels_by_the_name_once(played: Any) -> None:
    """As a caller whose policy allows that call alone."""
    forbidden = {"message": "Forbidden"}
    api = Api([(403, forbidden), (200, {**SCHEDULED, "state": "cancelled"})])
    assert played(api, lambda one: one.cancel_named("n")).schedule.id == ID
    assert [one.url.path for one in api.requests] == ["/schedules/by-name/n"] * 2
    lost = Api([(403, forbidden), httpx.ReadTimeout("lost")])
    with pytest.raises(NoAnswer):
        played(lost, lambda one: one.cancel_named("n"))
    of_series = Api([(403, forbidden), (403, forbidden)])
    with pytest.raises(NotAllowed):
        played(of_series, lambda one: one.series.cancel_named("n"))
