"""Both surfaces send the same and repeat the same: every case is played with and without `await`."""

import asyncio
import json
import pickle
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import msgspec
import pytest
from attrs import define, field

from delayer_client import (
    Action,
    ApiKeyConnection,
    AsyncDelayer,
    BasicConnection,
    BearerConnection,
    Delayer,
    HttpRequest,
    Invalid,
    NewSchedule,
    NoAnswer,
    NoCredentials,
    NotAllowed,
    NotEnded,
    NotFound,
    NotUnderstood,
    OAuth2Connection,
    Retrying,
    Token,
    WrongArgument,
)
from delayer_client.api.models import SigningSecret

ID = "040q3valfdt000000000000000000000000000000000000"
SCHEDULED = {"scheduleId": ID, "state": "scheduled", "pointInTime": "2026-11-21T09:05:00.000Z"}
START = datetime(2026, 11, 21, 9, tzinfo=UTC)
Answers = Sequence[tuple[int, Any] | httpx.TransportError]


@define
class Api:
    """Answers what it was told, in order; and knows what was asked, and how long was waited."""

    planned: Answers
    requests: list[httpx.Request] = field(factory=list)
    waits: list[float] = field(factory=list)
    answers: Iterator[tuple[int, Any] | httpx.TransportError] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.answers = iter(self.planned)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = next(self.answers)
        if isinstance(answer, httpx.TransportError):
            raise answer
        return httpx.Response(answer[0], json=answer[1])

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def now(self) -> datetime:
        return START + timedelta(seconds=sum(self.waits))


def in_sync(api: Api, use: Callable[[Any], Any]) -> Any:
    transport = httpx.MockTransport(api.answer)
    with Delayer("http://api", transport=transport, sleep=api.sleep, now=api.now) as delayer:
        found = use(delayer)
        return list(found) if hasattr(found, "__next__") else found


def in_async(api: Api, use: Callable[[Any], Any]) -> Any:
    async def sleep(seconds: float) -> None:
        api.sleep(seconds)

    async def run() -> Any:
        transport = httpx.MockTransport(api.answer)
        async with AsyncDelayer("http://api", transport=transport, sleep=sleep, now=api.now) as delayer:
            found = use(delayer)
            return [one async for one in found] if hasattr(found, "__anext__") else await found

    return asyncio.run(run())


