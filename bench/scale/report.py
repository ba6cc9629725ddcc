"""What the model says, as tables of a page."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from bench.report.markdown import table
from bench.scale import facts
from bench.scale.emulator import Compared
from bench.scale.model import ENQUEUE, EXECUTE, RELAY, Load, Outcome
from local.project import PROJECT

PAGE: Final = PROJECT / "docs/how-it-works/scale.md"
MILLION: Final = 1_000_000
MONTH_HOURS: Final = 720
INSTANT = Load(name="ten thousand at one instant", schedules=10_000, within=0)
ONE = Load(name="a million in one minute", schedules=MILLION, within=60)
TEN = Load(name="ten million in one minute", schedules=10 * MILLION, within=60)
DAY = Load(name="a billion a day, five minutes of it", schedules=3_472_200, within=300)
FIFTY = Load(name="50 a second, a minute of it", schedules=3_000, within=60)
SECOND = Load(name="one a second, a minute of it", schedules=60, within=60)
THOUSAND = Load(name="1,000 a second, a minute of it", schedules=60_000, within=60)
FIVE_THOUSAND = Load(name="5,000 a second, a minute of it", schedules=300_000, within=60)
SINGLE = Load(name="one in a minute", schedules=1, within=60)
TRICKLE = Load(name="one every two seconds, ten minutes of it", schedules=300, within=600)
SIZES: Final = [(relay, executor) for relay in (256, 512, 1024) for executor in (256, 512, 768, 1024, 1769)]
LOADS: Final = (SINGLE, SECOND, FIFTY, INSTANT, THOUSAND, FIVE_THOUSAND, ONE, DAY, TEN)  # of the table
BETWEEN: Final = tuple(  # more points of the picture
    Load(name=f"{count:,} in one minute", schedules=count, within=60)
    for count in (10, 600, 10_000, 30_000, 100_000, 200_000, 500_000, 3 * MILLION)
)


@frozen(kw_only=True)
class Cost:
    """Dollars for a million schedules, without journal and what is paid by the hour."""

    api: float
    tables: float
    queues: float
    invocations: float
    time: float

    @property
    def whole(self) -> float:
        """All of it."""
        return self.api + self.tables + self.queues + self.invocations + self.time


def cost(outcome: Outcome) -> Cost:
    """By the requests and the seconds of the run; the POST is one for each, and takes 20 ms."""
    schedules, stack = outcome.load.schedules, outcome.stack
    enqueue, relay, execute = (outcome.stations[name] for name in (ENQUEUE, RELAY, EXECUTE))
    memory = {ENQUEUE: stack.enqueuer_memory, RELAY: stack.relay_memory, EXECUTE: stack.executor_memory}
    gigabyte_seconds = sum(one.seconds * memory[name] / 1024 for name, one in outcome.stations.items())
    requests = outcome.requests + 2 * (relay.batches + execute.batches)  # a send, a receive and a delete
    invocations = 2 * enqueue.batches + relay.batches + execute.batches  # the stream has what was inserted, too
    per_million = MILLION / schedules
    return Cost(
        api=facts.PRICE_API.value,
        tables=4 * facts.PRICE_WRITE.value + 1.25 * facts.PRICE_READ.value,
        queues=requests / MILLION * facts.PRICE_SQS.value * per_million,
        invocations=facts.PRICE_INVOCATION.value * (1 + invocations / schedules),
        time=facts.PRICE_GB_SECOND.value * (0.005 + gigabyte_seconds / schedules),
    )


def by_the_hour(pollers: int) -> float:
    """Dollars a month for provisioned pollers."""
    return pollers * facts.PRICE_POLLER.value * MONTH_HOURS


def at_a_time(outcome: Outcome) -> int:
    """The most functions of the firing path that ran at a time; each at its own moment, so it is an upper bound."""
    return sum(one.most for one in outcome.stations.values())


def seconds(value: float) -> str:
    """Short, and readable at once."""
    return f"{value * 1000:,.0f} ms" if value < 1 else f"{value:,.1f} s" if value < 100 else f"{value / 60:,.1f} min"


def of_sizes(rows: Iterable[tuple[int, int, Outcome, Outcome]]) -> str:
    """What more memory buys in a burst, and what it costs in a trickle."""
    cells = [
        [f"{relay} MB", f"{executor} MB", seconds(burst.last)] + [f"${cost(one).whole:.2f}" for one in (burst, trickle)]
        for relay, executor, burst, trickle in rows
    ]
    return table(["relay", "executor", "ten thousand out after", "a million in bursts", "in a trickle"], cells)


def of_comparison(stretch: float, rows: Sequence[Compared]) -> str:
    """Measured beside predicted."""
    cells = [
        [f"{row.run.name}{' (fitted)' if row.run.fitted else ''}"]
        + [beside(row, what) for what in ("p50", "p99", "last")]
        for row in rows
    ]
    return table([f"measured / predicted in s, stretch {stretch:.2f}", "p50", "p99", "all out after"], cells)


def beside(row: Compared, what: str) -> str:
    """Measured, predicted, and the difference."""
    off, predicted = row.off(what), f"{row.predicted[what]:.2f}"
    return f"– / {predicted}" if off is None else f"{row.measured[what]:.2f} / {predicted} ({off:+.0%})"


def of_facts() -> str:
    """Each figure with its source."""
    rows = [[fact.what, f"{fact.value:,g}", source_of(fact)] for fact in facts.facts().values()]
    return re.sub(r"-+:\|$", "---|", table(["what", "figure", "source"], rows), count=1, flags=re.MULTILINE)


def source_of(fact: facts.Fact) -> str:
    """A link, or why it is assumed."""
    return f"[AWS]({fact.source})" if fact.source.startswith("https://") else fact.source


def write(page: Path, name: str, text: str) -> None:
    """Between the two marks of this name in a page."""
    whole = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = whole.partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n{text}\n\n{end}{after}", encoding="utf-8")
