"""The cents of a run are those of the cost page."""

import re

from delayer_client.operator.verify.results import cost
from delayer_client.operator.verify.results.cost import Bill
from tests.cfn import ROOT

PAGE = (ROOT / "docs/decide/cost.md").read_text()


def dollars(row: str, column: int) -> float:
    """A figure of a row of the page."""
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {row}"))
    return float(line.split("|")[column].strip(" $*"))


def test_the_prices_are_those_of_the_page() -> None:
    prices = {
        "DynamoDB write unit": cost.WRITE,
        "DynamoDB read unit": cost.READ,
        "SQS request": cost.SQS,
        "HTTP API request": cost.HTTP,
        "Lambda invocation": cost.INVOCATION,
        "Lambda GB-second": cost.GB_SECOND,
    }
    for row, price in prices.items():
        assert dollars(row, 2) == price


def test_a_million_schedules_cost_what_the_page_says() -> None:
    [trickle] = re.findall(r"\$[\d.]+ in bursts and \$([\d.]+) in a trickle", PAGE)
    assert round(cost.FIRED, 1) == round(float(trickle), 1)
    assert round(cost.EVENTS_AND_JOURNAL, 2) == dollars("**events and journal**", 5)


def test_a_bill_adds_up() -> None:
    assert Bill().cents() == 0
    assert round(Bill(schedules=1_000_000, has_journal=False).cents() / 100, 2) == round(cost.FIRED, 2)
    everything = Bill(schedules=1, calls=1, cancels=1, retries=1, dead_letters=1, sqs_requests=1, operator_calls=1)
    assert everything.cents() > Bill(schedules=1).cents() > Bill(schedules=1, has_journal=False).cents()
