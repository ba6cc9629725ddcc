"""The fake itself: its clock, its targets, and what goes wrong."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from delayer_client import (
    Action,
    Delayer,
    HttpRequest,
    Invalid,
    NoAnswer,
    Repeat,
    Retry,
    Retrying,
    SqsSend,
    Unavailable,
)
from delayer_client.testing import Answer, Attempt, FakeDelayer

HOOK = HttpRequest(url="https://example.com/hook")
START = datetime(2027, 1, 4, 9, tzinfo=UTC)
SECOND, MINUTE, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)


@pytest.fixture
def fake() -> FakeDelayer:
    return FakeDelayer()


@pytest.fixture
def delayer(fake: FakeDelayer) -> Delayer:
    return fake.client()


def moments(fake: FakeDelayer) -> list[timedelta]:
    """When targets were reached, since the start."""
    return [one.at - START for one in fake.handed_over]


def test_all_happens_in_order_and_each_at_its_own_time(fake: FakeDelayer, delayer: Delayer) -> None:
    delays = [300.7, 90 * 86_400, 0.4, 300.3, 1_000, 0.9]
    for delay in delays:
        delayer.schedule(HOOK, delay=delay)
    fake.advance(timedelta(days=100))
    assert moments(fake) == [timedelta(seconds=delay) for delay in sorted(delays)]
    assert {one.late_by for one in fake.handed_over} == {timedelta(0)}
    assert fake.now == START + timedelta(days=100)


def test_nothing_happens_before_its_time(fake: FakeDelayer, delayer: Delayer) -> None:
    delayer.schedule(HOOK, delay=60.5)
    fake.advance(timedelta(seconds=60.499))
    assert fake.handed_over == ()
    assert fake.now == START + timedelta(seconds=60.499)
    fake.advance(timedelta(milliseconds=1))
    assert len(fake.handed_over) == 1


def test_what_is_due_fires_at_once(fake: FakeDelayer, delayer: Delayer) -> None:
    schedule = delayer.schedule(HOOK, delay=0)
    assert [one.schedule_id for one in fake.handed_over] == [schedule.id]
    assert delayer.get(schedule.id).state == "executed"


def test_an_attempt_has_all_that_the_target_sees(fake: FakeDelayer, delayer: Delayer) -> None:
    schedule = delayer.schedule(
        HttpRequest(url="https://x.example/", headers={"X-Mine": "1"}), delay=1, payload={"a": 1}
    )
    delayer.schedule(SqsSend(queue_url="https://sqs.eu-west-1.amazonaws.com/123456789012/q"), delay=2, payload=[2])
    fake.advance(2 * SECOND)
    first, second = fake.handed_over
    assert (first.action_type, first.payload, first.body, first.number) == ("http-request", {"a": 1}, b'{"a":1}', 1)
    assert (first.headers["x-mine"], first.idempotency_key) == ("1", schedule.id)
    assert (second.action_type, second.payload, second.headers) == ("sqs-send", [2], {})
    assert second.action == {"queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/q"}
    assert (second.idempotency_key, second.owner) == (second.schedule_id, "anonymous")


def test_an_action_of_another_stack_is_known_by_its_schema() -> None:
    schema = {"properties": {"channel": {"type": "string"}}, "required": ["channel"]}
    fake = FakeDelayer(actions={"slack-post": schema, "ring": {}})
    delayer = fake.client()
    delayer.schedule(Action("slack-post", channel="#a"), delay=1)
    delayer.schedule(Action("ring"), delay=2)
    with pytest.raises(Invalid):
        delayer.schedule(Action("slack-post", chanel="#a"), delay=1)
    with pytest.raises(Invalid):
        delayer.schedule(Action("unknown"), delay=1)
    with pytest.raises(ValueError, match="small letters"):
        FakeDelayer(actions={"Slack": {}})
    fake.advance(2 * SECOND)
    reached = [(one.action_type, one.action) for one in fake.handed_over]
    assert reached == [("slack-post", {"channel": "#a"}), ("ring", {})]


def test_targets_answer_as_the_test_says(fake: FakeDelayer, delayer: Delayer) -> None:
    fake.answer(lambda attempt: Answer.succeed() if attempt.number > 2 else Answer.retry(after=30 * SECOND))
    schedule = delayer.schedule(HOOK, delay=0)
    fake.advance(MINUTE)
    assert moments(fake) == [timedelta(0), 30 * SECOND, 60 * SECOND]
    assert delayer.get(schedule.id).state == "executed"
    fake.answer(Answer.fail_for_good("no such customer"))
    failed = delayer.get(delayer.schedule(HOOK, delay=0).id)
    assert (failed.state, failed.detail) == ("failed", "no such customer")


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (Answer.http(204), "executed"),
        (Answer.http(404), "failed"),
        (Answer.http(500), "claimed"),
        (Answer.http(429, retry_after="7"), "claimed"),
    ],
    ids=["204", "404", "500", "429"],
)
def test_what_follows_from_an_answer_of_http(fake: FakeDelayer, delayer: Delayer, answer: Answer, state: str) -> None:
    fake.answer_next(answer)
    schedule = delayer.schedule(HOOK, delay=0)
    assert delayer.get(schedule.id).state == state
    if answer.status == 429:
        assert delayer.get(schedule.id).next_attempt_at == START + 7 * SECOND
    fake.advance(DAY)
    assert delayer.get(schedule.id).state == ("executed" if state == "claimed" else state)


def test_the_next_answers_come_one_after_the_other(fake: FakeDelayer, delayer: Delayer) -> None:
    fake.answer_next(Answer.retry(), Answer.retry(), Answer.fail_for_good())
    schedule = delayer.schedule(HOOK, delay=0, retry=Retry(max_attempts=5))
    fake.advance(DAY)
    assert (len(fake.handed_over), delayer.get(schedule.id).state) == (3, "failed")


def test_a_target_may_call_the_api(fake: FakeDelayer, delayer: Delayer) -> None:
    """Also from another thread, as the test client of a web framework does."""

    def again(attempt: Attempt) -> Answer:
        if attempt.payload:
            with ThreadPoolExecutor(1) as other:
                other.submit(delayer.schedule, HOOK, delay=60, payload=attempt.payload - 1).result(timeout=10)
        return Answer.succeed()

    fake.answer(again)
    delayer.schedule(HOOK, delay=0, payload=2)
    fake.advance(5 * MINUTE)
    assert moments(fake) == [timedelta(0), MINUTE, 2 * MINUTE]


def test_an_assertion_about_an_attempt_fails_the_test(fake: FakeDelayer, delayer: Delayer) -> None:
    """It is no failed attempt, which would only be made again."""

    def expects(attempt: Attempt) -> Answer:
        assert attempt.payload == "expected"
        return Answer.succeed()

    fake.answer(expects)
    schedule = delayer.schedule(HOOK, delay=60, payload="another")
    with pytest.raises(AssertionError, match="expected"):
        fake.advance(MINUTE)
    with pytest.raises(AssertionError, match="expected"):
        delayer.schedule(HOOK, delay=0)
    fake.answer(Answer.succeed())
    fake.advance(5 * MINUTE)
    assert delayer.get(schedule.id).state == "executed"


def test_a_target_cannot_move_the_clock(fake: FakeDelayer, delayer: Delayer) -> None:
    raised = []

    def moves(_: Attempt) -> Answer:
        with pytest.raises(RuntimeError, match="cannot move the clock"):
            fake.advance(SECOND)
        raised.append(True)
        return Answer.succeed()

    fake.answer(moves)
    delayer.schedule(HOOK, delay=0)
    assert raised


def test_a_year_of_a_series_is_a_jump_from_one_occurrence_to_the_next(fake: FakeDelayer, delayer: Delayer) -> None:
    delayer.series.create(Repeat(cron="0 9 * * MON", time_zone="Europe/Lisbon"), HOOK)
    fake.advance(timedelta(days=365))
    assert len(fake.handed_over) == 52
    hours = {one.at.hour for one in fake.handed_over}
    assert hours == {8, 9}, "nine in Lisbon, in summer as in winter"


def test_a_series_may_wait_for_years(fake: FakeDelayer) -> None:
    """Its first time is further ahead than a schedule may be."""
    body: dict[str, Any] = {"repeat": {"every": "P1Y", "timeZone": "UTC", "anchor": "2039-01-01T00:00:00"}}
    body |= {"action": {"type": "http-request", "url": "https://x.example/"}}
    body["repeat"]["from"] = "2039-01-01T00:00:00Z"
    with httpx.Client(transport=fake.transport, base_url=fake.url) as http:
        made = http.post("/series", json=body)
        assert made.status_code == 201, made.text
        assert made.json()["state"] == "waiting"
        fake.advance_to(datetime(2039, 1, 2, tzinfo=UTC))
    assert [one.at for one in fake.handed_over] == [datetime(2039, 1, 1, tzinfo=UTC)]


def test_a_client_that_waits_moves_the_clock(fake: FakeDelayer, delayer: Delayer) -> None:
    schedule = delayer.schedule(HOOK, delay=60)
    assert delayer.wait(schedule.id).state == "executed"
    assert MINUTE <= fake.now - START < 2 * MINUTE


def test_an_async_client_does_the_same(fake: FakeDelayer) -> None:
    async def use() -> None:
        delayer = fake.async_client()
        schedule = await delayer.schedule(HOOK, delay=60)
        assert (await delayer.wait(schedule.id)).state == "executed"

    asyncio.run(use())
    assert len(fake.handed_over) == 1


def test_a_fault_is_gone_when_the_call_is_repeated(fake: FakeDelayer, delayer: Delayer) -> None:
    fake.fail_next(2)
    schedule = delayer.schedule(HOOK, delay=60)
    assert delayer.get(schedule.id).id == schedule.id
    fake.fail_next()
    with pytest.raises((Unavailable, NoAnswer)):
        fake.client(retrying=Retrying(times=0)).schedule(HOOK, delay=60)
    assert len(list(delayer.list())) == 1, "what was answered 503 was not done"


def test_while_it_is_down_what_was_accepted_is_handed_over(fake: FakeDelayer, delayer: Delayer) -> None:
    delayer.schedule(HOOK, delay=60)
    with fake.down():
        with pytest.raises((Unavailable, NoAnswer)):
            fake.client(retrying=Retrying(times=0)).get("any")
        fake.advance(MINUTE)
    assert len(fake.handed_over) == 1


def test_each_owner_sees_their_own() -> None:
    fake = FakeDelayer(owner="alice")
    schedule = fake.client().schedule(HOOK, delay=60)
    assert [one.id for one in fake.client().list()] == [schedule.id]
    assert list(fake.client(owner="bob").list()) == []
    with httpx.Client(transport=fake.transport, base_url=fake.url) as http:
        assert http.get(f"/schedules/{schedule.id}").status_code == 200


def test_two_fakes_share_nothing() -> None:
    one, other = FakeDelayer(), FakeDelayer(start=START + DAY)
    schedule = one.client().schedule(HOOK, delay=0)
    assert (len(one.handed_over), len(other.handed_over)) == (1, 0)
    assert other.now == START + DAY
    assert list(other.client().list()) == []
    assert schedule.id


def test_the_clock_is_moved_forward_with_a_zone(fake: FakeDelayer) -> None:
    with pytest.raises(ValueError, match="never set back"):
        fake.advance(-SECOND)
    with pytest.raises(ValueError, match="never set back"):
        fake.advance_to(START - SECOND)
    with pytest.raises(ValueError, match="has no time zone"):
        fake.advance_to(datetime(2027, 1, 5))  # noqa: DTZ001
    assert fake.advance_to_next() is None


def test_the_next_moment(fake: FakeDelayer, delayer: Delayer) -> None:
    delayer.schedule(HOOK, delay=7)
    assert fake.advance_to_next() == START + 7 * SECOND
    assert len(fake.handed_over) == 1
