"""What a batch takes of a processor, as it was measured: the file that feeds the model, and anyone can make again."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

FILE = Path(__file__).with_name("figures.json")
RUNS = Path(__file__).with_name("runs.json")


@frozen(kw_only=True)
class Work:
    """Seconds of a processor: for each batch, and for each message in it."""

    fixed: float
    each: float

    def of(self, n: int) -> float:
        """For a batch of so many."""
        return self.fixed + self.each * n

    @classmethod
    def through(cls, points: Mapping[int, float]) -> "Work":
        """The line through the smallest and the largest batch; neither part is below zero."""
        small, large = min(points), max(points)
        if small == large:
            return cls(fixed=points[small], each=0.0)
        each = max((points[large] - points[small]) / (large - small), 0.0)
        return cls(fixed=max(points[small] - each * small, 0.0), each=each)


@frozen(kw_only=True)
class Figures:
    """All functions."""

    machine: Mapping[str, Any]  # when and on what it was measured
    function: Mapping[str, Work]  # the function's own work, by what it does
    emulator: Mapping[str, Work]  # what the emulator does for it, on the same machine
    imports: Mapping[str, float]  # seconds until a function's code is imported


def read(file: Path = FILE) -> Figures:
    """From the file that `make scale ARGS=--measure` wrote."""
    stored = json.loads(file.read_text(encoding="utf-8"))
    return Figures(
        machine=stored["machine"],
        function={name: Work.through(points_of(rows, "cpu")) for name, rows in stored["work"].items()},
        emulator={name: Work.through(points_of(rows, "emulator")) for name, rows in stored["work"].items()},
        imports={name: ms / 1000 for name, ms in stored["importMs"].items()},
    )


def points_of(rows: list[Mapping[str, Any]], what: str) -> dict[int, float]:
    """Seconds by size of the batch."""
    return {int(row["batch"]): float(row[what]) for row in rows}
