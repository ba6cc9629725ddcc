"""All figures of a run."""

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import asdict, define, field

from bench.command.options import Options
from bench.load.throughput import Throughput
from bench.measure.api import ApiCall
from bench.measure.imports import ImportTime
from bench.measure.lateness import Lateness
from bench.measure.requests import FunctionRequests, PerSchedule
from bench.report.targets import Verdict
from local.errors import EmulatorError


@define(kw_only=True)
class Report:
    """What was measured, part by part. A part that was not measured stays empty."""

    lateness: list[Lateness] = field(factory=list)
    throughput: Throughput | None = None
    metered_schedules: int = 0  # whose requests these are
    requests: list[FunctionRequests] = field(factory=list)
    per_schedule: PerSchedule | None = None
    per_occurrence: PerSchedule | None = None  # of a series
    per_plain: PerSchedule | None = None  # of a schedule of no series, in the same run
    api: list[ApiCall] = field(factory=list)
    imports: list[ImportTime] = field(factory=list)
    machine: list[Verdict] = field(factory=list)  # what one machine can do
    verdicts: list[Verdict] = field(factory=list)

    @property
    def is_correct(self) -> bool:
        """Whether nothing was early, lost or doubled, and every call got the expected response."""
        posts_failed = self.throughput is not None and self.throughput.failed > 0
        is_api_correct = all(row.is_correct for row in self.api)
        return is_api_correct and not posts_failed and not any(row.wrong for row in self.lateness)


def machine() -> dict[str, Any]:
    """The machine and the time of the measurement."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def write_json(file: Path, options: Options, report: Report) -> None:
    """Write all figures as JSON; EmulatorError if the file cannot be written."""
    content = {"machine": machine(), "options": asdict(options), **asdict(report)}
    try:
        file.write_text(json.dumps(content, indent=2, default=str) + "\n", encoding="utf-8")
    except OSError as error:
        raise EmulatorError(f"{file} cannot be written: {error.strerror}.") from None
