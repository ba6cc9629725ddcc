"""The calculator of the page on cost, in a browser: its sums are those of the tables beside it."""

import re
from collections.abc import Iterator
from typing import Any

import markdown  # type: ignore[import-untyped]
import pytest
from playwright.sync_api import Page

from tests.browser.chromium import chromium
from tests.cfn import ROOT

TEXT = (ROOT / "docs/decide/cost.md").read_text()
SCRIPT = (ROOT / "docs/assets/javascripts/cost.js").read_text()
DEFAULT: dict[str, Any] = {
    "schedules": 1_000_000,
    "bursts": 1,
    "payload": 200,
    "target": 0.1,
    "retries": 0,
    "posted": "one",
    "named": "none",
    "lifecycle": "journal",
    "actions": 3,
    "scale": "small",
}


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """The page as Markdown makes it, without the theme."""
    html = markdown.markdown(re.sub(r"<script.*?</script>", "", TEXT), extensions=["tables", "toc", "md_in_html"])
    with chromium() as browser:
        shown = browser.new_page()
        errors: list[str] = []
        shown.on("pageerror", lambda error: errors.append(str(error)))
        shown.set_content(html)
        shown.add_script_tag(content=SCRIPT)
        yield shown
        assert errors == []


def bill(page: Page, **changed: Any) -> dict[str, Any]:
    answer: dict[str, Any] = page.evaluate("load => delayerCost.bill(load)", {**DEFAULT, **changed})
    return answer


def together(column: int) -> float:
    """The sum of the table that leads the page."""
    section = TEXT.split("## What a million costs\n")[1].split("\n## ")[0]
    found = re.search(r"^\| \*\*together\*\* \| \*\*\$([\d.]+)\*\* \| \*\*\$([\d.]+)\*\* \|$", section, re.MULTILINE)
    assert found
    return float(found[column])


@pytest.mark.parametrize(("bursts", "column"), [(1, 1), (0, 2)])
def test_a_million_costs_what_the_table_says(page: Page, bursts: int, column: int) -> None:
    """The table adds rounded figures."""
    assert abs(bill(page, bursts=bursts)["million"] - together(column)) < 0.03


def test_without_lifecycle_the_firing_is_left(page: Page) -> None:
    line = r"^\| \*\*without events and journal\*\* \| \*\*\$([\d.]+)\*\* \| \*\*\$([\d.]+)"
    [bursts, trickle] = re.findall(line, TEXT, re.MULTILINE)[0]
    assert abs(bill(page, lifecycle="off")["million"] - float(bursts)) < 0.03
    assert abs(bill(page, lifecycle="off", bursts=0)["million"] - float(trickle)) < 0.03


def test_an_idle_stack_costs_what_the_page_says(page: Page) -> None:
    [named] = re.findall(r"costs about \$(\d+) a month when nothing", TEXT)
    assert round(bill(page, schedules=0)["month"]) == int(named)
    idle = bill(page, schedules=0)["month"]
    [pollers] = re.findall(r"provisioned pollers besides, \$(\d+) a month", TEXT)
    assert round(bill(page, schedules=0, scale="large")["month"] - idle) == int(pollers)
    assert round(idle - bill(page, schedules=0, actions=2)["month"], 2) == 0.46


def test_a_larger_record_writes_more_units(page: Page) -> None:
    """A record of 10 KB: 20 write units to put and delete it, and as many more for each of the journal's KB."""
    small, large = bill(page, lifecycle="off"), bill(page, lifecycle="off", payload=10 * 1024 - 600)
    assert round(large["million"] - small["million"], 2) == round(18 * 0.625 + 2 * 2 * 0.1 * 0.4, 2)
    assert bill(page, payload=10 * 1024 - 600)["million"] - large["million"] > 9 * 0.625


def test_what_else_is_chosen(page: Page) -> None:
    million = bill(page)["million"]
    assert round(million - bill(page, posted="batches")["million"], 2) == 1.19
    assert round(bill(page, named="group")["million"] - million, 2) == round(3 * 0.625 + 0.125, 2)
    assert round(bill(page, named="name")["million"] - million, 2) == round(5 * 0.625 + 0.125, 2)
    assert bill(page, retries=1)["million"] - million > 2.15
    assert bill(page, target=1.1)["million"] > million


def test_what_others_take(page: Page) -> None:
    found = page.evaluate("load => delayerCost.others(load)", {**DEFAULT, "schedules": 20_000_000})
    dollars = {name.split(",")[0]: round(amount, 2) for name, amount in found}
    assert dollars["EventBridge Scheduler"] == 6
    assert dollars["Step Functions"] == round(39_996_000 * 25 / 1e6, 2)
    assert dollars["Cloud Tasks"] == round(39 * 0.4, 2)


def test_the_form_answers_at_once_and_says_what_is_wrong(page: Page) -> None:
    status = page.get_by_role("status")
    assert "together" in status.inner_text()
    before = status.inner_text()
    page.get_by_label("Schedules a month").fill("5000000")
    assert status.inner_text() != before
    page.get_by_label("Schedules a month").fill("-1")
    assert "out of its bounds" in status.inner_text()
    page.get_by_label("Schedules a month").fill("1000000")
    assert status.inner_text() == before
