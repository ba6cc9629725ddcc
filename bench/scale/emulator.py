"""The model beside the emulator: measures what feeds it, runs what it is to foretell, fits one figure, and compares."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from attrs import asdict, evolve, frozen

from bench.load.clients import Clients
from bench.load.due_times import SECOND
from bench.load.generator import LoadGenerator
from bench.measure import imports, processor
from bench.measure.lateness import summarise
from bench.report.figures import machine
from bench.scale.figures import FILE, RUNS, Figures
from bench.scale.model import Load, simulate
from bench.scale.stack import emulated
from local.command.progress import step
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack

PARAMETERS: Final = {"Lifecycle": "off", "Canary": "off", "DelayerPeriod": "60", "MaxCreatesPerSecond": "0"}
AFTER: Final = 5 * SECOND  # after the start of the minute, so that its sweep is over
CLIENTS: Final = 8
RUNS_OF_IMPORTS: Final = 5  # of which the median counts
FULL, ALONE = 4, 25
STRETCHES: Final = [number / 20 for number in range(10, 81)]  # 0.5 to 4


@frozen(kw_only=True)
class Run:
    """A load on the emulator, and whether the model is fitted to it."""

    name: str
    schedules: int
    within: float  # seconds
    fitted: bool = False

    @property
    def load(self) -> Load:
        """The same for the model."""
        return Load(name=self.name, schedules=self.schedules, within=self.within)


LOADS: Final = (
    Run(name="500 within a second", schedules=500, within=1.0, fitted=True),
    Run(name="500 at one instant", schedules=500, within=0.0),
    Run(name="1,000 at one instant", schedules=1000, within=0.0),
    Run(name="3,000 at one instant", schedules=3000, within=0.0),
    Run(name="200/s for ten seconds", schedules=2000, within=10.0),
)


@frozen(kw_only=True)
class Compared:
    """One run beside its prediction, in seconds."""

    run: Run
    measured: Mapping[str, float]
    predicted: Mapping[str, float]

    def off(self, what: str) -> float | None:
        """By which part of what was measured the prediction differs; None if it was not measured."""
        return self.predicted[what] / self.measured[what] - 1 if self.measured.get(what) else None


def measure() -> None:
    """Write what the functions take of this machine's processors."""
    with (
        Receiver() as receiver,
        EmulatedStack(0, {**PARAMETERS, "Lifecycle": "journal"}, progress=step) as stack,
    ):
        work = processor.measure(stack, receiver.url + "/measured", FULL, ALONE)
    wanted = set(processor.FUNCTIONS.values())
    took = {one.function: round(one.ms, 1) for one in imports.measure_all(RUNS_OF_IMPORTS) if one.function in wanted}
    content = {
        "machine": machine(),
        "importMs": took,
        "work": {name: [asdict(one) for one in rows] for name, rows in work.items()},
    }
    FILE.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def run_all(names: Sequence[str]) -> None:
    """Run the loads with these names, or all, and write what was measured; the others keep what they had."""
    measured = stored()["runs"] if RUNS.exists() else {}
    with Receiver() as receiver, EmulatedStack(0, PARAMETERS, progress=step) as stack:
        load = LoadGenerator(
            stack=stack,
            receiver=receiver,
            clients=Clients(stack.port, CLIENTS),
            period_ms=int(PARAMETERS["DelayerPeriod"]) * SECOND,
        )
        load.warm_up()
        for number, run in enumerate(LOADS):
            if not names or run.name in names:
                measured[run.name] = run_one(load, f"/scale-{number}", run)
                content = {"machine": machine(), "runs": measured}
                RUNS.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def run_one(load: LoadGenerator, path: str, run: Run) -> dict[str, Any]:
    """Swept before anything is due."""
    due = load.run_swept({path: partial(times, run)})[path]
    row = summarise(run.name, due, load.arrivals(path))
    return {
        "p50": row.p50 / 1000,
        "p99": row.p99 / 1000,
        "last": row.last_seconds,
        "wrong": row.early + row.lost + row.doubled,
    }


def times(run: Run, start: int) -> list[int]:
    """The points in time of a run."""
    return [start + AFTER + round(run.within * SECOND * number / run.schedules) for number in range(run.schedules)]


def stored() -> dict[str, Any]:
    """What `run_all` wrote."""
    content: dict[str, Any] = json.loads(RUNS.read_text(encoding="utf-8"))
    return content


def predict(figures: Figures, run: Run, stretch: float, processors: int) -> dict[str, float]:
    """What the model says of it."""
    outcome = simulate(run.load, evolve(emulated(processors), stretch=stretch), figures)
    return {"p50": outcome.percentile(0.5), "p99": outcome.percentile(0.99), "last": outcome.last}


def fit(figures: Figures, measured: Mapping[str, Mapping[str, float]], processors: int) -> float:
    """The stretch with which the runs that it is fitted to end when they ended."""
    fitted = [run for run in LOADS if run.fitted and run.name in measured]

    def error(stretch: float) -> float:
        return sum(
            abs(predict(figures, run, stretch, processors)["last"] / measured[run.name]["last"] - 1) for run in fitted
        )

    return min(STRETCHES, key=error)


def compare(figures: Figures) -> tuple[float, list[Compared]]:
    """The stretch, and each run that was measured."""
    content = stored()
    measured, processors = content["runs"], int(content["machine"]["processors"] or os.cpu_count() or 1)
    stretch = fit(figures, measured, processors)
    foretell: Callable[[Run], dict[str, float]] = partial(predict, figures, stretch=stretch, processors=processors)
    rows = [
        Compared(run=run, measured=measured[run.name], predicted=foretell(run)) for run in LOADS if run.name in measured
    ]
    return stretch, rows
