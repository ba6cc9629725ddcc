"""The report shows what was measured and every failure."""

import io
import json
from pathlib import Path

from attrs import evolve
from rich.console import Console

from bench.command.options import Options, parse
from bench.load.throughput import Throughput
from bench.measure.lateness import Lateness
from bench.measure.requests import PerCall
from bench.report import markdown
from bench.report.figures import Report, write_json
from bench.report.tables import heading, show
from tests.unit.bench.rows import FAILED, FAILED_WARMING_UP, ROW, WITHOUT_CALLS


def shown(report: Report, options: Options) -> str:
    text = io.StringIO()
    show(report, options, Console(file=text, width=80))
    return text.getvalue()


def test_a_markdown_table_has_numbers_to_the_right() -> None:
    assert markdown.table(("call", "n"), [("a", "10"), ("b|c", "2")]).splitlines() == [
        "| call |  n |",
        "|------|---:|",
        "| a    | 10 |",
        "| b\\|c |  2 |",
    ]


def test_the_calls_are_a_markdown_table_without_broken_lines() -> None:
    lines = shown(Report(api=[ROW]), parse(["--only", "api"])).splitlines()
    (row,) = [line for line in lines if line.startswith("| GET")]
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        "GET /schedules/{id}",
        "3",
        "0",
        "1",
        "20",
        "0.00",
        "2.00",
        "0",
        "1.00",
    ]


def test_a_long_name_takes_no_room_from_the_numbers() -> None:
    row = Lateness(
        name="500/s, beside one that is better than well",
        schedules=30_000,
        p50=1_234,
        p99=23_456,
        worst=34_567,
        early=0,
        lost=0,
        doubled=0,
        last_seconds=123.45,
    )
    text = shown(Report(lateness=[row]), parse([]))
    assert all(number in text for number in ("30000", "1234", "23456", "34567", "123.45 s"))
    assert "\u2026" not in text


def test_sqs_requests_are_named_by_their_function() -> None:
    units = PerCall(writes=1, reads=0, sqs={"b": 0.25, "a": 1}, invocations={"a": 1, "b": 0.5})
    text = shown(Report(api=[evolve(ROW, units=units)]), parse([]))
    assert "| a 1.00, b 0.25 |" in text
    assert "1.50 |" in text


def test_every_failure_is_shown_and_makes_the_run_wrong() -> None:
    for row, count in ((FAILED, "2"), (FAILED_WARMING_UP, "1")):
        report = Report(api=[ROW, row])
        text = shown(report, parse([]))
        assert f"|      {count} |" in text
        assert f"Failed: {row.failures()[0]}" in text
        assert not report.is_correct
    assert Report(api=[ROW]).is_correct


def test_a_row_without_calls_is_wrong() -> None:
    report = Report(api=[WITHOUT_CALLS])
    assert "| – |" in " ".join(shown(report, parse([])).split())
    assert not report.is_correct


def test_a_failed_post_of_the_throughput_is_shown() -> None:
    failed = Throughput(clients=8, calls=2, failed=1, per_second=0.5, p50_ms=1.0, failures={"503: busy": 1})
    report = Report(throughput=failed)
    assert "Failed: POST /schedules, throughput: 1 × 503: busy" in shown(report, parse([]))
    assert not report.is_correct


def test_the_heading_says_which_stack_was_measured() -> None:
    assert heading(parse([])).endswith(", stack with Canary=off DelayerPeriod=60 Lifecycle=off")
    assert heading(parse(["--parameter", "Lifecycle=journal"])).endswith(" Lifecycle=journal")
    assert "Lifecycle" not in heading(parse(["--only", "imports"]))


def test_the_calls_are_in_the_json_file(tmp_path: Path) -> None:
    write_json(tmp_path / "figures.json", parse(["--only", "api"]), Report(api=[FAILED]))
    (row,) = json.loads((tmp_path / "figures.json").read_text())["api"]
    assert (row["name"], row["measured"]["failures"], row["units"]["reads"]) == (FAILED.name, {"503: busy": 2}, 2)
