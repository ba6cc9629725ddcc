"""What the comparison says of Delayer itself is what the code and the other pages have."""

import json
import re
from decimal import Decimal

import pytest

from delayer.accept.rules.admission import MAX_AHEAD, MAX_BODY_BYTES
from delayer.actions.rules.foreign import built_in
from delayer.schedule.instants import DAY, SECOND, YEAR
from delayer.schedule.retrying import MAX_AGE_SECONDS, MAX_ATTEMPTS
from docs.hooks import compared
from tests.cfn import ROOT, written
from tests.docs.compared.test_figures import COMPARED, DECIDE, OTHERS
from tests.docs.test_site import LINK, anchors
from tests.openapi import openapi
from tests.running.of_each import of_each

DELAYER: dict[str, str] = COMPARED["delayer"]
BESIDE = (DECIDE / "eventbridge.md").read_text()
PARAMETERS = written()["Parameters"]
KINDS = {
    "http-request": "HTTP",
    "sqs-send": "SQS",
    "sns-publish": "SNS",
    "event-put": "EventBridge buses",
    "lambda-invoke": "Lambda",
    "step-start": "Step Functions",
}


def test_how_far_ahead() -> None:
    assert MAX_AHEAD == 10 * YEAR
    assert "Ten years" in DELAYER["horizon"]


def test_the_limits() -> None:
    assert f"{MAX_BODY_BYTES:,} bytes for a request" in DELAYER["limits"]
    assert f"{MAX_ATTEMPTS} attempts within {MAX_AGE_SECONDS * SECOND // DAY} days" in DELAYER["limits"]
    assert f"[{MAX_ATTEMPTS} attempts within {MAX_AGE_SECONDS * SECOND // DAY} days]" in BESIDE


def test_the_cancel_and_the_history() -> None:
    assert f"the last {PARAMETERS['HandoverLead']['Default']} ms" in DELAYER["cancel"]
    days = written()["Mappings"]["Scales"]["small"]["JournalDays"]
    assert PARAMETERS["JournalDays"]["Default"] == 0, "as the scale says"
    assert f"for {days} days after the end by default" in DELAYER["history"]


def test_the_targets() -> None:
    shipped = {name for name, kind in built_in().items() if not kind.internal}
    if shipped != set(KINDS):
        pytest.skip("an action was added or taken out: the page tells of what is shipped")
    assert [word for word in KINDS.values() if word not in DELAYER["targets"]] == []
    assert "one of Delayer's six actions" in BESIDE


def test_the_costs_are_those_of_their_page() -> None:
    """The hook reads them there; the other page says them in whole dollars."""
    figures = compared.figures()
    bursts, trickle = (round(Decimal(figures[name])) for name in ("bursts", "trickle"))
    assert f"${figures['bursts']} to ${figures['trickle']}" in DELAYER["cost"]
    assert f"${bursts} to ${trickle} per million" in BESIDE
    assert f"about ${figures['idle']} a month when nothing is scheduled" in BESIDE


def test_nothing_is_left_to_be_filled_in() -> None:
    assert re.findall(r"\{\w+\}", json.dumps(COMPARED, default=str)) == []
    assert f"within {compared.figures()['p99']} ms" in DELAYER["precision"]


def test_the_page_beside_eventbridge_says_the_same_of_it() -> None:
    other = {about: figure.get("value", "") for about, figure in OTHERS["eventbridge"].items() if about in DELAYER}
    for words, about in (
        ("$1.00", "cost"),
        ("14 million", "cost"),
        ("270 AWS services", "targets"),
        ("10,000,000 schedules", "limits"),
        ("1,000 invocations a second", "limits"),
        ("185", "limits"),
        ("24 hours", "limits"),
    ):
        assert words in BESIDE
        assert words in other[about]
    version = openapi()["info"]["version"]
    assert f"the version {version}" in BESIDE


@of_each(["when", *COMPARED["properties"], "beside eventbridge"])
def test_its_links_resolve(what: str) -> None:
    for target in LINK.findall(compared.written(what)):
        path, _, anchor = target.partition("#")
        if target.startswith("https://") or path == "../actions/index.md":
            continue
        aimed = (DECIDE / path).resolve()
        assert aimed.is_file(), target
        assert not anchor or anchor in anchors(aimed), target


def test_nothing_is_said_of_all_others() -> None:
    """Who has not looked at all of them cannot know what no other does."""
    claims = r"\b(?:no (?:other|published)|(?:the|our) only|unlike (?:all|any)(?: other)?) (?:schedulers?|services?)\b"
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "adr").glob("*.md")]
    texts = {str(file.relative_to(ROOT)): " ".join(file.read_text().split()) for file in files}
    assert {name: found for name, text in texts.items() if (found := re.findall(claims, text, re.IGNORECASE))} == {}
