"""The doctor and the documentation say the same, and the links of findings lead somewhere."""

import os
import re

from delayer_client.operator.doctor import CATALOGUE, Doctor, Entry, Severity
from delayer_client.operator.doctor.judge import alarms, queues, readers
from delayer_client.operator.doctor.runbook import HEADINGS, anchor_of
from tests.cfn import ROOT, entry_of, resources
from tests.running.of_each import of_each

PAGE = (ROOT / "docs/operate/doctor.md").read_text()
TABLE = PAGE.split("<!-- findings -->")[1].split("<!-- end of findings -->")[0]
ROW = re.compile(r"^\| `([a-z-]+)` \| (\w+) \| (.+) \| (.*) \|$", re.MULTILINE)
ROWS = {code: (severity, means, do) for code, severity, means, do in ROW.findall(TABLE)}
LINKS = {
    *(entry.link for entry in CATALOGUE if entry.link),
    *readers.OF_STREAMS.values(),
    *readers.BEHIND_LINKS.values(),
    *queues.LINKS.values(),
    *queues.OLD_LINKS.values(),
}


def relative(link: str) -> str:
    """As the page of the doctor writes it."""
    page, _, anchor = link.partition("#")
    path = "" if page in ("", "operate/doctor.md") else os.path.relpath(page, "operate")
    return path + (f"#{anchor}" if anchor else "")


def anchors(page: str) -> set[str]:
    """As the site makes them of the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


def test_codes_are_different_and_all_of_them_are_on_the_page() -> None:
    codes = [entry.code for entry in CATALOGUE]
    assert len(set(codes)) == len(codes)
    assert list(ROWS) == codes


@of_each(CATALOGUE)
def test_a_row_says_what_the_finding_says(entry: Entry) -> None:
    severity, means, do = ROWS[entry.code]
    assert (severity, means) == (str(entry.severity), entry.means)
    text, _, link = do.partition(" [")
    assert text == entry.do
    assert relative(entry.link) in link
    assert bool(entry.do) is (entry.severity is not Severity.OK), "what is not well says what to do"


@of_each(sorted(LINKS))
def test_a_link_leads_to_a_heading(link: str) -> None:
    page, _, anchor = link.partition("#")
    assert (ROOT / "docs" / page).exists()
    assert not anchor or anchor in anchors(page)


def test_the_entry_of_every_alarm_is_known() -> None:
    """By the description of the alarm, as CloudWatch shows it."""
    assert list(HEADINGS) == re.findall(r"^### (.+)$", (ROOT / "docs/operate/runbook.md").read_text(), re.MULTILINE)
    for alarm in resources("AWS::CloudWatch::Alarm"):
        page, _, anchor = anchor_of(entry_of(alarm)).partition("#")
        assert anchor in anchors(page)
    assert anchor_of("UnknownAlarm") == "operate/runbook.md"


def test_the_runbooks_entry_is_read_from_a_description() -> None:
    found = alarms.ENTRY_OF.search("A message is old. Runbook: DelayerQueueOldAlarm.")
    assert found
    assert found[1] == "DelayerQueueOldAlarm"


def test_the_page_names_every_area() -> None:
    table = PAGE.split("## What it looks at")[1].split("\n## ")[0]
    named = re.findall(r"`([a-z ]+)`", "".join(re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)))
    assert [area for area in named if area != "clock"] == list(Doctor.areas)
