"""The webhook gets each failure, and what it does not take comes again."""

import json
from collections.abc import Iterator

import pytest

from delayer.extension.harness import FakeTarget, deliver, event, handler_in
from tests.cfn import ROOT

handler = handler_in(ROOT / "functions/subscriber-failed-webhook")


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeTarget]:
    monkeypatch.setenv("ALLOW_PRIVATE_TARGETS", "true")
    with FakeTarget([200]) as target:
        monkeypatch.setenv("SETTING", f"{target.url}/failed?of=reports")
        yield target


def test_it_posts_the_event(webhook: FakeTarget) -> None:
    failed = event("failed", attempt=10, detail="gave up after 10 attempts: HTTP 500")
    assert deliver(handler, failed) == []
    [request] = webhook.requests
    assert (request.method, request.path) == ("POST", "/failed?of=reports")
    assert request.headers["content-type"] == "application/cloudevents+json"
    assert request.headers["idempotency-key"] == failed.id
    assert request.headers["delayer-schedule-id"] == failed.schedule_id
    assert request.json() == failed.cloud_event
    assert request.json()["data"]["detail"] == "gave up after 10 attempts: HTTP 500"


def test_what_the_webhook_refuses_comes_again_and_its_neighbours_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOW_PRIVATE_TARGETS", "true")
    first, second, third = event("failed"), event("dead-lettered"), event("failed")
    with FakeTarget([200, 503, 200]) as target:
        monkeypatch.setenv("SETTING", target.url)
        assert deliver(handler, first, second, third) == [second]
        assert deliver(handler, second) == []
    assert [json.loads(one.body)["id"] for one in target.requests] == [first.id, second.id, third.id, second.id]


@pytest.mark.parametrize("status", [302, 400, 404, 429, 500])
def test_only_a_2xx_is_an_answer(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOW_PRIVATE_TARGETS", "true")
    failed = event("failed")
    with FakeTarget([status]) as target:
        monkeypatch.setenv("SETTING", target.url)
        assert deliver(handler, failed) == [failed]


def test_without_a_url_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SETTING", "")
    assert deliver(handler, event("failed")) == []


def test_it_reaches_no_private_address(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ALLOW_PRIVATE_TARGETS", "false")
    failed = event("failed")
    closed = handler_in(ROOT / "functions/subscriber-failed-webhook")
    with FakeTarget() as target:
        monkeypatch.setenv("SETTING", target.url)
        assert deliver(closed, failed) == [failed]
    assert target.requests == []
    assert "not a public address" in capsys.readouterr().err
