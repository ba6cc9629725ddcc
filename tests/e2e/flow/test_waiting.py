"""What is due waits while its owner is suspended, or while nobody answers at its target; then it fires."""

from typing import Any

import pytest

from delayer.flow.rules.comeback import IN_A_ROW
from delayer.schedule.instants import SECOND, Millis, format_instant
from delayer_client import Backoff, HttpRequest, Retry, Retrying, Schedule
from delayer_client.api.models import Waiting
from local.receiver import Receiver
from tests.e2e.client import Client, millis, now, until

MANY = 20  # so that one environment has five of them


def flow(client: Client, *arguments: str) -> str:
    """As an operator gives the command."""
    return client.commanded("flow", *arguments)


def posted(client: Client, owner: str, url: str, due: Millis, **more: Any) -> str:
    return client.delayer_of(owner).schedule(HttpRequest(url=url), at=format_instant(due), **more).id


def waits(client: Client, owner: str, schedule_id: str) -> tuple[Schedule, Waiting]:
    """The schedule, and what it waits for, once it says so."""
    found = until(lambda: client.delayer_of(owner, Retrying()).get(schedule_id), lambda one: one.waiting)
    assert found.waiting
    return found, found.waiting


def cancelled(client: Client, owner: str, schedule_id: str) -> Schedule:
    answer = client.delayer_of(owner).cancel(schedule_id)
    assert answer.schedule, answer
    return answer.schedule


def test_a_suspended_owner_waits_and_says_so_and_nobody_else_does(client: Client) -> None:
    """It takes seconds: every environment has to know it, and each command is a process."""
    said = flow(client, "suspend", "--owner", "floods", "--reason", "it floods", "--by", "eve")
    assert "it floods" in said
    due = now() + client.known
    url = client.receiver.url
    first, second = (posted(client, "floods", f"{url}/floods-{name}", due) for name in ("kept", "cancelled"))
    posted(client, "calm", f"{url}/calm", due)
    client.arrivals("/calm")
    found, waiting = waits(client, "floods", first)
    assert found.overdue is True
    assert found.state == "enqueued"
    assert millis(waiting.since) <= due
    assert (waiting.for_, waiting.reason, waiting.until) == ("suspension", "it floods", None)
    assert "it floods" in flow(client, "list")
    assert cancelled(client, "floods", second).state == "cancelled"
    assert client.receiver.of("/floods-kept") == []
    assert "Released:" in flow(client, "release", "--owner", "floods")
    client.arrivals("/floods-kept")
    found = client.ended(first, "executed", owner="floods")
    assert (found.attempt, found.waiting) == (1, None)
    assert client.receiver.of("/floods-cancelled") == []
    assert "There is no such suspension." in flow(client, "release", "--owner", "floods")


@pytest.fixture
def dead() -> str:
    """The URL of a target at which nobody listens."""
    with Receiver() as receiver:
        return receiver.url


def counted(schedule: Schedule) -> int:
    """Its attempts, without those that were probes."""
    return (schedule.attempt or 0) - (schedule.probes or 0)


@pytest.mark.thorough
def test_a_dead_target_is_left_alone_until_it_is_back(client: Client, dead: str) -> None:
    """It takes up to a minute: probes are made at a distance."""
    host = dead.removeprefix("http://")
    retry = Retry(max_attempts=3, backoff=Backoff(first=5, factor=1, max=5))
    due = now() + SECOND
    many = [posted(client, "unlucky", f"{dead}/many", due, retry=retry) for _ in range(MANY)]
    until(lambda: flow(client, "list"), lambda said: f"http-request {host}" in said)
    opened = now()
    late = posted(client, "unlucky", f"{dead}/late", opened + client.known)
    gone = posted(client, "unlucky", f"{dead}/gone", opened + client.known)
    found, waiting = waits(client, "unlucky", late)
    assert found.state == "enqueued", "unclaimed"
    assert waiting.for_ == "circuit"
    assert f"no answer from {host}" in waiting.reason
    cancelled(client, "unlucky", gone)
    with Receiver(int(host.rpartition(":")[2])) as back:
        arrived = back.wait_for(MANY, "/many", seconds=90)
        back.wait_for(1, "/late", seconds=60)
        *first, last = [client.ended(one, "executed", owner="unlucky") for one in (*many, late)]
        assert back.of("/gone") == []
    assert len(arrived) == MANY, "each once"
    attempts = [counted(one) for one in first]
    assert max(attempts) <= 3
    assert attempts.count(3) <= 3, "what only waited, or has probed, has used up no attempt"
    assert sum(attempts) - MANY >= IN_A_ROW, "so many have failed before"
    assert counted(last) == 1
    said = flow(client, "list")
    assert f"http-request {host}" not in said or "coming back" in said
