"""Each figure of the model names its source, and the page shows what the model says."""

import re

import pytest

from bench.scale import emulator, facts, figures, report, stack
from bench.scale.facts import Fact
from bench.scale.model import simulate
from local.project import PROJECT
from tests.cfn import written

PAGE = (PROJECT / "docs/how-it-works/scale.md").read_text(encoding="utf-8")
FACTS = facts.facts()


@pytest.mark.parametrize("name", sorted(FACTS))
def test_a_figure_has_a_page_of_aws_or_says_that_it_is_assumed_or_measured(name: str) -> None:
    fact: Fact = FACTS[name]
    assert re.match(r"https://(docs\.)?aws\.amazon\.com/|assumed(:|;)|measured:", fact.source), fact
    assert fact.value > 0


def test_the_page_has_each_figure_with_its_source() -> None:
    assert report.of_facts() in PAGE


def test_the_page_has_the_runs_beside_their_predictions() -> None:
    """What was not fitted is foretold within a quarter, as the page says."""
    stretch, compared = emulator.compare(figures.read())
    assert report.of_comparison(stretch, compared) in PAGE
    for one in compared:
        for what in ("p50", "p99", "last") if not one.run.fitted else ("last",):
            off = one.off(what)
            assert off is None or abs(off) <= 0.25, (one.run.name, what)


def test_what_was_measured_says_where_and_when() -> None:
    measured = figures.read()
    assert measured.machine["at"]
    assert measured.machine["processors"]
    assert {"enqueue", "relay", "execute", "post"} <= set(measured.function)


def test_ten_thousand_at_one_instant() -> None:
    """What Scale promises (ADR 0122). It takes some seconds: each schedule is played on both scales."""
    measured = figures.read()
    small, large = (simulate(report.INSTANT, stack.of_template(scale), measured).last for scale in stack.SCALES)
    assert small <= 10
    assert large <= 3


@pytest.mark.thorough
def test_a_million_in_one_minute_on_large() -> None:
    """It takes ten seconds: the model plays each of the million."""
    assert simulate(report.ONE, stack.of_template("large"), figures.read()).last <= 120


def test_what_large_costs_by_the_hour() -> None:
    """With the actions of the default; wherever it is named."""
    mappings = written()["Mappings"]
    executors = str(written()["Parameters"]["Actions"]["Default"]).split(",")
    of_executors = sum(mappings["Executors"].get(name, {}).get("Pollers", 2) for name in executors)
    pollers = of_executors + mappings["Scales"]["large"]["RelayPollers"]
    said = f"${report.by_the_hour(pollers):.0f} a month"
    for page in ("how-it-works/scale", "decide/cost"):
        assert said in (PROJECT / f"docs/{page}.md").read_text(encoding="utf-8")
    assert said in written()["Parameters"]["Scale"]["Description"]
    assert f"{pollers} pollers" in PAGE


def test_the_prices_are_those_of_the_page_on_cost() -> None:
    cost = (PROJECT / "docs/decide/cost.md").read_text(encoding="utf-8")
    for what, fact in {
        "DynamoDB write unit (1 KB)": facts.PRICE_WRITE,
        "DynamoDB read unit (4 KB, strongly consistent)": facts.PRICE_READ,
        "SQS request (64 KB)": facts.PRICE_SQS,
        "HTTP API request (512 KB)": facts.PRICE_API,
        "Lambda invocation": facts.PRICE_INVOCATION,
        "Lambda GB-second, arm64": facts.PRICE_GB_SECOND,
    }.items():
        [price] = re.findall(rf"^\| {re.escape(what)} \| ([\d.]+) \|", cost, re.MULTILINE)
        assert float(price) == fact.value
