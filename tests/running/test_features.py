"""`make test-fast FEATURE=…` runs what belongs to a feature, and the page on contributing has the map."""

import re

import pytest

from tests.running.features import FEATURES, ROOT, WITHOUT_STACK, all_files, files_of, main, table

PAGE = ROOT / "docs/project/contributing.md"


def test_each_test_file_belongs_to_a_feature() -> None:
    files = all_files()
    assert len(files) > 300
    found = {file for name in FEATURES for file in files_of(name, files)}
    assert sorted(set(files) - found) == []


def test_the_page_has_the_map() -> None:
    """Paste what `python -m tests.running.features --table` prints."""
    assert table() in PAGE.read_text()


def test_a_feature_gives_its_files_without_those_of_the_stack(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("series") == 0
    files = capsys.readouterr().out.split()
    assert "tests/unit/recurrence/test_rule.py" in files
    assert not [file for file in files if file.startswith("tests/e2e/") or not re.search(r"/test_\w+\.py$", file)]


@pytest.mark.parametrize("name", FEATURES)
def test_each_feature_has_tests_without_the_stack(name: str) -> None:
    """Without a file, pytest would run all that there are."""
    assert [file for file in files_of(name, all_files()) if not file.startswith(WITHOUT_STACK)]


def test_without_a_feature_all_but_the_stack_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("") == 0
    assert capsys.readouterr().out == "tests --ignore tests/e2e\n"


def test_an_unknown_feature_is_answered_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("serie") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("There is no feature 'serie'. FEATURE is one of: accept, ")
