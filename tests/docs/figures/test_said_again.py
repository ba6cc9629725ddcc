"""Figures that several pages say in words are those of the code, of the template, or of the page that has them."""

import re

import pytest

from delayer.schedule.instants import DAY, MINUTE, ROW_LIFETIME
from delayer.schedule.schedule_id import WRITES_AFTER
from delayer.signing import rules as keys
from tests.cfn import ROOT, resources, written

NUMBERS = {7: "seven", 10: "ten"}
PARAMETERS = written()["Parameters"]
DAYS_OF_BACKUPS = 35  # of DynamoDB, unless a table says otherwise


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def answer(about: str) -> str:
    """The short answer to a question."""
    [found] = re.findall(rf"^## .*{re.escape(about)}.*\n\n(.+)\n", page("decide/questions.md"), re.MULTILINE)
    return str(found)


def test_how_long_a_row_of_the_ledger_stays() -> None:
    days = f"{ROW_LIFETIME // DAY} days"
    assert f"stays for {days} after the schedule was due" in answer("Where does my data lie")
    assert f"| how long an end is shown | {days} by the ledger" in page("decide/guarantees.md")
    assert f"without payload | {days} after it was due" in page("decide/data.md")
    assert f"| ledger row | {days} after its last change" in page("operate/upgrade.md")
    assert f"| ledger row expires | {days} after due" in page("how-it-works/firing-path.md")


def test_how_long_the_journal_and_the_backups_stay() -> None:
    small, large = (written()["Mappings"]["Scales"][scale]["JournalDays"] for scale in ("small", "large"))
    assert f"`JournalDays` ({small} by default, {large} with `Scale=large`)" in answer("Where does my data lie")
    tables = resources("AWS::DynamoDB::Table").values()
    assert {str(table["PointInTimeRecoverySpecification"]) for table in tables} == {
        "{'PointInTimeRecoveryEnabled': True}"
    }
    days = f"{DAYS_OF_BACKUPS} days"
    assert f"point-in-time recovery for {days}" in answer("back up and restore")
    assert f"any second of the last {days}" in page("operate/restore.md")
    assert f"All have a backup for {days}" in page("decide/data.md")
    assert f"| backups of all tables | {days} after" in page("decide/data.md")


def test_when_a_new_key_signs_and_how_long_the_old_one_does() -> None:
    said = answer("rotate each key")
    assert f"makes ids {NUMBERS[WRITES_AFTER // MINUTE]} minutes after its command" in said
    assert f"is shown to owners after {NUMBERS[keys.CURRENT_AFTER // MINUTE]}, " in said
    assert f"signs beside it for {NUMBERS[keys.KEY_OVERLAP // DAY]} days" in said
    text = page("operate/keys.md")
    assert f"{NUMBERS[keys.CURRENT_AFTER // MINUTE].capitalize()} minutes later, at `currentFrom`" in text
    assert text.count(f"A second rotation within these {NUMBERS[keys.CURRENT_AFTER // MINUTE]} minutes is refused") == 2
    assert f"The new key makes ids {NUMBERS[WRITES_AFTER // MINUTE]} minutes later" in text


def test_what_is_in_the_delayer_queue_and_when_it_is_claimed() -> None:
    assert f"up to {PARAMETERS['DelayerPeriod']['Default'] // 60} minutes of schedules" in answer("stream stalls")
    assert PARAMETERS["HandoverLead"]["Default"] == 500
    assert "at most half a second before the point in time" in answer("cancel guarantee")


def test_what_a_check_of_a_deployment_takes() -> None:
    """As the example on its page shows it."""
    shown = r"^(\d+) schedules; it cost about (0\.\d+) US cents"
    [(schedules, cents)] = re.findall(shown, page("operate/verify.md"), re.MULTILINE)
    assert f"{schedules} schedules, " in answer("Has it run on AWS")
    assert float(cents) == pytest.approx(1 / 3, abs=0.05)
    assert "about a third of a cent" in answer("Has it run on AWS")


def test_what_the_relaxed_lane_costs() -> None:
    [sums] = re.findall(r"^\| \*\*together\*\* \| (.+) \|$", page("use/relaxed.md"), re.MULTILINE)
    _, bursts, _, trickle = re.findall(r"\$[\d.]+", sums)
    assert f"cost [{bursts} and {trickle}](../use/relaxed.md" in page("decide/cost.md")


@pytest.mark.parametrize("name", ["index.md", "start/one-machine.md", "project/contributing.md"])
def test_which_python_is_needed(name: str) -> None:
    """That of the Makefile: tests/docs/publishing/test_project_pages.py compares it."""
    said = re.findall(r"Python (3[\d., andorto]*\d)", page(name))
    assert said
    assert set(said) <= {"3.11 to 3.13", "3.11, 3.12 or 3.13"}


def test_the_lateness_beside_that_of_a_single_schedule_is_that_of_the_benchmarks() -> None:
    [p50] = re.findall(r"^\| 50/s, POSTed ahead \| [\d,]+ \| (\d+) \|", page("decide/benchmarks.md"), re.MULTILINE)
    assert f"the median lateness was {p50} ms" in page("how-it-works/journey.md")
