"""What the model says of each load, as it is stored and shown."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import asdict, frozen

from bench.report.markdown import table
from bench.scale.model import EXECUTE, RELAY, Outcome
from bench.scale.report import at_a_time, cost, seconds

FILE: Final = Path(__file__).parents[1] / "loads.json"
FUNCTIONS: Final = {RELAY: "the relay", EXECUTE: "executors"}
CAUSES: Final = {
    "new environments": "start of {}",
    "pollers": "pollers of {}",
    "receives": "receives of {}",
}
COLUMNS: Final = ("load", "p50", "p99", "latest", "all out after", "what binds", "at a time", "a million")


@frozen(kw_only=True)
class Row:
    """One load on one scale. Times are in seconds."""

    name: str
    schedules: int
    within: float
    p50: float
    p99: float
    latest: float
    last: float  # the last arrival, from the first due instant on
    binds: str
    at_a_time: int
    million: float  # dollars for a million such schedules

    @classmethod
    def of(cls, outcome: Outcome) -> "Row":
        """As precise as it is shown."""
        return cls(
            name=outcome.load.name,
            schedules=outcome.load.schedules,
            within=outcome.load.within,
            p50=outcome.percentile(0.5),
            p99=outcome.percentile(0.99),
            latest=outcome.percentile(1),
            last=round(outcome.last, 3),
            binds=said(outcome.binds()),
            at_a_time=at_a_time(outcome),
            million=round(cost(outcome).whole, 4),
        )

    @property
    def cells(self) -> list[str]:
        """For the table."""
        times = [seconds(value) for value in (self.p50, self.p99, self.latest, self.last)]
        return [self.name, *times, self.binds, f"{self.at_a_time:,}", f"${self.million:.2f}"]


def said(cause: str) -> str:
    """What binds, in the words of the page."""
    kind, _, station = cause.partition(" of ")
    return CAUSES[kind].format(FUNCTIONS[station]) if kind in CAUSES and station in FUNCTIONS else cause


def of_rows(rows: Iterable[Row]) -> str:
    """A table with a row for each load."""
    return table(COLUMNS, [row.cells for row in rows])


def store(scales: Mapping[str, Sequence[Row]], file: Path = FILE) -> None:
    """For the picture, and for tests."""
    content = {scale: [asdict(row) for row in rows] for scale, rows in scales.items()}
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read(file: Path = FILE) -> dict[str, list[Row]]:
    """All rows of each scale."""
    content: dict[str, list[dict[str, Any]]] = json.loads(file.read_text(encoding="utf-8"))
    return {scale: [Row(**row) for row in rows] for scale, rows in content.items()}
