"""Time, order, logs, objects and secrets in memory."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from attrs import Factory, define

from delayer.engines.ports import Clock, Count, Lateness
from delayer.schedule.instants import Millis


@define
class ManualClock:
    """Tells the time that it is told. Sleeping moves it, so nothing ever waits."""

    at: Millis

    def now(self) -> Millis:
        return self.at

    def sleep_until(self, instant: Millis) -> None:
        self.at = max(self.at, instant)

    def move(self, by: Millis) -> None:
        """Time passes."""
        self.at += by


@define
class AtOnce:
    """Port Workers: each thing is done before the caller goes on. To wait moves the clock."""

    clock: Clock
    _ended: list[tuple[int, object]] = Factory(list)

    def begin(self) -> None:
        """Nothing is told of what an invocation has begun that died."""
        self._ended = []

    def start(self, number: int, do: Callable[[], object]) -> None:
        try:
            outcome = do()
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            outcome = error
        self._ended.append((number, outcome))

    do = start

    def ended(self, until: Millis | None) -> list[tuple[int, object]]:
        if not self._ended and until is not None:
            self.clock.sleep_until(until)
        found, self._ended = self._ended, []
        return found

    def leave_behind(self, number: int) -> None:
        """It has ended."""


@define
class Tokens:
    """Nonces `n1`, `n2`, … : each is new."""

    prefix: str = "n"
    count: int = 0

    def __call__(self) -> str:
        self.count += 1
        return f"{self.prefix}{self.count}"


@define
class MemoryObserver:
    """Remembers what it was told."""

    lines: list[tuple[str, str, dict[str, object]]] = Factory(list)  # event, schedule id, facts
    warnings: list[str] = Factory(list)
    counts: Counter[Count] = Factory(Counter)
    lateness: list[Millis] = Factory(list)  # of the metric Lateness
    canaries: list[tuple[Lateness, Millis]] = Factory(list)  # and relaxed schedules: of all other metrics

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        self.lines.append((event, schedule_id, facts))

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        self.note(event, schedule_id, **facts)
        self.warnings.append(event)

    def count(self, metric: Count, number: int = 1) -> None:
        self.counts[metric] += number

    def measure_lateness(self, lateness: Millis, metric: Lateness = "Lateness") -> None:
        if metric == "Lateness":
            self.lateness.append(lateness)
        else:
            self.canaries.append((metric, lateness))

    def observed(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """As Telemetry wraps a handler: here nothing is flushed, and nothing traced."""
        return handler


class MemoryObjects(dict[str, bytes]):
    """Keeps objects in memory."""

    def put(self, key: str, content: bytes) -> None:
        self[key] = content

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        return sorted(key for key in self if key.startswith(prefix) and key > after)[:at_most]

    def remove(self, key: str) -> None:
        self.pop(key, None)


@define
class MemorySecrets:
    """Keeps values in memory."""

    texts: dict[tuple[str, str], str] = Factory(dict)

    def create(self, owner: str, secret: str, text: str) -> None:
        self.texts.setdefault((owner, secret), text)

    def read(self, owner: str, secret: str) -> str | None:
        return self.texts.get((owner, secret))

    def delete(self, owner: str, secret: str) -> None:
        self.texts.pop((owner, secret), None)


@define
class MemorySeal:
    """Keeps each text here, which stands for itself by a number."""

    key: str = "1"
    texts: dict[str, tuple[str, str, str]] = Factory(dict)

    def sealed(self, text: str, about: str) -> str:
        number = f"sealed-{len(self.texts) + 1}"
        self.texts[number] = (self.key, text, about)
        return number

    def opened(self, sealed: str, about: str) -> str | None:
        key, text, said = self.texts.get(sealed, ("", "", ""))
        return text if (key, said) == (self.key, about) else None
