"""The machine of a fake: Delayer's own code in one process, under a clock that is moved by hand.

Nothing takes time, and nothing fails. What is done each minute is done when there is something to do.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from attrs import define, field

from delayer.actions.rules.foreign import check
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import Registration
from delayer.engines.memory import MemoryObjects, MemoryObserver, MemorySeal, MemorySecrets, Tokens
from delayer.engines.sqlite.database import Database
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.schedule.instants import DAY, Millis
from delayer.series.ports import SeriesKey
from delayer.series.rules.series import PARTS, Directory
from delayer.series.use_cases.tick import Renew
from delayer.serve.turns.machine import LAYOUT, ApiCall, Machine
from delayer.serve.turns.parts import Around, Chosen
from delayer.wiring.build import build
from delayer_client.testing.attempts import Answers
from delayer_client.testing.clock import HandClock
from delayer_client.testing.targets import Targets

HTTP_TARGET: Final = "delayer.targets.http_request"
OTHER_STACK: Final = "arn:aws:cloudformation:eu-west-1:123456789012:stack/actions/1c2d"
SETTINGS: Final = {"API_AUTHORIZATION": "NONE", "ALLOW_PRIVATE_TARGETS": "true", "PRIVATE_TARGETS": ""}
WAKES: Final = "task-1minute-series"
LEAD: Final = 0  # an attempt takes no time, so nothing has to be ready before


class Observer(MemoryObserver):
    """Keeps what is wrong, and nothing else: a fake may run for long."""

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """Not kept."""

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """As the port."""
        self.lines.append((event, schedule_id, facts))

    def measure_lateness(self, lateness: Millis, metric: str = "Lateness") -> None:
        """Not kept."""


@define(eq=False)
class Unhurried:
    """Port Workers: attempts are made between two turns, one after the other."""

    machine: Machine
    attempts: deque[partial[None]]  # of all actions
    caught: type[BaseException] = Exception  # what an attempt may raise: all else goes up to whoever makes it
    _ended: list[tuple[int, object]] = field(factory=list, init=False)
    _left: int = field(default=0, init=False)

    def begin(self) -> None:
        """There is one invocation."""

    def start(self, number: int, do: Callable[[], object]) -> None:
        """As the port."""
        self.attempts.append(partial(self.make, number, do))

    def do(self, number: int, do: Callable[[], object]) -> None:
        """As the port."""
        self.machine.turns.do(do, lambda outcome: self._ended.append((number, outcome)))

    def make(self, number: int, do: Callable[[], object]) -> None:
        """One attempt."""
        outcome: object
        try:
            outcome = do()
        except self.caught as error:
            outcome = error
        self._ended.append((number, outcome))
        self._left += 1

    def ended(self, until: Millis | None) -> list[tuple[int, object]]:  # noqa: ARG002 - nothing takes time
        """As the port."""
        found, self._ended = self._ended, []
        return found

    def left(self) -> int:
        """How many have come to their end since it was asked last."""
        number, self._left = self._left, 0
        return number

    def leave_behind(self, number: int) -> None:
        """It has ended."""


@define(kw_only=True, slots=False)
class FakeStack:
    """A caller that moves its clock calls `settle` after that, and after each call."""

    start: Millis
    answers: Answers

    def __attrs_post_init__(self) -> None:
        self.clock = HandClock(self.start)
        self.observer = Observer()
        self.targets = Targets(clock=self.clock, ask_test=self.answers)
        self.attempts: deque[partial[None]] = deque()
        self.kinds: set[str] = set()
        tokens = Tokens()

        def randomness(number: int) -> bytes:
            tokens()
            return tokens.count.to_bytes(number, "big")

        around = Around(
            clock=self.clock,
            observer=self.observer,
            randomness=randomness,
            pick=lambda below: tokens.count % below,
            new_token=tokens,
            new_id=lambda: randomness(16).hex(),
            objects=MemoryObjects(),
            secrets=MemorySecrets(),
            seal=MemorySeal(),
        )
        self.machine = Machine(
            around=around,
            workers_for=lambda machine: Unhurried(machine, self.attempts),
            database=Database(layout=LAYOUT),
            environment=SETTINGS,
            chosen=Chosen(lead=LEAD, event_source="urn:delayer:fake"),
            targets=self._target_of,
            instead={HTTP_TARGET: {"HttpTarget": lambda **_: self.targets}},
            each_minute=False,
        )
        self.renew = build(Renew, self.machine.ports(WAKES))
        self.wakes_at: Millis = 0  # when the series that wait for a far time are looked at

    def _target_of(self, kind: str) -> Any:
        """Of an http-request its executor, up to the connection."""
        if kind == "http-request":
            self.targets.http = self.machine.function("executor-http-request").handler.target
        return self.targets

    def register(self, kind: str, schema: Mapping[str, Any]) -> None:
        """An action type of another stack, by the JSON Schema of its fields. Raises Unsafe, as its deployment fails."""
        fields = {"type": {"const": kind}, **schema.get("properties", {})}
        required = [*dict.fromkeys(("type", *schema.get("required", ())))]
        whole = {"type": "object", "additionalProperties": False, **schema, "required": required, "properties": fields}
        action = ActionType(type=kind, schema=json.dumps(whole))
        check(action)
        rows = self.machine.ports("deploy-action-registrar").action_rows
        rows.write(kind, (Registration(action=action, stack=OTHER_STACK, token=kind),), ())

    # ------------------------------------------------------------ what happens

    def call(self, function: str, request: ApiRequest) -> Response:
        """One call of the API."""
        answered: list[Response] = []
        self.machine.turn([ApiCall(function=function, request=request, answer=answered.append)], calls_only=True)
        self._look_for_waiting()
        return answered[0]

    def settle(self) -> None:
        """Lets everything happen that happens at this moment."""
        moved = True
        while moved:
            moved = self.machine.turn()
            while self.attempts:
                self.attempts.popleft()()
                moved = True
            if self.wakes_at and self.wakes_at <= self.clock.now():
                self.wakes_at, moved = 0, True
                self._wake()
        self._look_for_waiting()

    def run_until(self, instant: Millis) -> None:
        """From one thing that happens to the next, up to an instant."""
        self.settle()
        while (following := self.next_at()) is not None and following <= instant:
            self.clock.jump(following)
            self.settle()
        self.clock.jump(instant)

    def next_at(self) -> Millis | None:
        """When the next thing happens."""
        instants = [self.machine.next_at(), self.wakes_at or None]
        return min((one for one in instants if one is not None), default=None)

    # ------------------------------------------------------------ series that wait for a far time

    def _look_for_waiting(self) -> None:
        """A series may have come to wait for a time that is years ahead. All are looked at a day later."""
        if not self.wakes_at and self._waiting():
            self.wakes_at = self.clock.now() + DAY

    def _wake(self) -> None:
        for key in self._waiting():
            self.renew.wake(key)

    def _waiting(self) -> list[SeriesKey]:
        return [key for part in range(PARTS[Directory.WAITING]) for key in self._listed(part)]

    def _listed(self, part: int) -> Iterator[SeriesKey]:
        upkeep = self.machine.ports(WAKES).series_upkeep
        page = upkeep.listed(Directory.WAITING, part)
        yield from page.keys
        while page.more:
            page = upkeep.listed(Directory.WAITING, part, page.more)
            yield from page.keys
