"""What is said of other schedulers has a source and a date, and what is calculated from it is right."""

import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import Loader

from docs.hooks import compared
from tests.cfn import ROOT
from tests.running.of_each import of_each

DECIDE = ROOT / "docs/decide"


COMPARED: dict[str, Any] = compared.read()
OTHERS: dict[str, Any] = COMPARED["others"]
PROPERTIES = list(COMPARED["properties"])

each_figure = of_each([(name, about) for name in OTHERS for about in PROPERTIES], unpacked=True)
each_source = of_each(sorted(COMPARED["sources"]))


def said(name: str, about: str) -> str:
    return str(OTHERS[name][about]["value"])


def test_those_of_the_title_are_compared_in_all_properties() -> None:
    assert list(OTHERS) == [
        *("eventbridge", "step-functions", "dynein", "qstash"),
        *("cloud-tasks", "temporal", "celery", "huey", "procrastinate", "pg-cron"),
    ]
    for name, other in OTHERS.items():
        assert list(other) == ["name", "better", *PROPERTIES], name
    assert list(COMPARED["delayer"]) == PROPERTIES


@each_figure
def test_a_figure_has_a_source_or_a_reason_why_there_is_none(name: str, about: str) -> None:
    figure = OTHERS[name][about]
    assert set(figure) in ({"value", "sources"}, {"missing"}, {"missing", "sources"})
    assert [key for key in figure.get("sources", []) if key not in COMPARED["sources"]] == []
    assert figure.get("missing") or figure["sources"]


@each_source
def test_a_source_has_an_address_and_the_day_on_which_it_was_read(name: str) -> None:
    source = COMPARED["sources"][name]
    assert set(source) - {"dated"} == {"title", "url", "looked_up"}
    assert re.fullmatch(r"https://[a-z0-9.-]+/\S+", source["url"])
    assert isinstance(source["looked_up"], date)
    if isinstance(source.get("dated"), date):
        assert source["dated"] <= source["looked_up"]
    used = [key for other in OTHERS.values() for about in PROPERTIES for key in other[about].get("sources", [])]
    assert name in used


def test_the_page_has_a_table_of_each_property() -> None:
    page = (DECIDE / "compared.md").read_text()
    assert re.findall(r"^<!-- compared: (.+) -->$", page, re.MULTILINE) == ["when", *PROPERTIES, "missing"]
    written = compared.on_page_markdown(page)
    assert "<!-- compared" not in written
    for other in OTHERS.values():
        assert written.count(f"| {other['name']} |") == 1 + len(PROPERTIES)
    for source in COMPARED["sources"].values():
        assert f"]({source['url']})" in written


def test_what_is_not_known_is_listed() -> None:
    written = compared.written("missing").splitlines()
    missing = [(name, about) for name in OTHERS for about in PROPERTIES if "missing" in OTHERS[name][about]]
    assert len(written) == len(missing)
    assert written
    for line, (name, about) in zip(written, missing, strict=True):
        assert line.startswith(f"- {OTHERS[name]['name']}, {about}: ")


def test_another_page_without_marks_stays_as_it_is() -> None:
    assert compared.on_page_markdown("# A page\n\n<!-- compared -->") == "# A page\n\n<!-- compared -->"


def test_a_figure_that_a_page_has_lost_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for page, _ in compared.FIGURES.values():
        (tmp_path / page).write_text("nothing")
    monkeypatch.setattr(compared, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"cost\.md does not have bursts and trickle any more"):
        compared.figures()


@pytest.mark.parametrize(
    ("name", "steps", "price", "each", "words"),
    [
        ("step-functions", 2, "0.025", 1_000, ("two transitions", "$0.025 per 1,000")),
        ("cloud-tasks", 2, "0.40", 1_000_000, ("two operations", "$0.40 per million")),
        ("temporal", 3, "50", 1_000_000, ("three actions", "$50 per million")),
        ("qstash", 1, "1", 100_000, ("$1 per 100,000",)),
    ],
    ids=["step-functions", "cloud-tasks", "temporal", "qstash"],
)
def test_what_is_calculated_is_right(name: str, steps: int, price: str, each: int, words: tuple[str, ...]) -> None:
    dollars = Decimal(price) * steps * 1_000_000 / each
    shown = f"${dollars:.2f}" if dollars % 1 else f"${dollars:.0f}"
    assert re.search(rf"{re.escape(shown)}\b", said(name, "cost"))
    assert [word for word in words if word not in said(name, "cost")] == []


def test_eventbridge_is_as_its_own_model_says() -> None:
    """The bounds of its API, and that none of its calls shows what became of an invocation."""
    model = Loader().load_service_model("scheduler", "service-2")
    shapes = model["shapes"]
    assert shapes["MaximumRetryAttempts"]["max"] == 185
    assert shapes["MaximumEventAgeInSeconds"]["max"] == 24 * 3_600
    assert "185 retries within 24 hours" in said("eventbridge", "limits")
    assert [name for name in model["operations"] if re.search("Invocation|History|Execution", name)] == []
    assert shapes["DeleteScheduleOutput"]["members"] == {}
    assert {"KmsKeyArn", "ScheduleExpressionTimezone"} <= set(shapes["CreateScheduleInput"]["members"])
    assert "RoleArn" in shapes["Target"]["required"]
