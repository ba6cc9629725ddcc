"""The page on FakeDelayer is performed, as a reader tries it."""

import re
from typing import Any

import attrs

from delayer_client.testing import Answer, Attempt
from tests.cfn import ROOT
from tests.docs.blocks.fences import fences_in

PAGE = (ROOT / "docs/use/testing.md").read_text()


def test_its_examples_are_true() -> None:
    blocks = [one.text for one in fences_in("use/testing.md", PAGE) if one.language == "python"]
    assert len(blocks) == 6
    names: dict[str, Any] = {}
    for block in blocks:  # one after the other; fixtures are of another file
        exec(block, dict(names) if "@pytest.fixture" in block else names)


def test_its_tables_name_what_there_is() -> None:
    first_column = re.findall(r"^\| `(Answer\.\w+)", PAGE, re.MULTILINE)
    assert {name.partition(".")[2] for name in first_column} == {
        name for name, found in vars(Answer).items() if isinstance(found, classmethod)
    }
    [table] = re.findall(r"^\| an attempt's \| is \|\n\|.*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    named = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    fields = {one.name for one in attrs.fields(Attempt)}
    assert named == fields | {"late_by", "idempotency_key"}
