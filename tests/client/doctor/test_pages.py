"""The doctor and the documentation say the same, and the links of findings lead somewhere."""

import re

from delayer_client.operator.doctor import CATALOGUE, Doctor, Entry, Severity
from delayer_client.operator.doctor.judge import alarms, queues, readers
from delayer_client.operator.doctor.runbook import HEADINGS, anchor_of
from docs.hooks.reference.pages import filled
from tests.cfn import ROOT, entry_of, resources
from tests.running.of_each import of_each

PAGE = (ROOT / "docs/operate/doctor.md").read_text()
ROWS = re.findall(r"^\| `([a-z-]+)` \| \w+ \| .+ \| .* \|$", filled(PAGE, "operate/doctor.md"), re.MULTILINE)
LINKS = {
    *(entry.link for entry in CATALOGUE if entry.link),
    *readers.OF_STREAMS.values(),
    *readers.BEHIND_LINKS.values(),
    *queues.LINKS.values(),
    *queues.OLD_LINKS.values(),
}


def anchors(page: str) -> set[str]:
    """As the site makes them of the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


def test_codes_are_different_and_all_of_them_are_on_the_page() -> None:
    codes = [entry.code for entry in CATALOGUE]
    assert len(set(codes)) == len(codes)
    assert codes == ROWS


@of_each(CATALOGUE)
def test_what_is_not_well_says_what_to_do(entry: Entry) -> None:
    assert bool(entry.do) is (entry.severity is not Severity.OK)


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
