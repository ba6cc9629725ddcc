"""A console of a Delayer in memory, and a browser that is let in."""

import re
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import httpx
import uvicorn
from attrs import frozen
from starlette.testclient import TestClient

from delayer_client import AsyncDelayer, Delayer
from delayer_client.console import Place, application, serve
from delayer_client.console.guards.sessions import Sessions
from delayer_client.operator.dead_letters import DeadLetters
from delayer_client.operator.errors import NoCredentials
from delayer_client.testing import FakeDelayer
from delayer_client.transport.attempts import Retrying

HOST = "localhost:8080"
BODY = '{"v": 1, "schedule": {"owner": "alice", "action": "***"}}'
ORIGIN = f"http://{HOST}"


@frozen(kw_only=True)
class Console:
    """What a test needs."""

    fake: FakeDelayer
    browser: TestClient
    client: Delayer

    def page(self, path: str = "", status: int = 200) -> str:
        """The text of a page."""
        answer: httpx.Response = self.browser.get(f"/console{path}")
        assert answer.status_code == status, answer.text
        return answer.text

    def press(self, path: str, **fields: str) -> str:
        """The page that a form of the console leads to."""
        answer: httpx.Response = self.browser.post(f"/console{path}", data=fields, headers={"Origin": ORIGIN})
        assert answer.status_code == 200, answer.text
        return answer.text


@contextmanager
def console(
    operator: Any = None, sessions: Sessions | None = None, fake: FakeDelayer | None = None, **settings: Any
) -> Iterator[Console]:
    """With the session of a browser that has opened a page."""
    fake = fake or FakeDelayer()
    place = Place(
        url=fake.url,
        client=lambda owner: client_of(fake, owner, **settings),
        operator=operator or no_operator,
        chooses_owner=True,
        now=lambda: fake.now,
    )
    with TestClient(application(place, sessions), base_url=ORIGIN) as browser:
        yield Console(fake=fake, browser=browser, client=fake.client())


def client_of(fake: FakeDelayer, owner: str, **settings: Any) -> AsyncDelayer:
    """That repeats nothing."""
    return fake.async_client(owner=owner or None, retrying=Retrying(times=0), **settings)


def no_operator() -> Any:
    """As on a machine without AWS credentials."""
    raise NoCredentials("boto3 finds no AWS credentials. Set AWS_PROFILE.")


@contextmanager
def served(url: str, **settings: Any) -> Iterator[str]:
    """The address that `delayer console` prints, while its server runs."""
    servers: list[uvicorn.Server] = []
    starts = uvicorn.Server.startup

    async def startup(self: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        await starts(self, sockets)
        servers.append(self)

    said: list[str] = []
    with patch.object(uvicorn.Server, "startup", startup):
        given = {"url": url, "open_browser": False, "say": said.append, **settings}
        thread = Thread(target=serve, kwargs=given)
        thread.start()
        deadline = time.monotonic() + 20
        while not servers:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    yield re.findall(r"http://127\.0\.0\.1:\d+/console\?token=\S+", said[0])[0]
    servers[0].should_exit = True
    thread.join(20)


class OperatorFunction:
    """Stands in for operator-dead-letters: keeps what it was asked."""

    def __init__(self, letters: Mapping[str, str]) -> None:
        self.letters = dict(letters)  # reason by key
        self.asked: list[Mapping[str, Any]] = []
        self.at_a_time = 0  # that one call takes; 0: all

    def __call__(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """As the function answers."""
        self.asked.append(event)
        if event["command"] == "list":
            return {"deadLetters": [self._entry(key) for key in self.letters if key.startswith(event["prefix"])]}
        if event["command"] == "show":
            return {"key": event["key"], "reason": self.letters[event["key"]], "body": BODY}
        if "where" in event:
            return self._many(event)
        self.letters.pop(event["key"])
        return {"schedules": [{"outcome": f"{event['command']}ed".replace("eed", "en")}], "stillStored": False}

    def _entry(self, key: str) -> dict[str, str]:
        return {"key": key, "reason": self.letters[key], "scheduleId": "", "at": "2027-01-04T09:00:00Z"}

    def _many(self, event: Mapping[str, Any]) -> dict[str, Any]:
        reason = event["where"].get("reason", "")
        fits = [key for key, why in self.letters.items() if reason in why and key > event["after"]]
        rest: dict[str, Any] = {}
        if self.at_a_time and not event["dryRun"] and len(fits) > self.at_a_time:
            fits = fits[: self.at_a_time]
            rest = {"next": fits[-1]}
        done = {"redrive": "redriven", "discard": "discarded"}[event["command"]]
        if not event["dryRun"]:
            for key in fits:
                self.letters.pop(key)
        reasons = {self.letters.get(key, reason) for key in fits}
        found = {why: {"matched": list(self.letters.values()).count(why), "sample": fits[:3]} for why in reasons}
        counts = {"lookedAt": len(self.letters), "matched": len(fits), done: len(fits), "refused": {}}
        counts |= {"reasons": found} if event["dryRun"] else {}
        return {**counts, "until": "2027-01-04T10:00:00Z", **rest}

    def stack(self) -> Any:
        """An OperatorStack with this function alone."""
        return SimpleNamespace(name="delayer", dead_letters=DeadLetters(self))