@pytest.fixture(params=[in_sync, in_async], ids=["sync", "async"])
def played(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_a_schedule_is_posted_with_a_key_of_its_own_and_repeated_with_the_same(played: Any) -> None:
    api = Api([httpx.ReadTimeout("lost"), (503, {"message": "later"}), (201, SCHEDULED)])
    found = played(
        api, lambda one: one.schedule(HttpRequest(url="https://x/"), delay=timedelta(minutes=5), payload={"order": 17})
    )
    assert (found.id, found.state, found.point_in_time) == (ID, "scheduled", START + timedelta(minutes=5))
    assert len({one.headers["Idempotency-Key"] for one in api.requests}) == 1
    assert json.loads(api.requests[0].content) == {
        "action": {"type": "http-request", "url": "https://x/"},
        "delaySeconds": 300,
        "payload": {"order": 17},
    }
    assert len({one.content for one in api.requests}) == 1, "byte for byte: else the key would be refused"
    assert len(api.waits) == 2


def test_a_null_payload_is_not_a_missing_one(played: Any) -> None:
    api = Api([(201, SCHEDULED), (201, SCHEDULED)])
    played(api, lambda one: one.schedule(Action("slack-post", channel="#a"), at=START, payload=None))
    played(api, lambda one: one.schedule(Action("slack-post", channel="#a"), at=START))
    first, second = (json.loads(one.content) for one in api.requests)
    assert first == {**second, "payload": None}
    assert second == {"action": {"type": "slack-post", "channel": "#a"}, "pointInTime": "2026-11-21T09:00:00Z"}


def test_a_cancel_that_timed_out_is_asked_again_and_its_answer_is_the_truth(played: Any) -> None:
    claimed = "2026-11-21T09:04:59.500Z"
    problem = {
        "type": "urn:delayer:problem:handed-over",
        "title": "t",
        "status": 409,
        "detail": "d",
        "claimedAt": claimed,
    }
    api = Api([httpx.ReadTimeout("lost"), (200, {**SCHEDULED, "state": "cancelled"})])
    yes = played(api, lambda one: one.cancel(ID))
    assert yes
    assert yes.schedule.state == "cancelled"
    no = played(Api([httpx.ReadTimeout("lost"), (409, problem)]), lambda one: one.cancel(ID))
    assert not no
    assert (no.reason, no.claimed_at) == ("handed-over", datetime(2026, 11, 21, 9, 4, 59, 500_000, UTC))
    lost = Api([httpx.ReadTimeout("lost")] * 6)
    with pytest.raises(NoAnswer, match="not known") as raised:
        played(lost, lambda one: one.cancel(ID))
    assert raised.value.may_be_applied
    with pytest.raises(NotFound):
        played(Api([(404, problem | {"status": 404})]), lambda one: one.cancel(ID))


def test_a_deleted_connection_is_deleted_though_the_first_answer_was_lost(played: Any) -> None:
    none = {"type": "urn:delayer:problem:not-found", "title": "t", "status": 404, "detail": "d"}
    played(Api([httpx.ReadTimeout("lost"), (404, none)]), lambda one: one.connections.delete("crm"))
    with pytest.raises(NotFound):
        played(Api([(404, none)]), lambda one: one.connections.delete("crm"))


def test_what_cannot_be_repeated_says_where_to_look(played: Any) -> None:
    api = Api([httpx.ReadTimeout("lost")])
    with pytest.raises(NoAnswer) as raised:
        played(api, lambda one: one.rotate_signing_secret())
    assert "signing_secret()" in raised.value.__notes__[0]
    assert len(api.requests) == 1


def test_a_list_fetches_its_pages_as_they_are_needed(played: Any) -> None:
    pages: Answers = [(200, {"schedules": [SCHEDULED] * 2, "nextCursor": "c"}), (200, {"schedules": [SCHEDULED]})]
    api = Api(pages)
    assert len(played(api, lambda one: one.list(group="g", since=START, page_size=2))) == 3
    assert [dict(one.url.params) for one in api.requests] == [
        {"group": "g", "from": "2026-11-21T09:00:00Z", "limit": "2"},
        {"group": "g", "from": "2026-11-21T09:00:00Z", "limit": "2", "cursor": "c"},
    ]


def test_a_batch_has_a_result_for_each(played: Any) -> None:
    problem = {"type": "urn:delayer:problem:invalid", "title": "t", "status": 422, "detail": "d"}
    api = Api([(200, {"results": [{"status": 201, "schedule": SCHEDULED}, {"status": 422, "problem": problem}]})])
    new = [
        NewSchedule(action=HttpRequest(url="https://x/"), delay=1),
        NewSchedule(action=HttpRequest(url="x"), delay=1),
    ]
    good, bad = played(api, lambda one: one.batch(new))
    assert (good.schedule.id, good.error) == (ID, None)
    assert isinstance(bad.error, Invalid)
    sent = json.loads(api.requests[0].content)["schedules"]
    assert len({one["idempotencyKey"] for one in sent}) == 2


def test_it_waits_until_a_schedule_has_ended(played: Any) -> None:
    executed = {**SCHEDULED, "state": "executed"}
    api = Api([(200, SCHEDULED)] * 12 + [(200, executed)])
    assert played(api, lambda one: one.wait(ID)).state == "executed"
    assert max(api.waits) == 30
    assert api.now() > START + timedelta(minutes=5)
    with pytest.raises(NotEnded, match="still scheduled"):
        played(Api([(200, SCHEDULED)] * 99), lambda one: one.wait(ID, timeout=60))


def test_a_job_is_waited_for(played: Any) -> None:
    counts: dict[str, Any] = dict.fromkeys(["found", "cancelled", "handedOver", "ended"], 0)
    job = counts | {"jobId": "j", "group": "g", "state": "running", "createdAt": "2026-11-21T09:00:00Z"}
    done = {**job, "state": "done"}
    assert played(Api([(200, job), (200, job), (200, done)]), lambda one: one.groups.wait("j")).state == "done"
    with pytest.raises(TimeoutError):
        played(Api([(200, job)] * 99), lambda one: one.groups.wait("j", timeout=timedelta(seconds=3)))


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda one: one.schedule(HttpRequest(url="https://x/")), "exactly one of at, delay and when"),
        (lambda one: one.schedule(HttpRequest(url="https://x/"), at=START, delay=1), "exactly one"),
        (lambda one: one.schedule(HttpRequest(url="https://x/"), at=datetime(2026, 1, 1)), "no time zone"),  # noqa: DTZ001
        (lambda one: one.schedule(HttpRequest(url="https://x/"), delay=1, window=0.5), "whole seconds"),
        (lambda one: one.change(ID), "what is to change"),
        (lambda one: one.change(ID, at=START, delay=1), "not both"),
        (lambda one: one.series.change(ID), "what is to change"),
        (lambda one: one.batch([]), "1 to 100"),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is_sent(
    played: Any, use: Callable[[Any], Awaitable[None]], says: str
) -> None:
    api = Api([])
    with pytest.raises(WrongArgument, match=says):
        played(api, use)
    assert api.requests == []


