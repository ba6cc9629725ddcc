"""The runbook has an entry for each alarm: what it means, where to look first, what to do."""

import re

from tests.cfn import ROOT, entry_of, functions, resources
from tests.running.of_each import of_each

TEXT = (ROOT / "docs/operate/runbook.md").read_text()
ALARMS = sorted({entry_of(alarm) for alarm in resources("AWS::CloudWatch::Alarm")})


def entries() -> dict[tuple[str, ...], str]:
    """The text below each heading, by the alarms that the heading names: similar alarms share an entry."""
    parts = re.split(r"^### (.+)$", TEXT, flags=re.MULTILINE)
    texts = [re.split(r"^## ", text, flags=re.MULTILINE)[0] for text in parts[2::2]]
    return {tuple(title.split(", ")): text for title, text in zip(parts[1::2], texts, strict=True)}


def test_every_alarm_has_an_entry_and_every_entry_an_alarm() -> None:
    named = [alarm for names in entries() for alarm in names]
    assert sorted(named) == ALARMS


@of_each(entries())
def test_an_entry_says_what_it_means_where_to_look_and_what_to_do(names: tuple[str, ...]) -> None:
    found = re.findall(r"^\*\*(.+?)\*\*(?: and \*\*(.+?)\*\*)?: \S.{20}", entries()[names], re.MULTILINE)
    said = [title.lower() for titles in found for title in titles if title]
    assert said == ["it means", "look first", "do"]


def test_what_it_names_is_there() -> None:
    """Functions, and alarms that stand in the text of an entry."""
    named = set(re.findall(r"`([A-Za-z0-9-]+)`", TEXT))
    assert {one for one in named if one.endswith("Alarm")} <= set(ALARMS)
    prefixes = (
        "api-",
        "stream-",
        "task-",
        "sweep-",
        "delayer-",
        "executor-",
        "job-",
        "operator-",
        "lifecycle-",
    )
    assert {one for one in named if one.startswith(prefixes)} <= set(functions())
