"""What a sceptic asks: one link for each on the home page, and short answers that agree with the pages behind."""

import re

import pytest

from tests.cfn import ROOT
from tests.running.of_each import of_each

DOCS = ROOT / "docs"
HOME = (DOCS / "index.md").read_text().split("\n## What a sceptic asks\n")[1].split("\n## ")[0]
ON_HOME = re.findall(r"^\| (.+\?) \| \[[^\]]+\]\(([^)]+)\) \|$", HOME, re.MULTILINE)
PAGE = (DOCS / "decide/questions.md").read_text()
ANSWERS = dict(re.findall(r"^## (.+)\n\n(.+)\n", PAGE, re.MULTILINE))


def links(answer: str) -> list[str]:
    """From the root of the site."""
    return [
        (DOCS / "decide" / path).resolve().relative_to(DOCS).as_posix() + anchor
        for path, anchor in re.findall(r"\]\(([^)#]+)(#[^)]*)?\)", answer)
    ]


def test_there_are_fifteen_each_answered_by_one_click() -> None:
    assert len(ON_HOME) == len(ANSWERS) == 15


@of_each(ON_HOME, unpacked=True)
def test_the_short_answer_leads_to_the_same_page(question: str, link: str) -> None:
    [answer] = [text for asked, text in ANSWERS.items() if asked.startswith(question.removesuffix("?").split(",")[0])]
    assert links(answer) == [link]


def test_the_million_is_that_of_the_model() -> None:
    scale = (DOCS / "how-it-works/scale.md").read_text()
    answer = ANSWERS["What does a million due in one minute cost, and how late is the last?"]
    box = scale.split("<!-- answer -->")[1].split("<!-- end")[0]
    for name in ("small", "large"):
        [cells] = [line.split("|") for line in box.splitlines() if line.startswith(f"| `{name}`")]
        dollars, latest = cells[2].strip(), cells[5].strip()
        assert f"{latest} late" in answer
        assert f"costs {dollars}" in answer


@pytest.mark.parametrize("page", ["decide/guarantees.md", "operate/operations.md"])
def test_how_many_fire_in_a_minute_is_that_of_the_model(page: str) -> None:
    scale = (DOCS / "how-it-works/scale.md").read_text().split("<!-- throughput -->")[1].split("<!-- end")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| +([\d,]+) \|$", scale, re.MULTILINE))
    [row] = re.findall(r"^\| schedules that fire in one minute \|.+$", (DOCS / page).read_text(), re.MULTILINE)
    assert rows["small"] + " with `Scale=small`" in row
    assert rows["large"] + " with `large`" in row


def test_the_prices_are_those_of_the_page_on_cost() -> None:
    cost = (DOCS / "decide/cost.md").read_text()
    for figure in ("$506 a month", "about $6", "$2.85 for what fires", "$3.45 for what watches", "52 cents"):
        assert figure.lower() in cost.lower()
        assert figure.lower() in PAGE.lower()
    bursts, trickle = re.findall(
        r"^\| \*\*together\*\* \| \*\*\$([\d.]+)\*\* \| \*\*\$([\d.]+)\*\* \|$", cost, re.MULTILINE
    )[0]
    assert f"Delayer costs ${float(bursts):.0f} to ${float(trickle):.0f}," in PAGE


def test_the_home_page_has_the_measured_figures() -> None:
    """Of the table of one run of the benchmark: p50, p99, and when the last came. README has some of them."""
    text = (DOCS / "decide/comparison-measured.md").read_text()
    rows = {
        name: cells.split(" | ")
        for name, cells in re.findall(r"^\| delayer-serve, (.*?) \| [\d,]+ \| (.+) \|$", text, re.MULTILINE)
    }
    p50, p99, _, *_ = rows["50/s"]
    last = rows["3,000 at one instant"][3]
    home, readme = (DOCS / "index.md").read_text(), " ".join((ROOT / "README.md").read_text().split())
    assert f"within {p50} ms after their point in time, 99 of 100 within {p99} ms" in home
    assert f"99 of 100 reached the target within {p99} ms after their point in time" in readme
    assert f"POSTs a second at the same time: 99 of 100 within {rows['50/s beside POSTs'][1]} ms" in home
    assert f"within one second: 99 of 100 within {rows['500 within a second'][1]} ms" in home
    assert f"the last one was {last} late" in home
    assert f"of 3,000 at one instant the last after {last}" in readme
    measured = (DOCS / "decide/benchmarks.md").read_text()
    series = re.search(r"^\| 10,000 series of one minute \| [\d,]+ \| \d+ \| (\d+) ", measured, re.MULTILINE)
    assert series
    assert f"99 of 100 occurrences within {series[1]} ms" in home
