"""Operators' commands on an engine that runs: what the functions of operators do, and how it is (ADR 0129)."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic, sleep
from typing import Any, Final

from attrs import evolve, field, frozen

from delayer.dead_letters.commands import DONE, respond
from delayer.dead_letters.rules import PER_SECOND
from delayer.engines.ports import Clock, Unavailable
from delayer.schedule.instants import Millis
from delayer.serve.turns.machine import Machine
from delayer.serve.turns.turn import facts_of

DEAD_LETTERS: Final = "operator-dead-letters"
FUNCTIONS: Final = (DEAD_LETTERS, "operator-flow", "operator-owner-policy", "operator-id-key")
USAGE: Final = f'give {{"function": "{"|".join(FUNCTIONS)}", "event": {{…}}}} or {{"command": "status"}}'
ONE_STEP: Final[Millis] = -1  # a command for many is answered after one step: what is due waits for no more

Do = Callable[[], Any]


class WrongLine(ValueError):
    """The line on the socket is no command."""


@frozen
class Unpaced:
    """Port Clock, for a command for many. Its pace is kept between two turns: nothing waits within one."""

    clock: Clock

    def now(self) -> Millis:
        """As the port."""
        return self.clock.now()

    def sleep_until(self, instant: Millis) -> None:
        """Returns at once."""


@frozen(kw_only=True)
class OperatorCommands:
    """Carries them out, each in a turn. It is called by a thread that may wait.

    `in_turn` does something in a turn, and returns or raises what came of it, once that is on the disk.
    """

    machine: Machine
    in_turn: Callable[[Do], Any]
    status: Callable[[], Mapping[str, Any]]
    sleep: Callable[[float], None] = field(default=sleep)
    monotonic: Callable[[], float] = field(default=monotonic)

    def __call__(self, line: bytes) -> bytes:
        """The answer to a line of JSON, in one line. `failed`: it is not known whether the command was carried out."""
        try:
            answer = self._answer(_request(line))
        except WrongLine as error:
            answer = {"ok": False, "error": str(error)}
        except Unavailable as error:
            answer = {"failed": str(error)}
        except Exception as error:  # noqa: BLE001 - as a function of AWS that raises
            self.machine.observer.warn("an operator's command has failed", **facts_of(error))
            answer = {"failed": f"{type(error).__name__}: {error}"}
        return json.dumps(answer).encode() + b"\n"

    def _answer(self, given: Mapping[str, Any]) -> dict[str, Any]:
        if given.get("command") == "status":
            return {"ok": True, "result": dict(self.status())}
        function, event = given.get("function"), given.get("event")
        if function not in FUNCTIONS:
            raise WrongLine(USAGE)
        if function == DEAD_LETTERS and isinstance(event, dict) and "where" in event:
            return self._step(event)
        found: dict[str, Any] = self.in_turn(lambda: self.machine.function(function).handler(event, None))
        return found

    def _step(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """One of a command for many: whoever gives it asks for the next one, as on AWS after 40 seconds."""
        begun = self.monotonic()
        answer: dict[str, Any] = self.in_turn(partial(self._stepped, event))
        result = answer.get("result")
        if result and not event.get("dryRun"):
            schedules = result[DONE[event["command"]]] + sum(result["refused"].values())
            left = begun + schedules / event.get("perSecond", PER_SECOND) - self.monotonic()
            self.sleep(max(0.0, left))
        return answer

    def _stepped(self, event: Mapping[str, Any]) -> Any:
        bulk = self.machine.function(DEAD_LETTERS).bulk
        return respond(evolve(bulk, clock=Unpaced(self.machine.clock), budget=ONE_STEP), event)


def _request(line: bytes) -> Mapping[str, Any]:
    """Raises WrongLine."""
    try:
        given = json.loads(line)
    except ValueError:
        raise WrongLine(f"not a line of JSON: {USAGE}") from None
    if not isinstance(given, dict):
        raise WrongLine(USAGE)
    return given
