"""A machine in memory, under a clock that is moved by hand."""

import json
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from delayer.actions.rules.model import Done
from delayer.engines.memory import ManualClock, MemoryObjects, MemoryObserver, MemorySecrets, Tokens
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.secrets import KeyRing, KeySeal
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest, Caller
from delayer.schedule.instants import Millis
from delayer.serve.beside.events import route
from delayer.serve.turns.machine import LAYOUT, ApiCall, Machine
from delayer.serve.turns.parts import Around
from delayer_client.testing.stack import SETTINGS, Unhurried

START: Final[Millis] = 1_800_000_000_000
HERE: Final = "127.0.0.1"


class Running:
    """A machine and its time."""

    def __init__(self, database: Database | None = None, at: Millis = START, **given: Any) -> None:
        self.clock, self.observer = ManualClock(at), MemoryObserver()
        self.objects = MemoryObjects()
        self.started: deque[partial[None]] = deque()
        self.database = database or Database(layout=LAYOUT)
        tokens = Tokens()

        def randomness(number: int) -> bytes:
            tokens()
            return (at + tokens.count).to_bytes(number, "big")

        around = Around(
            clock=self.clock,
            observer=self.observer,
            randomness=randomness,
            pick=lambda below: tokens.count % below,
            new_token=tokens,
            new_id=lambda: randomness(16).hex(),
            objects=self.objects,
            secrets=MemorySecrets(),
            seal=KeySeal(keys=KeyRing(keys=(b"k" * 32,))),
        )
        self.machine = Machine(
            **{
                "around": around,
                "workers_for": lambda machine: Unhurried(machine, self.started, BaseException),
                "database": self.database,
                "environment": SETTINGS,
                "targets": lambda _: lambda _message: Done("done"),
                "each_minute": False,
                **given,
            }
        )

    def call(
        self, method: str, path: str, body: object = None, owner: str = "", query: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Status and body."""
        routed = route(method, path)
        request = ApiRequest(
            route=routed.route,
            path=path,
            parameters=routed.parameters,
            query=query or {},
            headers={"delayer-owner": owner} if owner else {},
            body=b"" if body is None else json.dumps(body).encode(),
            caller=Caller(address=HERE),
        )
        answers: list[Response] = []
        self.machine.turn([ApiCall(function=routed.function, request=request, answer=answers.append)])
        return answers[0].status, json.loads(answers[0].body)

    def schedule(self, delay: int = 0, owner: str = "", **fields: Any) -> str:
        """Its id."""
        body = {"delaySeconds": delay, "action": {"type": "http-request", "url": "https://example.com/"}, **fields}
        status, shown = self.call("POST", "/schedules", body, owner)
        assert status == 201, shown
        return str(shown["scheduleId"])

    def settle(self) -> None:
        """Lets all happen that happens now."""
        for _ in range(10_000):
            moved = self.machine.turn()
            while self.started:
                self.started.popleft()()
                moved = True
            if not moved:
                return
        raise AssertionError("it never comes to rest")

    def run(self, millis: Millis) -> None:
        """From one thing that happens to the next."""
        until = self.clock.now() + millis
        self.settle()
        while (following := self.machine.next_at()) is not None and following <= until:
            self.clock.at = max(self.clock.at, following)
            self.settle()
        self.clock.at = until

    def warned(self, what: str) -> list[Any]:
        """The facts of these lines."""
        return [line for line in self.observer.lines if line[0] == what]
