"""`delayer verify`: what it asks for, and what it shows of a run."""

import os
import re
import signal
from collections.abc import Callable
from typing import Any

import pytest

from delayer_client.operator.verify import PARTS, Options, Report, Verification
from delayer_client.operator.verify.results.cost import Bill
from delayer_client.operator.verify.results.findings import Lateness, broken, held, unchecked
from delayer_client.operator.verify.results.report import report_of
from tests.client.cli.conftest import Cli, Ran

URL = "https://abc.execute-api.eu-west-1.amazonaws.com"
FOUND = [held("near", "5 of 5"), broken("races", "[red] is no markup"), unchecked("canary", "no credentials")]
LATE = [Lateness(part="near", schedules=5, p50=8, p99=11, longest=12)]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Verification]:
    """Those that were begun; each finds out the same."""
    begun: list[Verification] = []

    def run(self: Verification) -> Report:
        begun.append(self)
        with self.step("Cancelling in time"):
            self.say("    not removed: a queue")
        return report_of(FOUND, LATE, Bill(schedules=138))

    monkeypatch.setattr(Verification, "run", run)
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # that of the tests stays
    return begun


@pytest.fixture
def verify(delayer: Cli) -> Callable[..., Ran]:
    return lambda *words: delayer("verify", *words)


def test_all_parts_unless_some_are_left_out(verify: Callable[..., Ran], runs: list[Verification]) -> None:
    verify("--url", URL + "/", "--yes")
    verify("--url", URL, "--skip", "far", "--skip", "canary", "--yes")
    verify("--url", URL, "--only", "races", "--yes")
    verify("--url", URL, "--stack", "s", "--bulk", "20", "--allowed-ms", "8000", "--canary-seconds", "9", "--yes")
    assert [one.options for one in runs] == [
        Options(url=URL),
        Options(url=URL, parts=PARTS[:-2]),
        Options(url=URL, parts=("races",)),
        Options(url=URL, stack="s", bulk=20, allowed_ms=8000, canary_seconds=9),
    ]


def test_the_token_of_the_environment(
    verify: Callable[..., Ran], runs: list[Verification], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELAYER_TOKEN", "a.b.c")
    verify("--yes")
    assert runs[0].options.token == "a.b.c"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--url", "abc", "--yes"], "The URL of the API is like"),
        (["--bulk", "101", "--yes"], "less than or equal to 100"),
        (["--skip", "nearly"], "There is no part 'nearly'. They are: concurrency"),
        ([], "about 140 schedules, a series and two queues? Nobody can be asked here"),
    ],
)
def test_a_wrong_command_line(
    verify: Callable[..., Ran], runs: list[Verification], wrong: list[str], said: str
) -> None:
    done = verify(*wrong)
    assert done.status == 2
    assert said in done.err
    assert runs == []


def test_nothing_found_is_cut_in_a_narrow_window(
    verify: Callable[..., Ran], runs: list[Verification], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    words = "".join(verify("--url", URL, "--yes").out.split())
    assert all("".join(finding.outcome.split()) in words for finding in FOUND)
    assert "\u2026" not in words
    assert "FOUND" in words


def test_the_help_names_each_part(verify: Callable[..., Ran]) -> None:
    said = verify("--help").out.partition("The parts:")[2].partition(".")[0]
    assert tuple("".join(said.split()).split(",")) == PARTS


def test_help_says_what_it_does_and_how_it_ends(verify: Callable[..., Ran]) -> None:
    said = " ".join(verify("--help").out.split())
    assert "remove what was made" in said
    assert "exit status is 0 if everything that was asked for was checked and held" in said


def test_what_was_found_out_is_shown(verify: Callable[..., Ran], runs: list[Verification]) -> None:
    """Its steps and what is said beside them are on standard error, for the log of whoever has no terminal."""
    done = verify("--url", URL, "--yes")
    assert done.status == 6
    for finding in FOUND:
        assert finding.detail in done.out
    assert "near      5          8 ms  11 ms  12 ms" in done.out
    assert re.search(r"138 schedules; it cost about \d+\.\d\d US cents. 1 promises do not hold.", done.out)
    assert done.err.splitlines() == ["  Cancelling in time", "    not removed: a queue"]
    [shown] = verify("--url", URL, "--yes", "--json").objects
    assert [one["detail"] for one in shown["findings"]] == [one.detail for one in FOUND]


def test_whoever_ends_it_waits_until_what_was_made_is_removed(
    verify: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM is as Ctrl-C. What is removed, tests/client/operator/verify/test_run.py says."""
    before = signal.getsignal(signal.SIGTERM)

    def ended(_: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()

    monkeypatch.setattr(Verification, "run", ended)
    try:
        done = verify("--url", URL, "--yes")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done.status == 130
    assert "Stopped. What was made is removed." in done.err
