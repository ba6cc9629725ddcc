"""Writes the tables that compare Delayer with other schedulers.

A hook of mkdocs. Each fact has one place: what is said of the others, with its sources, is in decide/compared.yaml; the
figures of Delayer that are measured or calculated are read from the pages that have them. A line
`<!-- compared: PROPERTY -->` becomes a table of all schedulers, `<!-- compared: beside NAME -->` one of Delayer and
another, `<!-- compared: when -->` says when each is the better choice, `<!-- compared: missing -->` what is not known.
"""

import re
from datetime import date
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parents[1] / "decide"
PLACE = re.compile(r"^<!-- compared: (.+) -->$", re.MULTILINE)
FIGURES = {  # each with the page that has it
    ("bursts", "trickle"): ("cost.md", r"^\| \*\*together\*\* \| \*\*\$([\d.]+)\*\* \| \*\*\$([\d.]+)\*\* \|$"),
    ("idle",): ("cost.md", r"costs about \$(\d+) a month"),
    ("p99",): ("benchmarks.md", r"^\| 50/s, POSTed ahead \| [\d,]+ \| [\d,]+ \| ([\d,]+) \|"),
    ("celery_p99",): ("comparison-measured.md", r"^\| celery, 50/s \| [\d,]+ \| [\d,]+ \| ([\d,]+) \|"),
}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its tables."""
    return PLACE.sub(lambda place: written(place[1]), markdown) if PLACE.search(markdown) else markdown


def written(what: str) -> str:
    """What stands in the place of a mark."""
    compared = read()
    kind, _, name = what.partition(" ")
    if kind == "when":
        return table(("scheduler", "the better choice if"), [(one["name"], one["better"]) for one in rows(compared)])
    if kind == "missing":
        return missing(compared)
    return beside(compared, name) if kind == "beside" else of_all(compared, kind)


def read() -> dict[str, Any]:
    """The file, with the figures from other pages filled in."""
    text = (FOLDER / "compared.yaml").read_text(encoding="utf-8")
    for name, figure in figures().items():
        text = text.replace(f"{{{name}}}", figure)
    compared: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return compared


def figures() -> dict[str, str]:
    """Those that other pages have, by their names in the file."""
    found: dict[str, str] = {}
    for names, (page, pattern) in FIGURES.items():
        match = re.search(pattern, (FOLDER / page).read_text(encoding="utf-8"), re.MULTILINE)
        if not match:
            raise ValueError(f"{page} does not have {' and '.join(names)} any more, which the comparison shows")
        found |= dict(zip(names, match.groups(), strict=True))
    return found


def rows(compared: dict[str, Any]) -> list[dict[str, Any]]:
    """The others, in the order of the file."""
    return list(compared["others"].values())


def of_all(compared: dict[str, Any], about: str) -> str:
    """One property of all."""
    others = [(one["name"], cell(one[about], compared)) for one in rows(compared)]
    delayer = ("**Delayer**", compared["delayer"][about])
    return table(("scheduler", compared["properties"][about]), [delayer, *others])


def beside(compared: dict[str, Any], name: str) -> str:
    """All properties of two, one below the other: three columns are too many for a phone."""
    other = compared["others"][name]
    return "\n\n".join(
        f"{said.capitalize()}\n:   **{other['name']}**: {cell(other[about], compared)}\n\n"
        f":   **Delayer**: {compared['delayer'][about]}"
        for about, said in compared["properties"].items()
    )


def missing(compared: dict[str, Any]) -> str:
    """What could not be looked up, as a list."""
    found = [(one["name"], about, one[about]) for one in rows(compared) for about in compared["properties"]]
    return "\n".join(f"- {name}, {about}: {figure['missing']}." for name, about, figure in found if "missing" in figure)


def cell(figure: dict[str, Any], compared: dict[str, Any]) -> str:
    """A value and, below it, where it comes from and when that was looked up."""
    value = figure.get("value") or f"*Not known*: {figure['missing']}"
    sources = [source(compared["sources"][name]) for name in figure.get("sources", [])]
    return value + (f' <span class="source">{"; ".join(sources)}</span>' if sources else "")


def source(one: dict[str, Any]) -> str:
    """A link, the date or version of the page, and the day on which it was read."""
    dated = f" ({day(one['dated'])})" if "dated" in one else ""
    return f"[{one['title']}]({one['url']}){dated}, read {day(one['looked_up'])}"


def day(given: date | str) -> str:
    """As people write it, such as 23 Nov 2026."""
    return f"{given.day} {given:%b %Y}" if isinstance(given, date) else given


def table(head: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    """In Markdown."""
    marked = [head, ("---",) * len(head), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in marked)
