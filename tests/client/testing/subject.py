"""What the scenarios are held against: the fake, or a stack; and that each answer is one that `openapi.yaml` has."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol

import httpx
from attrs import frozen

from delayer.http.routing import DEFAULT, route_of
from tests.unit.series.calls import documented


class Subject(Protocol):
    """A Delayer with a target behind it."""

    @property
    def http(self) -> httpx.Client:
        """Calls its API."""

    @property
    def target(self) -> str:
        """The URL of a target that answers 200, unless a scenario says otherwise."""

    def answer(self, path: str, status: int, times: int = 1_000) -> None:
        """What the target answers the first times under a path."""

    def arrived(self, path: str) -> list[Mapping[str, str]]:
        """The headers of what has reached a path, names in lower case."""

    def pass_time(self, seconds: float) -> None:
        """Waits for real, or moves a clock."""

    def now(self) -> datetime:
        """What its clock says."""


@frozen
class Call:
    """Status, headers and body of an answer."""

    status: int
    headers: httpx.Headers
    body: dict[str, Any]


@frozen
class Api:
    """Calls a subject, and checks each answer against the contract."""

    subject: Subject
    path: str  # of the target: each scenario has its own

    def __call__(self, call: str, body: object = None, headers: Mapping[str, str] | None = None) -> Call:
        """`call` is such as `GET /schedules?limit=2`. A `body` of bytes is sent as it is."""
        method, url = call.split(" ", 1)
        sent = {"content": body} if isinstance(body, bytes) else {} if body is None else {"json": body}
        answer = self.subject.http.request(method, url, headers=headers, **sent)
        found = route_of(method, url.partition("?")[0])
        content = answer.json() if answer.content else {}
        if found.route != DEFAULT and answer.status_code != 204:
            errors = documented(found.route, answer.status_code).iter_errors(content)
            assert [error.message for error in errors] == [], f"{call}: {answer.status_code} {content}"
        return Call(answer.status_code, answer.headers, content)

    def ok(self, call: str, body: object = None, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The body of an answer that is 2xx."""
        answer = self(call, body, headers)
        assert 200 <= answer.status < 300, answer
        return answer.body

    def action(self, **more: object) -> dict[str, Any]:
        """A request to the target of this scenario."""
        return {"type": "http-request", "url": f"{self.subject.target}{self.path}", **more}

    def schedule(self, delay: float, **more: object) -> str:
        """The id of a new one."""
        body = {"delaySeconds": delay, "action": self.action(), **more}
        return str(self.ok("POST /schedules", body)["scheduleId"])

    def arrived(self, number: int) -> list[Mapping[str, str]]:
        """What has reached the target of this scenario, once it is so many."""
        self.until(lambda: len(self.subject.arrived(self.path)) >= number)
        return self.subject.arrived(self.path)

    def in_state(self, schedule_id: str, state: str) -> dict[str, Any]:
        """A schedule, once it is in a state."""
        self.until(lambda: self.ok(f"GET /schedules/{schedule_id}")["state"] == state)
        return self.ok(f"GET /schedules/{schedule_id}")

    def until(self, is_so: Callable[[], bool], seconds: float = 15) -> None:
        """Lets time pass until something is so."""
        step = 0.1
        for _ in range(round(seconds / step)):
            if is_so():
                return
            self.subject.pass_time(step)
        raise AssertionError(f"not so after {seconds} seconds: {self.subject.arrived(self.path)}")
