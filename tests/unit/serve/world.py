"""A machine under a clock that is moved by hand, in memory or on a file; lives of it, one after the other."""

import json
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field

from delayer.actions.rules.model import Done, Result
from delayer.engines.memory import MemoryObjects, MemorySecrets, Tokens
from delayer.engines.sqlite.database import MEMORY, Database, connect
from delayer.engines.sqlite.secrets import KeyRing, KeySeal
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest, Caller
from delayer.schedule.instants import Millis, format_instant
from delayer.schedule.messages import ExecutorMessage
from delayer.serve.turns.machine import LAYOUT, ApiCall, Machine
from delayer.serve.turns.parts import Around
from delayer_client.testing.clock import HandClock
from delayer_client.testing.stack import SETTINGS, Observer, Unhurried

START: Millis = 1_800_000_000_000
URL = "https://example.com/hook"


@define(kw_only=True, eq=False, slots=False)
class World:
    """One life of a machine, and its target."""

    path: str = MEMORY
    clock: HandClock = field(factory=lambda: HandClock(START))
    tokens: Tokens = field(factory=Tokens)
    objects: MemoryObjects = field(factory=MemoryObjects)
    target: Callable[[ExecutorMessage], Result] = lambda _: Done("done")
    settings: Mapping[str, Any] = field(factory=dict)  # of the machine
    connections: list[Any] = field(factory=list, init=False)  # to its file; the first one writes
    reached: list[tuple[str, Millis]] = field(factory=list)  # schedule and instant
    attempts: deque[Any] = field(factory=deque, init=False)

    def __attrs_post_init__(self) -> None:
        self.observer = Observer()
        around = Around(
            clock=self.clock,
            observer=self.observer,
            randomness=self._random,
            pick=lambda below: self.tokens.count % below,
            new_token=self.tokens,
            new_id=lambda: self._random(16).hex(),
            objects=self.objects,
            secrets=MemorySecrets(),
            seal=KeySeal(keys=KeyRing(keys=(b"k" * 32,))),
        )
        self.machine = Machine(
            around=around,
            workers_for=lambda machine: Unhurried(machine, self.attempts),
            database=Database(path=self.path, layout=LAYOUT, connect=self._connect),
            environment=SETTINGS,
            targets=lambda _kind: self._reach,
            each_minute=False,
            **self.settings,
        )

    def _connect(self, path: str) -> Any:
        self.connections.append(connect(path))
        return self.connections[-1]

    def _random(self, number: int) -> bytes:
        self.tokens()
        return self.tokens.count.to_bytes(number, "big")

    def _reach(self, message: ExecutorMessage) -> Result:
        self.reached.append((message.schedule.id, self.clock.now()))
        return self.target(message)

    def call(self, function: str, body: object = None, **parameters: str) -> Response:
        answered: list[Response] = []
        request = ApiRequest(
            body=b"" if body is None else json.dumps(body).encode(),
            parameters=parameters,
            caller=Caller(address="127.0.0.1"),
        )
        self.machine.turn([ApiCall(function=function, request=request, answer=answered.append)], calls_only=True)
        return answered[0]

    def post(self, at: Millis, **more: object) -> str:
        """The id of a schedule that is due then."""
        body = {"pointInTime": format_instant(at), "action": {"type": "http-request", "url": URL}, **more}
        made = self.call("api-schedule-post", body)
        assert made.status == 201, made.body
        return str(json.loads(made.body)["scheduleId"])

    def state(self, schedule_id: str) -> str:
        return str(json.loads(self.call("api-schedule-get", id=schedule_id).body)["state"])

    def settle(self) -> None:
        """All that happens at this moment."""
        moved = True
        while moved:
            moved = self.machine.turn()
            while self.attempts:
                self.attempts.popleft()()
                moved = True

    def run_until(self, instant: Millis, step: Millis | None = None) -> None:
        """`step`: it looks so often, whatever the machine says."""
        self.settle()
        while (following := self._next(step)) is not None and following <= instant:
            self.clock.jump(following)
            self.settle()
        self.clock.jump(instant)

    def _next(self, step: Millis | None) -> Millis | None:
        return self.clock.now() + step if step else self.machine.next_at()

    def next_life(self) -> "World":
        """After a crash of this one: what was not committed never was."""
        if self.machine.database.is_dirty:
            self.machine.database.rollback()
        self.machine.database.close()
        return World(
            path=self.path,
            clock=self.clock,
            tokens=self.tokens,
            objects=self.objects,
            target=self.target,
            settings=self.settings,
            reached=self.reached,
        )
