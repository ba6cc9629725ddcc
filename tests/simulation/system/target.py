"""The world outside: takes it, refuses it, is slow, or fails, as chance has it."""

import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import define

from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.schedule.instants import SECOND
from delayer.schedule.messages import ExecutorMessage
from tests.simulation.engine.kernel import current

if TYPE_CHECKING:
    from tests.simulation.system.stack import Stack


@define
class Target:
    """Port Target. What reaches it is reported to the watch at that moment."""

    stack: "Stack"

    def __call__(self, message: ExecutorMessage) -> Result:
        chance, kernel = self.stack.chance, self.stack.kernel
        label = f"target {message.attempt}"
        if self.stack.watch.killers.get(message.schedule.id) == "execute":
            self.stack.die(self.stack.watch.name(message.schedule.id))
        self.stack.watch.reached(message, current().invocation)
        host = urlsplit(json.loads(message.schedule.definition.action)["url"]).hostname
        if any(one.host == host and one.since <= kernel.now < one.until for one in self.stack.weather.dead):
            self.stack.watch.turned_down(message, for_good=False, asked=None)
            return Retry(detail=f"no answer from {host}", is_outage=True)
        if chance.surprise(f"{label} slow", self.stack.weather.target / 3):
            kernel.wait_until(kernel.now + chance.whole(f"{label} how slow", SECOND, 12 * SECOND))
        if chance.surprise(f"{label} fails", self.stack.weather.target):
            self.stack.log(
                "target", f"does not take attempt {message.attempt} of {self.stack.watch.name(message.schedule.id)}"
            )
            kind = chance.part(f"{label} how")
            asked = self._asks(label) if kind >= 0.3 else None
            self.stack.watch.turned_down(message, for_good=kind < 0.15, asked=asked, reached=not 0.15 <= kind < 0.3)
            if kind < 0.15:
                return Refused("HTTP 404")
            if kind < 0.3:
                raise OverflowError("a defect of the executor")
            is_outage = asked is None and chance.part(f"{label} is broken") < 0.7
            return Retry(detail="HTTP 503" if is_outage else "HTTP 429", after_seconds=asked, is_outage=is_outage)
        return Done("HTTP 200")

    def _asks(self, label: str) -> int | None:
        """`Retry-After`, of seconds or of hours."""
        if self.stack.chance.part(f"{label} asks") >= self.stack.weather.asks:
            return None
        return self.stack.chance.one_of(f"{label} asks for", (0, 30, 901, 2700, 2 * 3600, 6 * 3600))
