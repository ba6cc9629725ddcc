"""The page on actions of other stacks shows the example as it is, and the bounds that the code has."""

import json
import re

import pytest

from delayer.accept.rules.admission import admit
from delayer.actions.rules.foreign import DEEPEST, KEYWORDS, LARGEST, LONGEST_MATCHED, LONGEST_TYPE, Unsafe, check
from delayer.actions.rules.registration import MOST_FOREIGN
from delayer.extension.action import schema_of
from delayer.extension.harness import handler_in
from delayer.schedule.instants import parse_instant
from tests.cfn import ROOT, expanded
from tests.docs.blocks.fences import fences_in

EXAMPLE = ROOT / "examples/executor-in-its-own-stack"
PAGE = (ROOT / "docs/extend/other-stacks.md").read_text()
README = (EXAMPLE / "README.md").read_text()
BLOCKS = [*fences_in("extend/other-stacks.md", PAGE)]
REGISTRAR = "lambda:InvokeFunction"


@pytest.mark.parametrize("file", ["app.py", "template.yaml"])
def test_the_page_shows_the_whole_file(file: str) -> None:
    [shown] = [one.text for one in BLOCKS if one.title == f"examples/{EXAMPLE.name}/{file}"]
    assert shown == (EXAMPLE / file).read_text()


def test_the_bounds_are_those_of_the_code() -> None:
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE))
    numbers = {name: [int(one.replace(",", "")) for one in re.findall(r"[\d,]*\d", row)] for name, row in rows.items()}
    assert numbers["the type"] == [LONGEST_TYPE]
    assert numbers["the schema of the class, and that of the payload"] == [LARGEST, DEEPEST]
    assert numbers["the text that a `pattern` is matched with"] == [LONGEST_MATCHED]
    assert numbers["types of all other stacks together"] == [MOST_FOREIGN]


def test_the_keywords_are_those_of_the_code() -> None:
    [line] = re.findall(r"^- \*\*Keywords\*\* .+$", PAGE, re.MULTILINE)
    assert set(re.findall(r"`([^`]+)`", line)) == KEYWORDS


@pytest.mark.parametrize(("number", "is_allowed"), [(0, True), (1, False)])
def test_the_patterns_are_examples_of_what_the_code_takes(number: int, is_allowed: bool) -> None:
    [line] = re.findall(r"^- \*\*A pattern\*\* .+$", PAGE, re.MULTILINE)
    pattern = re.findall(r"`(\^.+?\$)`", line)[number]
    target = handler_in(EXAMPLE).target
    schema = schema_of(target.fields, target.kind)
    schema["properties"]["topic"]["pattern"] = pattern
    changed = target.action_type.__class__(type=target.kind, schema=json.dumps(schema))
    if is_allowed:
        check(changed)
    else:
        with pytest.raises(Unsafe, match="pattern"):
            check(changed)


def test_the_request_is_accepted() -> None:
    [request] = [one.text for one in BLOCKS if "delaySeconds" in one.text]
    target = handler_in(EXAMPLE).target
    admit(request.encode(), parse_instant("2026-11-21T09:00:00Z"), {target.kind: target.action_type})


def test_it_is_listed_as_the_page_on_the_api_shows() -> None:
    page = (ROOT / "docs/use/api.md").read_text()
    [shown] = [one.text for one in fences_in("", page) if one.text.startswith('{"actions"')]
    action_type = handler_in(EXAMPLE).target.action_type
    expected = {"type": action_type.type, "stack": "notes", "largestPayload": action_type.largest_payload}
    assert json.loads(shown) == {"actions": [{**expected, "schema": json.loads(action_type.schema)}]}


@pytest.mark.parametrize("text", [PAGE, README], ids=["page", "README"])
def test_only_cloudformation_speaks_for_a_stack(text: str) -> None:
    [shown] = [one.text for one in fences_in("", text) if REGISTRAR in one.text and one.language == "json"]
    statement = json.loads(shown)
    assert statement["Action"] == REGISTRAR
    name = expanded()["Resources"]["DeployActionRegistrar"]["Properties"]["FunctionName"]["Fn::Sub"]
    assert statement["Resource"].endswith(":function:" + name.replace("${AWS::StackName}", "delayer"))
    condition = {"ForAnyValue:StringEquals": {"aws:CalledVia": "cloudformation.amazonaws.com"}}
    assert statement["Condition"] == condition


def test_what_is_left_out_is_the_registration() -> None:
    [command] = [one.text for one in BLOCKS if "--retain-resources" in one.text]
    name = command.split("--retain-resources ")[1].strip()
    assert re.search(rf"^  {name}:.*\n    Type: Custom::DelayerAction$", PAGE, re.MULTILINE)
