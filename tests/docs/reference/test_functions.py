"""Each function has a page with what its folder and the template say of it, and is in the list of all."""

import re

from docs.hooks.reference import pages
from docs.hooks.reference.functions import facts, index, page, rights
from docs.hooks.reference.text import placed
from tests.cfn import ROOT, functions, leading_keys, listed, logical_names, resources, statements, variables
from tests.running.of_each import of_each

FOLDERS = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))
PAGES = page.pages()
LIST = pages.filled((ROOT / "docs" / page.INDEX).read_text(), page.INDEX)

each = of_each(FOLDERS)


def test_each_folder_has_a_page_and_a_place_in_the_navigation() -> None:
    assert sorted(functions()) == FOLDERS
    assert sorted(PAGES) == [f"reference/functions/{name}.md" for name in FOLDERS]
    entries = [one for group in page.navigation() for inside in group.values() for one in inside]
    linked = [path for one in entries for path in one.values()]
    assert sorted(linked) == sorted(PAGES)


@each
def test_the_list_has_it_with_what_it_does(name: str) -> None:
    assert f"[`{name}`](functions/{name}.md){{ #{name} }}" in LIST
    assert len(index.first_paragraph(name)) > 40
    assert placed(index.first_paragraph(name), page.INDEX) in LIST


def section(name: str, title: str) -> str:
    return PAGES[page.path(name)].split(f"\n## {title}\n")[1].split("\n## ")[0].strip()


@each
def test_it_says_what_invokes_it(name: str) -> None:
    """The routes of the template, each source, each rule; what nothing invokes, an operator does."""
    said = section(name, "What invokes it")
    integration = f"integrations/${{{logical_names()[name]}Integration}}"
    routes = resources("AWS::ApiGatewayV2::Route").values()
    keys = [one["RouteKey"] for one in routes if one["Target"]["Fn::Sub"] == integration]
    assert [key for key in keys if f"`{key}`" not in said and key != "$default"] == []
    for event in functions()[name].get("Events", {}).values():
        given = event["Properties"]
        reads = [given[key]["Fn::GetAtt"].partition(".")[0] for key in ("Queue", "Stream") if key in given]
        assert [one for one in reads or [given["ScheduleExpression"]] if f"`{one}`" not in said] == []
    assert ("Nothing in the stack" in said) == (name.startswith("operator-") and name != "operator-id-key")


def test_it_says_which_list_has_to_name_something() -> None:
    """Most stacks have none of these (ADR 0172). Three expansions of the template take a second."""
    lists = {"relaxed-claimer": "Lanes", "timing-enqueuer": "Policies", "task-1minute-timing": "Policies"}
    of_each_kind = {"policy": "Policies", "subscriber": "Subscribers"}
    for name in FOLDERS:
        needed = lists.get(name) or of_each_kind.get(name.partition("-")[0])
        wanted = [f"- Only if [`{needed}`](../parameters.md#{needed.lower()}) is not `none`."] if needed else []
        assert [
            line for line in section(name, "What invokes it").splitlines() if line.startswith("- Only if")
        ] == wanted


@each
def test_it_has_every_permission(name: str) -> None:
    said = section(name, "What it may do")
    for statement in statements(name):
        if rights.is_of_logs(statement):
            continue
        assert [one for one in listed(statement["Action"]) if f"`{one}`" not in said] == []
        assert [key for key in leading_keys(statement) if f"`{key}`" not in said] == []
        for resource in rights.flat(listed(statement["Resource"])):
            assert f"| {rights.named(resource)} |" in said.replace("(../parameters.md", "(docs:reference/parameters.md")


def test_a_function_without_permissions_says_so() -> None:
    assert "Nothing but to write its own log." in section("api-series-preview", "What it may do")


@each
def test_it_has_every_setting(name: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\S.*) \|$", section(name, "Its settings"), re.MULTILINE)
    assert dict(rows).keys() == variables(name).keys()


def test_the_settings_of_all_functions_are_listed() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\S.*) \|$", LIST, re.MULTILINE)
    assert [name for name, _ in rows] == [name for name, _ in facts.shared_settings()]


@each
def test_it_names_the_alarms_on_what_it_reads(name: str) -> None:
    said = section(name, "What watches it")
    assert ("[`ExecutorQueueOldAlarm`]" in said) == name.startswith("executor-")
    assert ("[`ApiServerErrorsAlarm`](../alarms.md#apiservererrorsalarm)" in said) == name.startswith("api-")
    assert ("No alarm is about" in said) == ("](../alarms.md#" not in said)
    assert ("[`StreamNotPolledAlarm`]" in said) == (name == "stream-enqueuer")
    assert ("[`SweepDeadLetterQueueAlarm`]" in said) == (name == "sweep-bucket-enqueuer")
    assert ("[`TaskDeadLetterQueueAlarm`]" in said) == (name.startswith("task-") or name == "operator-id-key")
