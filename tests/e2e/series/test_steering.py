"""A series is steered over HTTP, under the roles of the template."""

import json
from typing import Any

import pytest

from delayer.schedule.instants import HOUR, MINUTE, SECOND, Millis, format_instant, parse_instant
from delayer_client import Conflict, Repeat, Series
from tests.e2e.client import PATIENCE, Client, StackClient, lateness, millis, now
from tests.e2e.stacks.attaching import Shared
from tests.e2e.stacks.kinds import EACH_MINUTE, EARLY

DAY_AHEAD: Millis = 24 * HOUR  # nothing of these series is due while they are tested, but what is asked for


def a_series(client: Client, path: str, **more: Any) -> Series:
    """A daily one that began three days ago."""
    began = format_instant(now() // MINUTE * MINUTE - 3 * DAY_AHEAD - HOUR)
    rule = Repeat(every="PT24H", anchor=began, from_=began)
    payload = {"time": "<delayer.occurrence.time>"}
    return client.delayer.series.create(rule, client.target(path), payload=payload, **more)


def test_it_is_changed_paused_resumed_and_cancelled(client: Client) -> None:
    """It takes a second or two: there are a dozen calls."""
    calls, made = client.delayer.series, a_series(client, "/steered", name="steered").id
    first = calls.get(made).occurrence
    assert first
    changed = calls.change(made, payload="another", tags={"team": "billing"}, idempotency_key="changed")
    assert calls.change(made, payload="another", tags={"team": "billing"}, idempotency_key="changed") == changed
    assert (changed.takes_effect_at.number, changed.replaces) == (1, first.schedule_id)
    assert client.delayer.get(first.schedule_id).state == "replaced"
    paused = calls.pause(made)
    assert (paused.state, paused.cancelled, paused.claimed, paused.claimed_up_to) == (
        "paused",
        [changed.takes_effect_at.schedule_id],
        [],
        0,
    )
    with pytest.raises(Conflict) as refused:
        calls.run_now(made)
    assert refused.value.status == 409
    resumed = calls.resume(made)
    assert resumed.occurrence
    assert (resumed.state, resumed.missed, resumed.occurrence.number) == ("active", 0, 2)
    assert resumed.occurrence.time == first.time
    ruled = calls.change(made, repeat=Repeat(cron="30 9 * * *", time_zone="Europe/Lisbon"))
    assert (ruled.takes_effect_at.number, ruled.replaces) == (2, resumed.occurrence.schedule_id)
    cancelled = calls.cancel_named("steered")
    assert (cancelled.state, cancelled.cancelled) == ("cancelled", [ruled.takes_effect_at.schedule_id])
    assert calls.cancel(made) == cancelled
    assert client.receiver.of("/steered") == []


@pytest.mark.thorough
def test_one_runs_now_and_times_of_the_past_are_made_up_one_after_the_other(client: Client) -> None:
    """It takes seconds: five occurrences follow each other."""
    calls, made = client.delayer.series, a_series(client, "/filled").id
    run = calls.run_now(made, idempotency_key="now")
    assert calls.run_now(made, idempotency_key="now") == run
    client.arrivals("/filled")
    past = format_instant(now() - 4 * DAY_AHEAD), format_instant(now() - SECOND)
    begun = calls.backfill(made, *past, idempotency_key="fill")
    assert calls.backfill(made, *past, idempotency_key="fill") == begun
    arrived = client.arrivals("/filled", count=5)
    times = [json.loads(request.body)["time"] for request in arrived]
    assert times[0] == format_instant(millis(run.time))
    assert times[1:] == sorted(set(times[1:])), "each once, the earliest first"
    assert times[1] == format_instant(millis(begun.time))
    calls.cancel(made)
    assert len(client.receiver.of("/filled")) == 5


def test_a_series_of_one_minute_fires_each_minute_until_it_is_cancelled(on_aws: StackClient, main: Shared) -> None:
    """It was created when the stack was started: if nothing else has run before, it takes a minute."""
    requests = main.arrivals.wait_for(2, EACH_MINUTE, seconds=MINUTE // SECOND + PATIENCE)
    answer = on_aws.delayer_of(EARLY).series.cancel(main.early[EACH_MINUTE]["seriesId"])
    assert answer.claimed_up_to >= 2
    first = parse_instant(main.early[EACH_MINUTE]["next"])
    for number, request in enumerate(requests):
        due = first + number * MINUTE
        assert json.loads(request.body) == str(number + 1)
        lateness(request, due)
    logged = on_aws.stack.logs("series-stepper")
    assert main.early[EACH_MINUTE]["seriesId"] in logged
    assert EACH_MINUTE not in logged, "no log has an action, or a payload"
    assert len({one.headers["delayer-schedule-id"] for one in requests}) == len(requests)