def test_what_is_not_delayer_is_found_out(played: Any) -> None:
    with pytest.raises(NotUnderstood):
        played(Api([(200, {"hello": "world"})]), lambda one: one.get(ID))


def test_the_url_the_owner_and_the_token_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("URL", "https://stack/base/"), ("OWNER", "me"), ("TOKEN", "secret")):
        monkeypatch.setenv(f"DELAYER_{name}", value)
    api = Api([(200, SCHEDULED), (200, SCHEDULED)])
    delayer = Delayer(transport=httpx.MockTransport(api.answer))
    delayer.get("a/b")
    [request] = api.requests
    assert request.url.raw_path == b"/base/schedules/a%2Fb"
    assert (request.headers["Delayer-Owner"], request.headers["Authorization"]) == ("me", "Bearer secret")
    tokens = iter(["first", "second"])
    renewed = Delayer("https://x", credentials=Token(lambda: next(tokens)), transport=httpx.MockTransport(api.answer))
    renewed.get(ID)
    assert api.requests[1].headers["Authorization"] == "Bearer first"
    assert "secret" not in repr(Token("secret"))


@pytest.mark.parametrize(
    "url", ["localhost:8080", "ftp://x", "https://", "delayer", "http://[::1", "http://localhost:abc"]
)
def test_a_url_that_is_none_is_said_at_once(url: str) -> None:
    with pytest.raises(WrongArgument, match="like http://localhost:8080"):
        Delayer(url)


def test_nothing_is_repeated_if_that_is_wished() -> None:
    api = Api([httpx.ConnectError("refused")])
    delayer = Delayer("http://api", retrying=Retrying(times=0), transport=httpx.MockTransport(api.answer))
    with pytest.raises(NoAnswer, match="once"):
        delayer.get(ID)


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ({"a": [1.0, float("nan")]}, r"payload\.a\[1\] is nan"),
        (float("inf"), "payload is inf"),
        (Decimal("1.50"), "is a Decimal"),
        ({"a": b"x"}, r"payload\.a is a bytes"),
        ({1: 2}, "the name 1"),
        ("\ud800", "half a character"),
        ({"\ud800": 1}, "half a character"),
    ],
)
def test_what_json_does_not_have_is_refused_and_not_altered(payload: Any, says: str) -> None:
    api = Api([])
    with pytest.raises(WrongArgument, match=says):
        in_sync(api, lambda one: one.schedule(HttpRequest(url="https://x/"), delay=1, payload=payload))
    assert api.requests == []


