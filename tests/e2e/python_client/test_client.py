"""The client on a real stack: both surfaces, all that an owner does, and calls that are signed."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import httpx
import pytest

from delayer_client import (
    REMOVED,
    ApiKeyConnection,
    AsyncDelayer,
    Aws,
    Conflict,
    Delayer,
    HttpRequest,
    Invalid,
    NewSchedule,
    NotFound,
    Repeat,
    Retry,
    Spread,
)
from delayer_client.webhooks import verify
from tests.e2e.client import Client, StackClient

TOMORROW = timedelta(days=1)


@pytest.fixture
def delayer(client: Client) -> Iterator[Delayer]:
    with Delayer(client.api_url, owner="of-the-client") as delayer:
        yield delayer


def target(client: Client, path: str) -> HttpRequest:
    return HttpRequest(url=client.receiver.url + path)


def test_a_schedule_from_its_post_to_its_end(client: Client, delayer: Delayer) -> None:
    """It takes seconds: it is due in one, and is waited for."""
    made = delayer.schedule(
        target(client, "/client"), delay=timedelta(seconds=1), payload={"order": 17}, group="orders"
    )
    [arrived] = client.arrivals("/client")
    verify(arrived.body, dict(arrived.headers), delayer.signing_secret().current)
    found = delayer.wait(made.id, timeout=20)
    assert (found.state, found.detail) == ("executed", "HTTP 200")
    assert found.lateness_ms is not None
    client.history(made.id, "executed", owner="of-the-client")
    assert delayer.get(made.id).payload == {"order": 17}
    too_late = delayer.cancel(made.id)
    assert not too_late
    assert too_late.reason == "ended"
    assert [one.id for one in delayer.list(group="orders")] == [made.id]


def test_names_changes_and_true_answers(client: Client, delayer: Delayer) -> None:
    first = delayer.replace("named", target(client, "/never"), delay=TOMORROW, retry=Retry(max_attempts=2))
    second = delayer.replace("named", target(client, "/never"), delay=TOMORROW)
    assert second.replaces == first.id
    with pytest.raises(Conflict) as raised:
        delayer.replace("named", target(client, "/never"), delay=TOMORROW, only_new=True)
    assert raised.value.problem.schedule_id == second.id
    at = datetime.now(UTC) + 2 * TOMORROW
    third = delayer.change(second.id, at=at)
    assert third.point_in_time is not None
    assert abs(third.point_in_time - at) < timedelta(milliseconds=2)
    assert delayer.get_named("named").id == third.id
    assert delayer.cancel_named("named")
    assert delayer.cancel(third.id), "a repeated cancel says the same"
    with pytest.raises(NotFound):
        delayer.get("0" * 47)
    with pytest.raises(Invalid) as wrong:
        delayer.schedule(HttpRequest(url="nope"), delay=1)
    assert wrong.value.errors[0].field == "action.url"


def lost_once(url: str, method: str) -> httpx.BaseTransport:
    """The first answer to this method never arrives, although the call was carried out."""

    class Losing(httpx.HTTPTransport):
        lost = False

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = super().handle_request(request)
            if request.method == method and not self.lost:
                self.lost = True
                response.read()
                raise httpx.ReadTimeout("lost on the way back", request=request)
            return response

    return Losing()


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_lost_answer_doubles_nothing_and_the_repeat_is_the_truth(
    client: Client, delayer: Delayer, method: str
) -> None:
    made = delayer.replace(f"lost-{method}", target(client, "/never"), delay=TOMORROW, group=f"lost-{method}")
    url = client.api_url
    with Delayer(url, owner="of-the-client", transport=lost_once(url, method)) as unlucky:
        done: Any
        match method:
            case "POST":
                done = unlucky.schedule(target(client, "/never"), delay=TOMORROW, group="lost-POST")
                ids = {made.id, done.id}
            case "PUT":
                done = unlucky.replace("lost-PUT", target(client, "/never"), delay=TOMORROW, group="lost-PUT")
                assert done.replaces == made.id
                ids = {done.id}
            case "PATCH":
                done = unlucky.change(made.id, payload=2)
                assert done.replaces == made.id
                ids = {done.id}
            case _:
                assert unlucky.cancel(made.id)
                ids = set()
    live = [one.id for one in delayer.list(group=f"lost-{method}") if one.state in ("scheduled", "enqueued")]
    assert set(live) == ids
    assert len(live) == len(ids)


def test_a_batch_and_its_group(client: Client, delayer: Delayer) -> None:
    """It takes a second or two: the job is waited for."""
    good = [NewSchedule(action=target(client, "/never"), delay=TOMORROW, group="many") for _ in range(3)]
    results = delayer.batch([*good, NewSchedule(action=HttpRequest(url="nope"), delay=1)])
    assert [bool(one.schedule) for one in results] == [True, True, True, False]
    assert len(list(delayer.list(group="many", page_size=2))) == 3
    job = delayer.groups.wait(delayer.groups.cancel("many").id, timeout=30)
    assert (job.state, job.cancelled) == ("done", 3)


def test_a_series(client: Client, delayer: Delayer) -> None:
    """It takes seconds: there are many calls."""
    rule = Repeat(cron="0 9 * * MON-FRI", time_zone="Europe/Lisbon")
    made = delayer.series.create(
        rule, target(client, "/series-of-client"), name="weekdays", payload="<delayer.occurrence.number>"
    )
    assert delayer.series.get(made.id).description == "every weekday at 09:00, Europe/Lisbon"
    assert len(delayer.series.next(made.id, 3).times) == len(delayer.series.preview(rule, 3).times) == 3
    assert delayer.series.change(made.id, window=60).replaces
    assert delayer.series.get(made.id).window
    delayer.series.change(made.id, window=REMOVED)
    assert not delayer.series.get_named("weekdays").window
    delayer.series.run_now(made.id)
    client.arrivals("/series-of-client")
    assert delayer.series.pause(made.id).state == "paused"
    with pytest.raises(Conflict):
        delayer.series.run_now(made.id)
    assert delayer.series.resume(made.id).state == "active"
    again = delayer.series.replace("weekdays", "30 2 * * *", target(client, "/series-of-client"))
    assert (again.id, again.created) == (made.id, None)
    assert delayer.series.cancel(made.id).state == "cancelled"
    assert made.id in {one.id for one in delayer.series.list()}


def test_connections(client: Client, delayer: Delayer) -> None:
    delayer.connections.put("crm", ApiKeyConnection(header_name="X-Crm", value="k-0123456789"))
    assert delayer.connections.get("crm").header_name == "X-Crm"
    assert [one.name for one in delayer.connections.list()] == ["crm"]
    assert delayer.connections.test("crm", client.receiver.url + "/crm").succeeded
    delayer.connections.delete("crm")
    with pytest.raises(NotFound):
        delayer.connections.get("crm")


def test_the_same_with_await(client: Client) -> None:
    """It takes a second or two: there are many calls."""

    async def run() -> None:
        async with AsyncDelayer(client.api_url, owner="of-asyncio") as delayer:
            made = await delayer.schedule(target(client, "/never"), when=Spread(seconds=86_400), group="later")
            many = await asyncio.gather(*(delayer.schedule(target(client, "/never"), delay=TOMORROW) for _ in range(5)))
            assert len({made.id, *(one.id for one in many)}) == 6
            assert "http-request" in {one.type for one in await delayer.actions()}
            assert [one.id async for one in delayer.list(group="later")]
            for one in many:
                assert await delayer.cancel(one.id)

    asyncio.run(run())


def test_a_signed_call_is_taken(on_aws: StackClient) -> None:
    """The emulator does not check it; botocore agrees with it in tests/client/transport/test_credentials.py."""
    session = boto3.Session("AKIDEXAMPLE", "secret", region_name="eu-west-1")
    with Delayer(on_aws.stack.api_url, credentials=Aws(session=session, region="eu-west-1")) as delayer:
        assert delayer.actions()
