"""What stands between the marks of docs/how-it-works/scale.md, all of it from the stored rows."""

import re
from collections.abc import Mapping, Sequence

from attrs import evolve

from bench.report.markdown import table
from bench.scale import figures
from bench.scale.model import Load, simulate
from bench.scale.page import ranges
from bench.scale.page.ranges import Range
from bench.scale.page.rows import Row, of_rows
from bench.scale.report import DAY, LOADS, ONE, seconds
from bench.scale.stack import of_template
from delayer_client.operator.verify.promises.surroundings import EVENTS_OF_A_SCHEDULE, PUBLISHES, PUBLISHES_ELSEWHERE
from local.project import PROJECT

NAMES = {load.name for load in LOADS}
LONGER_STORAGE = r"the default of `Scale=large`, the journal's storage is \$(\d+\.\d+)"


def shown(rows: Sequence[Row]) -> list[Row]:
    """Those of the table; the picture has more."""
    return [row for row in rows if row.name in NAMES]


def named(rows: Sequence[Row], name: str) -> Row:
    """The row of a load."""
    return next(row for row in rows if row.name == name)


def answer(scales: Mapping[str, Sequence[Row]], ranges: Mapping[str, Range]) -> str:
    """What a million due in one minute cost with the defaults, and how late the last one is; each with its range."""
    ones = {scale: named(rows, ONE.name) for scale, rows in scales.items()}
    kept = {scale: beside_the_firing(scale) for scale in scales}
    sentences = [
        f"on `{scale}` they cost ${row.million + kept[scale]:.2f}, and the last one is {seconds(row.latest)} late"
        for scale, row in ones.items()
    ]
    cells = [
        [
            f"`{scale}`",
            f"${row.million + kept[scale]:.2f}",
            f"${ranges[scale].cheapest + kept[scale]:.2f} to ${ranges[scale].dearest + kept[scale]:.2f}",
            *map(seconds, (row.p50, row.latest)),
            f"{seconds(ranges[scale].earliest)} to {seconds(ranges[scale].latest)}",
        ]
        for scale, row in ones.items()
    ]
    return f"**{'; '.join(sentences)}.**\n\n".replace("**on", "**On") + table(
        ["`Scale`", "a million", "between", "half within", "the last", "between"], cells
    )


def beside_the_firing(scale: str) -> float:
    """Dollars for what comes with a million by default, in bursts: history, storage, logs. From the page on costs.

    The table has those of `small`; `large` keeps the journal for longer.
    """
    page = (PROJECT / "docs/decide/cost.md").read_text(encoding="utf-8")
    summary = page.split("## What a million costs\n")[1].split("\n## ")[0]
    found = re.findall(r"^\| (.+?) \| \$([\d.]+) \| \$[\d.]+ \|$", summary, re.MULTILINE)
    costs = {name: float(cost) for name, cost in found if not name.startswith("[firing]")}
    if scale == "large":
        [storage] = [name for name in costs if name.startswith("[storage of the journal]")]
        [costs[storage]] = map(float, re.findall(LONGER_STORAGE, page))
    return sum(costs.values())


def billion(scales: Mapping[str, Sequence[Row]]) -> str:
    """What a day of it costs on `large`."""
    row = named(scales["large"], DAY.name)
    return (
        f"A billion a day is {1e9 / 86_400:,.0f} a second, without a pause. On `large` that costs "
        f"${row.million:.2f} a million, ${row.million * 1000:,.0f} a day. The latest is {seconds(row.latest)} late, "
        f"in the first minute, while the pollers grow; half of them are late by less than {seconds(row.p50)}."
    )


def throughput(scales: Mapping[str, Sequence[Row]]) -> str:
    """How many a second each scale fires for as long as there are more."""
    most = {scale: max(row.schedules / row.last for row in rows) for scale, rows in scales.items()}
    return table(
        ["`Scale`", "a second at most", "a minute"],
        [[f"`{scale}`", f"{round(most[scale], -2):,.0f}", f"{round(60 * most[scale], -3):,.0f}"] for scale in scales],
    )


def lone() -> str:
    """How late a schedule is that is due alone, one a minute for five hours, with and without what the canary does."""
    known, small = figures.read(), of_template("small")
    load = Load(name="alone", schedules=300, within=300 * 60)
    warm = simulate(load, evolve(small, warm=1, connects=True), known)
    cold = simulate(evolve(load, schedules=1), evolve(small, connects=True), known)
    return (
        f"On `small`, with one a minute, half are late by {seconds(warm.percentile(0.5))} at most, and 99 of 100 by "
        f"{seconds(warm.percentile(0.99))}. Without the canary, the first after a pause is late by "
        f"{seconds(cold.percentile(0.5))}."
    )


def publishes() -> str:
    """What SNS takes from an account by default, and how long the events of a million schedules take."""
    regions: dict[int, list[str]] = {}
    for region, number in PUBLISHES.items():
        regions.setdefault(number, []).append(f"`{region}`")
    named = [(", ".join(names), number) for number, names in regions.items()]
    return table(
        ["Region", "messages a second", "schedules a second", "the events of a million"],
        [
            [where, f"{number:,}", f"{number // EVENTS_OF_A_SCHEDULE:,}", seconds(1e6 * EVENTS_OF_A_SCHEDULE / number)]
            for where, number in (*named, ("all others", PUBLISHES_ELSEWHERE))
        ],
    )


def texts(scales: Mapping[str, Sequence[Row]]) -> dict[str, str]:
    """By the names of the marks."""
    tables = {scale: of_rows(shown(rows)) for scale, rows in scales.items()}
    return {
        "answer": answer(scales, ranges.read()),
        "billion": billion(scales),
        "throughput": throughput(scales),
        "lone": lone(),
        "publishes": publishes(),
        **tables,
    }
