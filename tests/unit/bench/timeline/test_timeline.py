"""The figures of a firing's timeline: read from logs and answers, stored, and shown on the page as they are stored."""

import json
import re
from pathlib import Path

import pytest

from bench.timeline import figures
from bench.timeline.__main__ import main
from bench.timeline.figures import AFTER_POST, AROUND_DUE, Firing, Instant, Measured, summary
from bench.timeline.measure import Seen, firing, logged_at
from docs.pictures import timeline
from local.errors import EmulatorError
from local.project import PROJECT

PAGE = (PROJECT / "docs/how-it-works/journey.md").read_text(encoding="utf-8")
DUE = 1_795_251_600_000  # 2026-11-21T09:00:00Z
MACHINE = {"at": "2026-11-21T09:00:00+00:00", "processors": 2, "python": "3.11.7", "system": "Linux"}


def a_firing(reached: int = 5) -> Firing:
    return Firing(
        answered=10, sent=30, claim_began=-500, claimed=-490, reached=reached, decided=8, written=20, shown=400
    )


def line(message: str, timestamp: str, schedule_id: str = "s1") -> str:
    return json.dumps({"message": message, "timestamp": timestamp, "scheduleId": schedule_id})


def test_each_instant_is_read_where_it_is_known() -> None:
    history = [
        {"event": "claimed", "at": "2026-11-21T08:59:59.500Z"},
        {"event": "executed", "at": "2026-11-21T09:00:00.008Z"},
    ]
    seen = Seen(
        schedule_id="s1",
        due=DUE,
        posted=DUE - 4000,
        answered=DUE - 3990,
        reached=DUE + 5,
        shown=DUE + 400,
        status={"history": history},
    )
    logs = {
        "stream-enqueuer": line("enqueued", "2026-11-21T08:59:56.030+00:00"),
        "delayer-relay": line("claimed", "2026-11-21T08:59:59.510+00:00"),
        "executor-http-request": line("executed", "2026-11-21T09:00:00.020+00:00"),
    }
    assert firing(seen, logs) == a_firing()


def test_the_line_of_another_schedule_or_step_is_not_taken() -> None:
    log = "\n".join(
        ["s1 in no JSON", line("claimed", "2026-11-21T09:00:01Z", "s2"), line("dropped", "2026-11-21T09:00:02Z")]
    )
    with pytest.raises(EmulatorError, match="claimed"):
        logged_at(log, "claimed", "s1")
    assert logged_at(log, "dropped", "s1") == DUE + 2000


def test_what_is_stored_is_read_again(tmp_path: Path) -> None:
    measured = Measured(machine=MACHINE, schedules=2, ahead=4000, instants=summary([a_firing(), a_firing(9)]))
    figures.write(measured, tmp_path / "figures.json")
    assert figures.read(tmp_path / "figures.json") == measured


def test_an_instant_over_all_schedules() -> None:
    found = summary([a_firing(number) for number in range(1, 21)])
    assert found["reached"] == Instant(median=10.5, least=1, most=20)
    assert found["sent"] == Instant(median=30, least=30, most=30)
    assert set(found) == {*AFTER_POST, *AROUND_DUE}


def test_the_page_shows_what_is_stored() -> None:
    stored = figures.read()
    assert figures.table(stored) in PAGE
    assert stored.schedules >= 20
    assert "<!-- picture: timeline -->" in PAGE


def test_nothing_that_is_stored_was_early() -> None:
    stored = figures.read().instants
    assert stored["claim_began"].least >= -500
    assert stored["reached"].least >= 0
    medians = [stored[name].median for name in AROUND_DUE]
    assert medians == sorted(medians)


def test_the_picture_has_each_figure_of_the_table_but_the_last() -> None:
    stored, picture = figures.read(), timeline.draw()
    at = {name: round(stored.instants[name].median) for name in (*AFTER_POST, *AROUND_DUE)}
    spans = [at["answered"], at["sent"], at["claimed"] - at["claim_began"], -at["claimed"]]
    spans += [at["reached"], at["decided"] - at["reached"], at["written"] - at["decided"]]
    assert [span for span in spans if f">{figures.shown(span)}<" not in picture] == []


def test_the_lateness_beside_it_is_that_of_the_benchmarks() -> None:
    benchmarks = (PROJECT / "docs/decide/benchmarks.md").read_text(encoding="utf-8")
    [p50] = re.findall(r"^\| 50/s, POSTed ahead \| [\d,]+ \| (\d+) \|", benchmarks, re.MULTILINE)
    assert f"the median lateness was {p50} ms" in PAGE


@pytest.mark.parametrize("given", ["-1", "1.5", "many", ""])
def test_a_number_that_is_none_is_refused_before_a_stack_starts(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([f"--schedules={given}"])
    assert ended.value.code == 2
    assert "is not a whole number above zero" in capsys.readouterr().err
