"""Events of one machine: read by `GET /events`, and posted to one receiver, in order and at least once."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from standardwebhooks import Webhook

from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND
from delayer.serve.beside.events import BATCH, READER, Receiver, receiver_of
from delayer.serve.data.space import MEGABYTE, Space
from delayer.serve.refusal import Refusal
from delayer.serve.turns.machine import TIMING
from delayer.targets.http_request import NoReply, Request
from tests.unit.serve.machines import Running


def subjects(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["type"].rpartition(".")[2], one["subject"]) for one in body["events"]]


# ------------------------------------------------------------ GET /events


def test_events_come_in_order_and_page_by_page() -> None:
    running = Running()
    ids = [running.schedule(60) for _ in range(5)]
    running.run(2 * MINUTE)
    status, whole = running.call("GET", "/events")
    assert status == 200
    assert [subject for kind, subject in subjects(whole) if kind == "scheduled"] == ids
    assert {kind for kind, _ in subjects(whole)} == {"scheduled", "enqueued", "claimed", "executed"}
    found, after = list[tuple[str, str]](), "0"
    while True:
        _, page = running.call("GET", "/events", query={"after": after, "limit": "3"})
        assert len(page["events"]) <= 3
        if not page["events"]:
            break
        found += subjects(page)
        after = str(page["next"])
    assert found == subjects(whole)
    assert page["next"] == whole["next"] == int(after)


def test_only_those_of_the_owner_who_asks() -> None:
    running = Running()
    mine, theirs = running.schedule(60, owner="me"), running.schedule(60, owner="they")
    assert subjects(running.call("GET", "/events", owner="me")[1]) == [("scheduled", mine)]
    assert subjects(running.call("GET", "/events", owner="they")[1]) == [("scheduled", theirs)]
    nothing = running.call("GET", "/events", owner="others")[1]
    assert nothing["events"] == []
    assert nothing["next"] == running.machine.feed.last


def test_what_is_not_kept_is_said() -> None:
    running = Running()
    running.schedule(3 * DAY // SECOND)
    running.clock.move(DAY)
    last = running.schedule(HOUR // SECOND)
    running.settle()
    feed = running.machine.feed
    assert feed.forget(running.clock.now() - HOUR, list(feed.cursors), 10) == 1
    status, problem = running.call("GET", "/events", query={"after": "0"})
    assert (status, problem["type"]) == (410, "urn:delayer:problem:events-forgotten")
    assert f"Go on with after={problem['next']}" in problem["detail"]
    for query in ({"after": str(problem["next"])}, {}):
        assert subjects(running.call("GET", "/events", query=query)[1]) == [("scheduled", last)]


@pytest.mark.parametrize("query", [{"after": "-1"}, {"after": "x"}, {"limit": "0"}, {"limit": "1001"}, {"after": "²"}])
def test_wrong_questions_are_refused(query: dict[str, str]) -> None:
    status, problem = Running().call("GET", "/events", query=query)
    assert status == 422
    assert [one["field"] for one in problem["errors"]] == [*query]


def test_other_methods_are_refused() -> None:
    assert Running().call("POST", "/events")[0] == 405


def test_the_secret_of_the_receiver_is_none_of_an_owner() -> None:
    running = Running()
    status, all_events = running.call("GET", "/events/signing-secret")
    assert status == 200
    assert all_events["current"] != running.call("GET", "/signing-secret")[1]["current"]
    with_tokens = Running(
        environment={"API_AUTHORIZATION": "TOKEN owner read write", "ALLOW_PRIVATE_TARGETS": "", "PRIVATE_TARGETS": ""}
    )
    assert with_tokens.call("GET", "/events/signing-secret")[0] == 403
    assert with_tokens.call("GET", "/events")[0] == 403


# ------------------------------------------------------------ --events URL


@define
class Inbox:
    """Somebody who receives events."""

    posts: list[tuple[Request, bytes]] = field(factory=list)
    answers: list[int | str] = field(factory=list)  # of the next POSTs; a text: no answer

    def ask(self, request: Request, body: bytes, at_most: int) -> tuple[int, bytes]:
        self.posts.append((request, body))
        answer = self.answers.pop(0) if self.answers else 204
        if isinstance(answer, str):
            raise NoReply(answer)
        return answer, b""

    @property
    def receiver(self) -> Receiver:
        return Receiver(url="http://127.0.0.1:9/", ask=self.ask)

    @property
    def numbers(self) -> list[str]:
        return [event["id"] for _, body in self.posts for event in json.loads(body)]


def test_all_events_of_all_owners_are_posted_once_in_order() -> None:
    inbox = Inbox()
    running = Running(receiver=inbox.receiver)
    for number in range(5):
        running.schedule(60, owner=f"owner-{number % 2}")
    running.run(2 * MINUTE)
    assert len(inbox.numbers) == len(set(inbox.numbers)) == 5 * 4
    assert sum("scheduled" in json.dumps(json.loads(body)[0]["type"]) for _, body in inbox.posts) >= 1
    assert running.machine.next_at() is None


def test_posts_are_signed_batches() -> None:
    inbox = Inbox()
    running = Running(receiver=inbox.receiver)
    for _ in range(250):
        running.machine.turn()
        running.schedule(60)
    running.settle()
    assert max(len(json.loads(body)) for _, body in inbox.posts) == 100
    secret = running.call("GET", "/events/signing-secret")[1]["current"]
    for request, body in inbox.posts:
        assert request.headers["Content-Type"] == BATCH
        at = datetime.fromtimestamp(int(request.headers["Webhook-Timestamp"]), UTC)
        signature = Webhook(secret).sign(request.headers["Webhook-Id"], at, body.decode())
        assert signature in request.headers["Webhook-Signature"].split()
    assert len({request.headers["Webhook-Id"] for request, _ in inbox.posts}) == len(inbox.posts)


def test_what_is_not_taken_comes_again_later_each_time() -> None:
    inbox = Inbox(answers=["no answer", 500, 404, 302])
    running = Running(receiver=inbox.receiver)
    began = running.clock.now()
    running.schedule(HOUR // SECOND)
    times = list[int]()
    while len(inbox.posts) < 5:
        running.settle()
        times += [running.clock.now() - began] * (len(inbox.posts) - len(times))
        running.clock.at = running.machine.next_at() or running.clock.at
    assert times == [0, 1_000, 3_000, 7_000, 15_000]
    assert len({request.headers["Webhook-Id"] for request, _ in inbox.posts}) == 1
    assert [line[2]["why"] for line in running.warned("events cannot be posted")][:2] == ["no answer", "HTTP 500"]
    running.schedule(HOUR // SECOND)
    running.settle()
    assert len(inbox.posts) == 6


def test_a_receiver_that_is_away_keeps_no_turn_waiting() -> None:
    inbox = Inbox(answers=["no answer"] * 1_000)
    running = Running(receiver=inbox.receiver)
    schedule = running.schedule(60)
    running.run(2 * MINUTE)
    assert running.call("GET", f"/schedules/{schedule}")[1]["state"] == "executed"
    assert len(inbox.posts) < 12


@pytest.mark.parametrize("is_named", [True, False])
def test_no_receiver_that_is_away_or_gone_keeps_events_for_ever(tmp_path: Path, is_named: bool) -> None:
    """They are kept for a week: who has not taken them until then hears up to where some are missing (ADR 0188)."""
    inbox = Inbox(answers=[500] * 10_000)
    running = Running(receiver=inbox.receiver)
    running.schedule(60)
    running.run(MINUTE)
    assert running.machine.feed.cursor(READER) < running.machine.feed.last
    if not is_named:
        running = Running(running.database, running.clock.now())
    running.clock.move(8 * DAY)
    running.settle()
    space = Space(folder=tmp_path, free=lambda: 10**10, reserve=MEGABYTE)
    upkeep = running.machine.upkeep(space, lambda: 0)
    while upkeep.forget():
        pass
    assert len(running.database.read("SELECT number FROM changes", ())) <= 2


def test_a_reader_of_little_does_not_look_through_days_after_something_was_undone() -> None:
    running = Running()
    feed = running.machine.feed
    for _ in range(50):
        running.schedule(HOUR // SECOND)
        running.run(MINUTE)
    feed.database.begin()
    feed.database.rollback()
    assert len(feed.after(feed.cursor(TIMING), 1_000)) <= 2


def test_a_gap_is_warned_of() -> None:
    inbox = Inbox(answers=[500] * 3)
    running = Running(receiver=inbox.receiver)
    running.schedule(3 * DAY // SECOND)
    running.schedule(3 * DAY // SECOND)
    running.settle()
    running.clock.move(DAY)
    feed = running.machine.feed
    others = [one for one in feed.cursors if one != READER]
    assert feed.forget(running.clock.now(), others, 10) == 1
    inbox.answers.clear()
    running.run(HOUR)
    assert running.warned("events were not posted before they were forgotten")
    assert json.loads(inbox.posts[-1][1])[0]["type"].endswith("scheduled")
    assert feed.cursor(READER) == feed.last


def test_a_new_receiver_gets_what_happens_from_now_on() -> None:
    running = Running()
    running.schedule(HOUR // SECOND)
    running.settle()
    inbox = Inbox()
    later = Running(running.database, running.clock.now() + SECOND, receiver=inbox.receiver)
    schedule = later.schedule(HOUR // SECOND)
    later.settle()
    assert [one["subject"] for _, body in inbox.posts for one in json.loads(body)] == [schedule]


@pytest.mark.parametrize("url", ["ftp://x", "x", "http://", "https://me:secret@example.com/"])
def test_what_is_no_receiver_is_refused(url: str) -> None:
    with pytest.raises(Refusal, match="--events"):
        receiver_of(url)
