"""The report says what was measured, and why something was not."""

import io
import json
from pathlib import Path

from rich.console import Console

from bench.command.options import parse
from bench.load.arrivals import Arrival
from bench.measure.lateness import summarise
from bench.peers.contender import CANCEL, CANCELLED, Memory
from bench.peers.outcome import Growth, Outcome, cancels, crash
from bench.peers.report import show, write_json

DUE = {"a": 1_000, "b": 1_000, "c": 1_000}
ARRIVALS = [Arrival(schedule_id="a", at_ms=1_005), Arrival(schedule_id="b", at_ms=61_000)]
MEASURED = Outcome(
    name="celery",
    settings="acks_late",
    lateness=[summarise("50/s", DUE, ARRIVALS)],
    crash=crash(DUE, ARRIVALS, killed_at=2_000, ended_at=90_000, waiting=1),
    cancels=cancels({"a": CANCELLED, "b": CANCELLED}, {"a"}, in_time={"a", "b"}),
    growth=Growth(
        waiting=50_000, before=Memory(processes_mb=100, store_mb=0), after=Memory(processes_mb=600, store_mb=20)
    ),
)
SKIPPED = Outcome(name="apscheduler", skipped="It could not be installed: no network.")


def printed(*outcomes: Outcome) -> list[str]:
    output = io.StringIO()
    show(outcomes, Console(file=output, width=200))
    return [" ".join(line.split()) for line in output.getvalue().splitlines()]


def test_each_table_has_a_row_for_what_was_measured() -> None:
    lines = printed(MEASURED, SKIPPED)
    assert "| celery, 50/s | 3 | 5 | 60,000 | 60,000 | 60.0 s | 0 | 1 | 0 |" in lines
    assert "| celery | 1 | 1 | 60.0 s | 1 | 0 | 0 | 0 |" in lines
    assert "| celery | 2 | 1 | 0 | 0 | 0 | 1 of 2 |" in lines
    assert "| celery | 50,000 | 100 | 1,000 | 40 |" in lines
    assert "celery: acks_late." in lines
    assert "apscheduler is left out. It could not be installed: no network." in lines


def test_what_a_scheduler_cannot_do_has_a_dash_and_a_reason() -> None:
    lines = printed(Outcome(name="delayer-aws", settings="no setting", cannot={CANCEL: "It has no cancel."}), MEASURED)
    assert "| delayer-aws | – | – | – | – | – | – |" in lines
    assert "delayer-aws: no setting. It has no cancel." in lines


def test_a_table_without_rows_is_not_shown() -> None:
    assert not [line for line in printed(SKIPPED) if line.startswith("|")]


def test_all_figures_are_written(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    write_json(file, parse(["--peers"]), [MEASURED, SKIPPED])
    content = json.loads(file.read_text())
    assert [one["name"] for one in content["peers"]] == ["celery", "apscheduler"]
    assert content["peers"][0]["crash"]["waiting"] == 1
    assert content["machine"]["processors"] > 0
