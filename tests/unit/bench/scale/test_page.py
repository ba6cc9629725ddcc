"""The page on scale, its picture and its answer are made of one file, and the model says what stands in it."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from attrs import evolve

from bench.scale import facts, figures, report, stack
from bench.scale.model import Load, simulate
from bench.scale.page import ranges, rows, texts
from bench.scale.page.rows import Row
from bench.scale.stack import Mapping
from docs.pictures import scaling
from local.project import PROJECT

PAGE = (PROJECT / "docs/how-it-works/scale.md").read_text(encoding="utf-8")
SCALES = rows.read()
SVG = "{http://www.w3.org/2000/svg}"


def row(scale: str, load: Load) -> Row:
    return texts.named(SCALES[scale], load.name)


@pytest.mark.parametrize(("name", "text"), texts.texts(SCALES).items(), ids=lambda value: value.partition("\n")[0])
def test_the_page_shows_what_the_file_says(name: str, text: str) -> None:
    """If this fails: make scale ARGS=--write."""
    assert f"<!-- {name} -->\n\n{text}\n\n<!-- end of {name} -->" in PAGE


@pytest.mark.parametrize("scale", stack.SCALES)
@pytest.mark.parametrize("load", [one for one in (*report.LOADS, *report.BETWEEN) if one.schedules <= 30_000])
def test_the_page_shows_what_the_model_says(scale: str, load: Load) -> None:
    """If this fails, the figures or the template have changed. It takes some seconds to calculate."""
    assert Row.of(simulate(load, stack.of_template(scale), figures.read())) == row(scale, load)


def test_the_file_has_all_loads() -> None:
    wanted = [(load.name, load.schedules, load.within) for load in (*report.LOADS, *report.BETWEEN)]
    for scale in stack.SCALES:
        assert [(one.name, one.schedules, one.within) for one in SCALES[scale]] == wanted


def test_the_answer_to_a_million_in_one_minute() -> None:
    """Late but all there, and on `large` within the minute that Scale promises (ADR 0122)."""
    small, large = (row(scale, report.ONE) for scale in stack.SCALES)
    assert large.latest < 60 < small.latest
    answer = re.sub(" +", " ", PAGE.split("\n## A million due in one minute\n")[1].split("\n## ")[0])
    whole = (PROJECT / "docs/decide/cost.md").read_text()
    kept = sum(float(re.findall(rf"^\| {name}.*? \| \$([\d.]+) \|", whole, re.MULTILINE)[0]) for name in WITH_IT)
    longer = float(re.findall(r"`JournalDays=90`, .*?storage is \$(\d+\.\d+)", whole)[0])
    storage = float(re.findall(rf"^\| {WITH_IT[-1]}.*? \| \$([\d.]+) \|", whole, re.MULTILINE)[0])
    for one, between in ((small, ranges.read()["small"]), (large, ranges.read()["large"])):
        kept += longer - storage if one is large else 0
        assert f"${one.million + kept:.2f}" in answer
        assert report.seconds(one.latest) in answer
        assert between.earliest <= one.latest <= between.latest
        assert between.cheapest <= one.million <= between.dearest
        assert f"| ${between.cheapest + kept:.2f} to ${between.dearest + kept:.2f} |" in answer


WITH_IT = (r"\[logs", r"\[events and journal\]", r"\[storage of the journal\]")


def test_what_the_text_says_of_few_schedules() -> None:
    medians = [row(scale, load).p50 for scale in stack.SCALES for load in (report.SECOND, report.FIFTY)]
    assert {round(one * 1000) for one in medians} == {5, 15}, "late by 5 to 15 ms"
    assert all(round(row(scale, report.SINGLE).latest) == 1 for scale in stack.SCALES), "about a second"
    imports = figures.read().imports
    assert all(round(imports[name] * 4) == 1 for name in ("delayer-relay", "executor-http-request")), "a quarter"
    assert facts.COLD.value == 0.4
    assert all(round(row(scale, report.SINGLE).million) == 8 for scale in stack.SCALES), "about $8"


def test_a_schedule_that_is_alone_is_on_time_because_the_canary_keeps_it_warm() -> None:
    """One a minute, on `small`; without that it is a second late."""
    known, small = figures.read(), stack.of_template("small")
    load = Load(name="alone", schedules=300, within=300 * 60)
    warm = simulate(load, evolve(small, warm=1, connects=True), known)
    assert warm.percentile(0.99) <= 0.25
    assert simulate(evolve(load, schedules=1), evolve(small, connects=True), known).percentile(0.99) > 1


def test_more_relays_do_not_help_against_the_ledger() -> None:
    """It takes some seconds: the model plays some hundred thousand schedules."""
    shape = stack.of_template("small")
    load = Load(name="", schedules=150_000, within=60.0)
    few, many = (
        simulate(load, evolve(shape, relay=Mapping(at_most=most), executor=Mapping(at_most=most)), figures.read())
        for most in (100, 450)
    )
    assert few.binds() == many.binds() == "writes of the ledger"
    assert many.last > 0.9 * few.last
    assert shape.ledger_writes == 4_000 == facts.WARM_WRITES.value


def test_what_a_minute_may_have_before_its_shards_bind() -> None:
    large = stack.of_template("large")
    deletes = large.shards * facts.PARTITION_WRITES.value
    assert deletes * large.period > 6_000_000, "six million"
    assert round(10_000_000 / deletes / 60) == 21, "about 21 minutes"
    assert large.relay.pollers * facts.PROVISIONED_POLLS.value * facts.QUEUE_BATCH.value == 3_000


def test_the_picture_has_a_dot_for_each_load_of_a_minute() -> None:
    assert "\n<!-- picture: scaling -->\n" in PAGE
    drawn = ElementTree.fromstring(scaling.draw())
    dots = [one for one in drawn.iter() if one.tag.removeprefix(SVG) == "circle"]
    assert len(dots) == sum(one.within == 60 for scale in SCALES.values() for one in scale)
    lines = [one for one in drawn.iter() if one.tag.removeprefix(SVG) == "polyline"]
    assert len(lines) == len(stack.SCALES)


def test_the_picture_says_what_it_shows_and_can_be_read_on_a_phone() -> None:
    drawn = ElementTree.fromstring(scaling.draw())
    title = next(one for one in drawn.iter() if one.tag.removeprefix(SVG) == "title")
    assert drawn.get("aria-labelledby") == title.get("id")
    assert "ten million" in (title.text or "")
    assert int(drawn.get("font-size") or 0) >= 12
    assert float((drawn.get("viewBox") or "").split()[2]) <= 420, "a phone shows 360 units: letters stay about as large"


def test_the_picture_names_what_binds() -> None:
    """In the words of the file, each in its place: the first loads begin with functions that start."""
    for scale in stack.SCALES:
        within = scaling.in_one_minute([{**vars_of(one)} for one in SCALES[scale]])
        stretches = list(scaling.stretches(within))
        assert stretches[0][2] == "start"
        assert {cause for _, _, cause in stretches} <= set(scaling.WORDS)


def vars_of(one: Row) -> dict[str, Any]:
    return {"schedules": one.schedules, "within": one.within, "latest": one.latest, "binds": one.binds}
