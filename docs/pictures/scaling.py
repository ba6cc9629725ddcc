"""How late the latest schedule is, by how many are due in one minute, on both scales; and what binds where."""

import json
from collections.abc import Iterator
from math import log10
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).resolve().parents[2] / "bench/scale/loads.json"
LEFT, RIGHT, TOP, BOTTOM = 50.0, 352.0, 24.0, 250.0
FEWEST, MOST = 0, 7  # powers of ten of schedules in a minute
SOONEST, LATEST = 0.5, 7200.0  # seconds
TIMES: Final = {1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h"}
COUNTS: Final = {0: "1", 1: "10", 2: "100", 3: "1,000", 4: "10,000", 5: "0.1 M", 6: "1 M", 7: "10 M"}
STYLES: Final = {
    "small": 'stroke="currentColor" stroke-dasharray="5 3"',
    "large": 'stroke="var(--md-typeset-a-color)"',
}
WORDS: Final = {"start": "functions start", "pollers": "pollers", "receives": "receives", "writes": "ledger"}
FAINT: Final = "var(--md-default-fg-color--lightest)"
Row = dict[str, Any]


def draw() -> str:
    """The SVG."""
    scales: dict[str, list[Row]] = json.loads(FILE.read_text(encoding="utf-8"))
    minutes = {scale: in_one_minute(rows) for scale, rows in scales.items()}
    inside = [*axes()]
    for at, (scale, rows) in enumerate(minutes.items()):
        inside += [line(scale, rows), *dots(scale, rows), *strip(scale, rows, 312.0 + 32 * at)]
    inside.append(text(x(2e5) - 8, y(at_least(minutes["small"], 2e5)["latest"]), "small", "end"))
    inside.append(text(x(5e5) + 8, y(at_least(minutes["large"], 5e5)["latest"]) + 8, "large"))
    return (
        '<svg viewBox="0 0 360 372" role="img" font-size="12" fill="currentColor" style="max-width: 28rem" '
        'aria-labelledby="scaling-title">'
        f'<title id="scaling-title">{title(minutes)}</title>' + "\n".join(inside) + "</svg>"
    )


def title(minutes: dict[str, list[Row]]) -> str:
    """What the picture shows, for those who do not see it."""
    ends = [f"{rows[-1]['latest'] / 60:.0f} minutes on {scale}" for scale, rows in minutes.items()]
    return (
        "How late the latest schedule is, from one to ten million due in one minute: about a second while few are due, "
        f"{' and '.join(ends)} for ten million. Below: what binds."
    )


def in_one_minute(rows: list[Row]) -> list[Row]:
    """Those loads that are spread over one minute, by their size."""
    return sorted((row for row in rows if row["within"] == 60), key=lambda row: int(row["schedules"]))


def at_least(rows: list[Row], schedules: float) -> Row:
    """The first load of this size or more."""
    return next(row for row in rows if row["schedules"] >= schedules)


def x(schedules: float) -> float:
    """Where a number of schedules stands."""
    return LEFT + (RIGHT - LEFT) * (log10(schedules) - FEWEST) / (MOST - FEWEST)


def y(seconds: float) -> float:
    """Where a lateness stands."""
    return BOTTOM - (BOTTOM - TOP) * log10(seconds / SOONEST) / log10(LATEST / SOONEST)


def text(at: float, height: float, content: str, anchor: str = "start") -> str:
    """One label."""
    return f'<text x="{at:.1f}" y="{height:.1f}" text-anchor="{anchor}">{content}</text>'


def axes() -> Iterator[str]:
    """Lines and labels."""
    yield text(4, 12, "the latest is late by")
    for seconds, label in TIMES.items():
        yield f'<path d="M{LEFT} {y(seconds):.1f}H{RIGHT}" stroke="{FAINT}"/>'
        yield text(LEFT - 6, y(seconds) + 4, label, "end")
    for power, label in COUNTS.items():
        if power % 2 == 0 or power == MOST:
            yield text(x(10**power), BOTTOM + 16, label, "end" if power == MOST else "middle")
        yield f'<path d="M{x(10**power):.1f} {TOP}V{BOTTOM}" stroke="{FAINT}"/>'
    yield text(RIGHT, BOTTOM + 34, "schedules due in one minute (M: a million)", "end")
    yield text(4, BOTTOM + 54, "what binds")


def line(scale: str, rows: list[Row]) -> str:
    """Through all loads."""
    points = " ".join(f"{x(row['schedules']):.1f},{y(row['latest']):.1f}" for row in rows)
    return f'<polyline points="{points}" fill="none" stroke-width="2" {STYLES[scale]}/>'


def dots(scale: str, rows: list[Row]) -> Iterator[str]:
    """One for each load that was calculated."""
    colour = STYLES[scale].split('"')[1]
    for row in rows:
        yield f'<circle cx="{x(row["schedules"]):.1f}" cy="{y(row["latest"]):.1f}" r="2.5" fill="{colour}"/>'


def strip(scale: str, rows: list[Row], top: float) -> Iterator[str]:
    """What binds, from one load to the next, named after the first of its words."""
    yield text(4, top + 16, scale)
    for start, end, cause in stretches(rows):
        yield (
            f'<rect x="{x(start):.1f}" y="{top}" width="{x(end) - x(start):.1f}" height="24" fill="none" '
            f'stroke="currentColor"/>'
        )
        yield text((x(start) + x(end)) / 2, top + 16, WORDS.get(cause, cause), "middle")


def stretches(rows: list[Row]) -> Iterator[tuple[float, float, str]]:
    """From which number of schedules on which cause binds, until which number."""
    start, cause = rows[0]["schedules"], rows[0]["binds"].split(" ")[0]
    for row in rows[1:]:
        if (now := row["binds"].split(" ")[0]) != cause:
            yield start, row["schedules"], cause
            start, cause = row["schedules"], now
    yield start, 10**MOST, cause
