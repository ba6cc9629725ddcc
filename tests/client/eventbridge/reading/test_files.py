"""Files of what `aws` prints. Those in `answers` have the shapes of AWS's own documentation."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from delayer_client.eventbridge import Left, Options, ReadingError, Request, read_files, translate
from tests.client.eventbridge.samples import NOW, PLACE, QUEUE, requested

ANSWERS = Path(__file__).parent / "answers"


def test_a_folder_of_answers() -> None:
    found = read_files([ANSWERS])
    items = {one.source.title: one for one in translate(found, Options(now=NOW))}
    assert {title: type(one).__name__ for title, one in items.items()} == {
        "reports/sales": "Request",
        "default/trial-17": "Request",
        "default/tasks": "Left",
        "default/clean-up#queue": "Request",
        "default/clean-up#stream": "Left",
        "default/crm-sync#crm": "Request",
        "default/uploads": "Left",
    }
    bodies = {title: requested(one) for title, one in items.items() if isinstance(one, Request)}
    assert bodies["reports/sales"]["window"] == {"seconds": 900}
    assert bodies["reports/sales"]["payload"] == {"report": "sales", "day": "<delayer.occurrence.time>"}
    assert bodies["default/trial-17"]["pointInTime"] == "2026-12-24T18:00:00Z"
    assert bodies["default/trial-17"]["retry"] == {"maxAttempts": 6, "maxAgeSeconds": 3_600}
    assert bodies["default/clean-up#queue"]["payload"] == {"at": "<delayer.occurrence.time>"}
    assert bodies["default/crm-sync#crm"]["action"]["url"] == "https://api.example.com/v1/orders/sync"


def test_a_list_without_targets_is_a_gap_where_nothing_else_was_read() -> None:
    [gap] = read_files([ANSWERS]).gaps
    assert gap.what == "schedule default/trial-18"
    assert gap.remedy == "aws scheduler get-schedule --group-name=default --name=trial-18"
    assert len(read_files([ANSWERS / "list-schedules.json"]).gaps) == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [("-n", "--name=-n"), ("a; reboot", "--name='a; reboot'"), ("a\x1b[2J", "Print the list again.")],
)
def test_a_command_for_what_is_in_a_list(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "list.json").write_text(json.dumps({"Schedules": [{"Name": name}]}))
    [gap] = read_files([tmp_path]).gaps
    assert said in gap.remedy
    assert f"{gap.what}{gap.why}{gap.remedy}".isprintable()
    assert gap.why.endswith(".")


def test_targets_may_stand_in_their_rule(tmp_path: Path) -> None:
    rules = json.loads((ANSWERS / "list-rules.json").read_text())["Rules"]
    targets = json.loads((ANSWERS / "clean-up.targets.json").read_text())
    file = tmp_path / "any-name.json"
    file.write_text(json.dumps(rules[0] | targets))
    [rule] = read_files([file]).rules
    assert [target.id for target in rule.targets or ()] == ["queue", "stream"]


@pytest.mark.parametrize("name", ["clean-up", "clean-up.targets", "targets-clean-up", "list-targets-by-rule-clean-up"])
def test_targets_are_those_of_the_rule_that_the_file_is_called_like(tmp_path: Path, name: str) -> None:
    shutil.copy(ANSWERS / "list-rules.json", tmp_path / "rules.json")
    shutil.copy(ANSWERS / "clean-up.targets.json", tmp_path / f"{name}.json")
    found = read_files([tmp_path])
    assert {rule.name: len(rule.targets or ()) for rule in found.rules} == {"clean-up": 2, "crm-sync": 0, "uploads": 0}


def test_targets_without_their_rule(tmp_path: Path) -> None:
    file = tmp_path / "targets.json"
    shutil.copy(ANSWERS / "clean-up.targets.json", file)
    with pytest.raises(ReadingError, match=r"targets\.json: .* no rule of this name was read"):
        read_files([file])


def test_a_rule_of_two_buses_has_targets_of_neither(tmp_path: Path) -> None:
    rule = {"Name": "clean-up", "ScheduleExpression": "rate(1 day)"}
    buses = [rule | {"EventBusName": bus} for bus in ("default", "orders")]
    (tmp_path / "rules.json").write_text(json.dumps({"Rules": buses}))
    shutil.copy(ANSWERS / "clean-up.targets.json", tmp_path)
    with pytest.raises(ReadingError, match=r"2 rules of this name were read.*one bus at a time"):
        read_files([tmp_path])


def test_a_list_that_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text('{"Rules": [], "NextToken": "more"}')
    [gap] = read_files([tmp_path]).gaps
    assert "NextToken" in gap.why


TARGET = {"Arn": QUEUE, "Input": "{}"}
PAGES = {"nightly.json": {"Targets": [{"Id": "one", **TARGET}], "NextToken": "more"}}
LAST = {"nightly.targets.json": {"Targets": [{"Id": "two", **TARGET}]}}
WITHIN = {"rule.json": {"Name": "nightly", "ScheduleExpression": "rate(1 day)", **PAGES["nightly.json"]}}


@pytest.mark.parametrize("pages", [PAGES, PAGES | LAST, WITHIN], ids=["the first", "with the last", "in its rule"])
def test_a_rule_whose_targets_are_cut_off_is_left_and_not_disabled(tmp_path: Path, pages: dict[str, Any]) -> None:
    rule = {"Name": "nightly", "Arn": f"arn:aws:events:{PLACE}:rule/nightly", "ScheduleExpression": "rate(1 day)"}
    rules = {"rules.json": {"Rules": [rule]}} if pages is not WITHIN else {}
    for name, document in {**rules, **pages}.items():
        (tmp_path / name).write_text(json.dumps(document))
    found = read_files([tmp_path])
    [item] = translate(found, Options(now=NOW))
    assert isinstance(item, Left)
    assert "not all its targets were read, since the list is cut off" in item.reason
    [gap] = found.gaps
    assert gap.why == "The list is cut off: it has a NextToken."


@pytest.mark.parametrize("first", ["nightly.json", "a.json"], ids=["pages", "one in the rule"])
def test_targets_of_several_files_are_all_those_of_the_rule(tmp_path: Path, first: str) -> None:
    rule = {"Name": "nightly", "ScheduleExpression": "rate(1 day)"}
    targets = {"Targets": [{"Id": "one", **TARGET}]}
    documents = {"rules.json": {"Rules": [rule]}, first: targets if first == "nightly.json" else rule | targets}
    for name, document in {**documents, **LAST}.items():
        (tmp_path / name).write_text(json.dumps(document))
    [read] = read_files([tmp_path]).rules
    assert [target.id for target in read.targets or ()] == ["one", "two"]


def test_a_list_of_documents_and_nulls(tmp_path: Path) -> None:
    one = json.loads((ANSWERS / "get-schedule-report.json").read_text())
    (tmp_path / "all.json").write_text(json.dumps([one, one | {"Name": "other", "Description": None}]))
    assert [schedule.name for schedule in read_files([tmp_path]).schedules] == ["sales", "other"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("{", r"not JSON: .*Print it with --output json\.$"),
        ("<html>", "not JSON"),
        ("{} garbage", "not known by its fields"),
        ("17", "not an object"),
        ('{"Stacks": []}', "not known by its fields"),
        ('{"Rules": [{}]}', r"in Rules: not what AWS prints: .*`Name`"),
        ('{"Schedules": 17}', "in Schedules: not what AWS prints"),
        ('{"Name": "a", "ScheduleExpression": "b", "Target": {}}', r"`Arn` - at `\$.Target`"),
        (
            '{"Name":"","ScheduleExpression": "", "Target": {"Arn": "", "RetryPolicy": {"MaximumRetryAttempts": 186}}}',
            r"<= 185 - at `\$.Target.RetryPolicy.MaximumRetryAttempts`",
        ),
        (
            '{"Name": "a", "ScheduleExpression": "b", "Target": {"Arn": "c"}, "EndDate": "2027-01-01T00:00:00"}',
            "EndDate",
        ),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "wrong.json").write_text(text)
    with pytest.raises(ReadingError, match=rf"wrong\.json.*{said}"):
        read_files([tmp_path / "wrong.json"])


def test_the_second_document_is_counted(tmp_path: Path) -> None:
    one: dict[str, Any] = json.loads((ANSWERS / "get-schedule-report.json").read_text())
    (tmp_path / "two.json").write_text(json.dumps(one) + "\n" + json.dumps({"Name": 1}))
    with pytest.raises(ReadingError, match=r"two\.json, document 2"):
        read_files([tmp_path])


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ReadingError, match="cannot be read"):
        read_files([tmp_path / "missing.json"])
    with pytest.raises(ReadingError, match=r"ends with \.json"):
        read_files([tmp_path])
    (tmp_path / "latin.json").write_bytes(b'"\xe9"')
    with pytest.raises(ReadingError, match="cannot be read"):
        read_files([tmp_path])