def test_a_text_of_ones_own_encoder_is_sent_byte_for_byte() -> None:
    api = Api([(201, SCHEDULED)])
    raw = msgspec.Raw(b"[12345678901234567.125, 1.10]")
    in_sync(api, lambda one: one.schedule(HttpRequest(url="https://x/"), delay=1, payload=raw))
    assert b"[12345678901234567.125, 1.10]" in api.requests[0].content


@pytest.mark.parametrize("key", ["", "é", "a\nb"])
def test_a_key_that_is_none_is_refused_and_not_replaced(key: str) -> None:
    api = Api([])
    new = NewSchedule(action=HttpRequest(url="https://x/"), delay=1, idempotency_key=key)
    for use in (
        lambda one: one.schedule(new.action, delay=1, idempotency_key=key),
        lambda one: one.batch([new]),
        lambda one: one.change(ID, delay=1, idempotency_key=key),
    ):
        with pytest.raises(WrongArgument, match="idempotency key"):
            in_sync(api, use)


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_an_id_is_never_another_path(name: str) -> None:
    for use in (lambda one: one.get(name), lambda one: one.cancel(name), lambda one: one.connections.delete(name)):
        with pytest.raises(WrongArgument, match="not empty"):
            in_sync(Api([]), use)


def test_a_refusal_after_a_lost_answer_says_that_it_may_be_applied() -> None:
    api = Api([httpx.ReadTimeout("lost"), (403, {"message": "Forbidden"}), (403, {"message": "Forbidden"})])
    with pytest.raises(NotAllowed, match="not known whether it was carried out") as unclear:
        in_sync(api, lambda one: one.schedule(HttpRequest(url="https://x/"), delay=1))
    assert unclear.value.may_be_applied
    with pytest.raises(NotAllowed) as clear:
        in_sync(api, lambda one: one.schedule(HttpRequest(url="https://x/"), delay=1))
    assert not clear.value.may_be_applied


def test_an_exception_crosses_processes() -> None:
    with pytest.raises(NotAllowed) as raised:
        in_sync(Api([(403, {"message": "Forbidden"})]), lambda one: one.get(ID))
    for error in (raised.value, NoAnswer("lost", may_be_applied=True)):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.may_be_applied) == (str(error), error.may_be_applied)


def test_no_secret_is_in_what_is_printed() -> None:
    secret = "hunter2-hunter2"
    shown = [
        BearerConnection(token=secret),
        BasicConnection(username="me", password=secret),
        ApiKeyConnection(header_name="X-Key", value=secret),
        OAuth2Connection(token_url="https://x/", client_id="me", client_secret=secret),
        SigningSecret(current=secret, previous=secret),
        HttpRequest(url="https://x/", headers={"Authorization": secret, "X-Team": "a"}),
        Action("http-request", url="https://x/", headers={"cookie": secret}),
        Token(secret),
    ]
    assert secret not in repr(shown)
    assert "'X-Team': 'a'" in repr(shown)


@pytest.mark.parametrize("url", ["http://stack.example", "http://10.0.0.1:8080"])
def test_a_token_is_not_sent_where_everybody_can_read_it(url: str) -> None:
    with pytest.raises(NoCredentials, match="https only"):
        Delayer(url, credentials=Token("t"))
    for here in ("http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080", "https://stack.example"):
        assert Delayer(here, credentials=Token("t"))


@pytest.mark.parametrize("owner", ["é", "a\nb"])
def test_an_owner_that_is_no_header_is_said(owner: str) -> None:
    with pytest.raises(WrongArgument, match="owner"):
        Delayer("http://localhost:8080", owner=owner)
