"""The end of a run: its ten slowest tests, and which of those above a second do not say why.

A test that takes long says in its docstring what it takes its seconds for, so that nobody has to measure it to know.
"""

import inspect
import re
from typing import Final

import pytest

SECOND: Final = 1.0
SHOWN: Final = 10
# How a docstring says that it takes time: "It takes three seconds, because …", "Some seconds: …".
REASON: Final = re.compile(r"\b(takes?|waits?|lasts?|needs?)\b[^.]*\b(seconds?|minutes?)\b|\b(seconds?|minutes?)\b[:,]")
NO_REASON: Final = "says no reason"
KEY: Final = "delayer_says_why"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What the test says travels with its report: workers send nothing else."""
    item.user_properties.append((KEY, says_why(getattr(item, "function", None))))


def says_why(test: object) -> bool:
    """Whether its docstring speaks of its time."""
    text = (inspect.getdoc(test) or "").lower() if callable(test) else ""
    return bool(REASON.search(text))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """After the failures."""
    reports = [one for found in ("passed", "failed") for one in terminalreporter.stats.get(found, [])]
    lines = slowest([one for one in reports if one.when == "call"])
    if lines:
        terminalreporter.section("slowest tests")
        for line in lines:
            terminalreporter.write_line(line)


def slowest(reports: list[pytest.TestReport]) -> list[str]:
    """The ten slowest, and all above a second that give no reason for it."""
    ordered = sorted(reports, key=lambda one: one.duration, reverse=True)
    silent = [one for one in ordered if one.duration > SECOND and not dict(one.user_properties).get(KEY)]
    shown = [one for place, one in enumerate(ordered) if place < SHOWN or one in silent]
    return [
        f"{one.duration:7.2f} s  {one.nodeid}" + (f"  ({NO_REASON})" if one in silent else "")
        for one in shown
        if one.duration > SECOND or one in ordered[:SHOWN]
    ]
