"""The page on the harness is performed, with the two functions of the tutorials."""

import re
from pathlib import Path
from typing import Any

import pytest

from delayer.extension.harness import NotAccepted, handler_in, run
from tests.cfn import ROOT
from tests.docs.blocks.fences import fences_in
from tests.docs.extension.test_tutorial import steps

PAGE = (ROOT / "docs/extend/harness.md").read_text()
APPS = {
    step.title: step.text
    for page in ("extend/extending.md", "extend/subscribers.md")
    for step in steps(page)
    if step.title.endswith("/app.py")
}


@pytest.fixture(autouse=True)
def in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ALLOW_PRIVATE_TARGETS", "true")
    for name, text in APPS.items():
        Path(name).parent.mkdir(parents=True)
        Path(name).write_text(text)


def test_its_examples_are_true() -> None:
    blocks = [one.text for one in fences_in("extend/harness.md", PAGE) if one.language == "python"]
    assert sum("assert " in one for one in blocks) == len(blocks) == 4
    names: dict[str, Any] = {}
    for block in blocks:  # one after the other, as a reader tries them
        exec(block, names)


def test_the_words_of_the_refusal_are_those_that_a_test_shows() -> None:
    [words] = re.findall(r"^```text\n(.+)\n```$", PAGE, re.MULTILINE)
    with pytest.raises(NotAccepted) as refused:
        run(handler_in("functions/executor-slack-post"), {"webhookUrl": "chat.example", "text": "Ready."})
    assert str(refused.value) == words
