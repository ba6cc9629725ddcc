"""Between what a million due in one minute lie, if what is assumed proves better or worse than it is on the page."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attrs import asdict, frozen

from bench.scale import figures
from bench.scale.model import simulate
from bench.scale.report import ONE, cost
from bench.scale.stack import SCALES, changed, of_template

FILE: Final = Path(__file__).parents[1] / "ranges.json"
# Seconds until the target has answered; how fast a processor of Lambda is, with that of the measurement as 1.
BETTER: Final = {"target": "0.05", "core": "1.5"}
WORSE: Final = {"target": "0.5", "core": "0.5"}


@frozen(kw_only=True)
class Range:
    """On one scale: dollars for a million such schedules, and seconds until the last is reached."""

    cheapest: float
    dearest: float
    earliest: float
    latest: float


def calculated() -> dict[str, Range]:
    """For each scale, one run with all that is better, and one with all that is worse. It takes minutes."""
    known, found = figures.read(), {}
    for scale in SCALES:
        better, worse = (simulate(ONE, changed(of_template(scale), changes), known) for changes in (BETTER, WORSE))
        found[scale] = Range(
            cheapest=round(cost(better).whole, 4),
            dearest=round(cost(worse).whole, 4),
            earliest=better.percentile(1),
            latest=worse.percentile(1),
        )
    return found


def store(ranges: Mapping[str, Range], file: Path = FILE) -> None:
    """For the page."""
    content = {scale: asdict(one) for scale, one in ranges.items()}
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read(file: Path = FILE) -> dict[str, Range]:
    """Of each scale."""
    return {scale: Range(**one) for scale, one in json.loads(file.read_text(encoding="utf-8")).items()}
