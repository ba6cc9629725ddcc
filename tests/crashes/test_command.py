"""`make crashes` says what it tried, and how to try one broken point again."""

import re
import sys
from functools import partial

import pytest

from tests.crashes import __main__ as command
from tests.crashes.store_story import StoreStory

SOUND = partial(StoreStory, transactions=3)
SPOILT = partial(StoreStory, transactions=10, setting="synchronous = NORMAL")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["crashes", *arguments])
    return command.main()


def test_all_points_of_a_story_are_tried(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It takes some seconds: processes start, and each point is a database that is opened."""
    monkeypatch.setattr(command, "STORIES", {"store": SOUND})
    assert run(monkeypatch) == 0
    said = capsys.readouterr().out
    assert re.fullmatch(r"store: \d+ operations, \d+ crash points, \d+ s: no promise was broken\.\n", said)


def test_a_broken_point_is_named_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It takes some seconds: processes start."""
    monkeypatch.setattr(command, "STORIES", {"store": SPOILT})
    assert run(monkeypatch, "--at-most", "200", "--faults", "2") == 1
    said = capsys.readouterr().out
    assert re.search(r"2 broken:\n  \d+-\w+-0: Broken: \d answered, \d asked for, and there is the state after ", said)
    again = re.search(r'make crashes ARGS="(.*)"', said)
    assert again
    assert run(monkeypatch, *again[1].split()) == 1
    assert ", 1 crash points, " in capsys.readouterr().out


def test_a_case_needs_its_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, "--case", "1-all-0")
