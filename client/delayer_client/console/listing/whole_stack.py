"""Figures of the whole stack, for whoever has AWS credentials: CloudWatch's, and what operators have stopped.

An engine of one machine says them itself.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from attrs import define, field, frozen

from delayer_client.console.place import Place

if TYPE_CHECKING:
    from delayer_client.operator import OperatorEngine, OperatorStack

KEPT: Final = timedelta(seconds=30)  # CloudWatch's values are those of whole minutes
PATIENCE: Final = 1.0  # seconds that a page waits for AWS
NOBODY: Final = "This console was started without a way to the operator functions."


@frozen(kw_only=True)
class WholeStack:
    """The figures that are known; `problem` says why they are not."""

    problem: str = ""
    p50: float | None = None  # milliseconds, of the last minute that has a value
    p99: float | None = None
    failed: float = 0  # of the last fifteen minutes
    dead_lettered: float = 0
    canary: Mapping[str, Sequence[float]] = field(factory=dict)  # near and far: lateness of a quarter of an hour
    flow: Mapping[str, Sequence[Mapping[str, Any]]] = field(factory=dict)  # suspensions, circuits, limits
    engine: Mapping[str, Any] = field(factory=dict)  # how an engine of one machine is, as it says itself
    is_coming: bool = False  # it is being asked for, and nothing is known yet


NOTHING_YET: Final = WholeStack(is_coming=True)


@define
class Watch:
    """Asks every half minute at most, however many pages are open, and lets no page wait long for AWS."""

    place: Place
    patience: float = PATIENCE
    _last: WholeStack = NOTHING_YET
    _at: datetime | None = None
    _asked: Future[WholeStack] | None = None

    async def look(self) -> WholeStack:
        """Returns the figures of half a minute ago, or those of now. If those take long, it returns older ones,
        and keeps the new ones for the next call.
        """
        now = self.place.now()
        if self._asked is None and (self._at is None or now - self._at > KEPT):
            self._asked, self._at = Future(), now
            Thread(target=self._ask, args=(self._asked, now), daemon=True).start()
        if asked := self._asked:
            await asyncio.wait([asyncio.wrap_future(asked)], timeout=self.patience)
            if asked.done():
                self._last, self._asked = asked.result(), None
        return self._last

    def _ask(self, asked: "Future[WholeStack]", now: datetime) -> None:
        asked.set_running_or_notify_cancel()
        asked.set_result(examined(self.place, now))


def stack_of(place: Place) -> "OperatorStack | OperatorEngine":
    """The operator functions. Raises an error of people's words."""
    if place.operator is None:
        raise LookupError(NOBODY)
    return place.operator()


def examined(place: Place, now: datetime) -> WholeStack:
    """Nothing of it fails: without credentials or permission there is a sentence instead."""
    try:
        from delayer_client.operator import OperatorEngine

        stack = stack_of(place)
        blocks = stack.flow.list()
        flow = {name: blocks.get(name, []) for name in ("suspensions", "circuits", "limits")}
        return _of_engine(stack, flow) if isinstance(stack, OperatorEngine) else _of_stack(stack, flow, now)
    except Exception as error:  # noqa: BLE001 - boto3 raises many; the page without these figures is worth more
        return WholeStack(problem=str(error))


def _of_engine(engine: "OperatorEngine", flow: Mapping[str, Any]) -> WholeStack:
    status = engine.status()
    p50, p99 = (at_most(status["lateness"], share) for share in (0.5, 0.99))
    return WholeStack(engine=status, p50=p50, p99=p99, dead_lettered=sum(status["deadLetters"].values()), flow=flow)


def at_most(counted: Sequence[Mapping[str, int]], share: float) -> float | None:
    """A lateness in milliseconds that this share of the counted ones does not exceed; None if that is not known."""
    left = share * sum(one["number"] for one in counted)
    for one in counted:
        left -= one["number"]
        if left <= 0 and one["number"]:
            return one.get("upToMs")
    return None


def _of_stack(stack: "OperatorStack", flow: Mapping[str, Any], now: datetime) -> WholeStack:
    from delayer_client.operator.doctor.gather.metrics import Metric, figures

    def of(name: str, statistic: str) -> Metric:
        return Metric(namespace="Delayer", name=name, dimensions={"service": stack.name}, statistic=statistic)

    found = figures(
        stack,
        {
            "p50": of("Lateness", "p50"),
            "p99": of("Lateness", "p99"),
            "failed": of("Failed", "Sum"),
            "dead": of("DeadLettered", "Sum"),
            "near": of("CanaryNearLateness", "Maximum"),
            "far": of("CanaryFarLateness", "Maximum"),
        },
        now,
    )
    return WholeStack(
        p50=next(iter(found["p50"][-1:]), None),
        p99=next(iter(found["p99"][-1:]), None),
        failed=sum(found["failed"]),
        dead_lettered=sum(found["dead"]),
        canary={"near": found["near"], "far": found["far"]},
        flow=flow,
    )
