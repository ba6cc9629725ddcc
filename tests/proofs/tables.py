"""The tables of `docs/decide/proof.md` that are made from the record: each stands between two comments in the page."""

import re
from pathlib import Path
from typing import Any, Final

from tests.machine.bugs import BUGS as OF_ONE_MACHINE
from tests.machine.simulated import ELSEWHERE, FOUND
from tests.model.configurations import WHOLE
from tests.model.guards import GUARDS
from tests.model.models import MODELS
from tests.simulation.bugs import BUGS

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs/decide/proof.md"
EXAMPLE: Final = "duplicate-discards-body"  # the bug whose story the page shows how to print
PARTS: Final = ("bugs", "example", "spaces", "guards", "rules", "machine", "elsewhere")
PART: Final = re.compile(r"(?<=<!-- record: )(\w+) -->\n.*?\n(?=<!-- end -->)", re.DOTALL)


def _bugs(found: dict[str, Any]) -> list[str]:
    rows = [
        f"| `{bug.name}` | {bug.what} | {bug.whose} | {found[bug.name]['seed']} | {found[bug.name]['says']} |"
        for bug in BUGS
    ]
    return ["| bug | what it does | a defect of | found by seed | the report |", "|---|---|---|---:|---|", *rows]


def _example(found: dict[str, Any]) -> list[str]:
    marker = "<!-- not run: minutes of both processors; make test-all plays 500 stories -->"
    return [marker, "```console", f'make simulate SEED={found[EXAMPLE]["seed"]} ARGS="--bug {EXAMPLE}"', "```"]


def _guards(found: dict[str, Any]) -> list[str]:
    rows = [
        f"| `{guard.name}` | {guard.what} | {found[guard.name]['steps']} | {found[guard.name]['violation']} |"
        for guard in GUARDS
    ]
    return ["| guard that is removed | what happens then | steps | the search finds |", "|---|---|---:|---|", *rows]


def _rules(found: dict[str, Any]) -> list[str]:
    """The guards of all other models."""
    rows = [
        f"| {model.of} | {guard.name} | {guard.what} | {of['steps']} | {of['violation']} |"
        for name, model in MODELS.items()
        for guard in model.guards
        for of in [found[name]["guards"][guard.name]]
    ]
    head = "| model of | rule that is removed | what happens then | steps | the search finds |"
    return [head, "|---|---|---|---:|---|", *rows]


def _spaces(found: dict[str, Any]) -> list[str]:
    rows = [
        f"| {name} | {found[name]['states']:,} | {found[name]['steps']:,} | {found[name]['violation'] or 'none'} |"
        for name in WHOLE
    ]
    states, steps = (sum(found[name][what] for name in WHOLE) for what in ("states", "steps"))
    total = f"| sum of all | {states:,} | {steps:,} | |"
    return ["| faults | states | steps | violations |", "|---|---:|---:|---|", *rows, total]


def _machine() -> list[str]:
    """The deliberate bugs of one machine that the simulation does not have."""
    rows = [f"| `{bug.name}` | {bug.what} | {bug.breaks} |" for bug in OF_ONE_MACHINE]
    return ["| bug | what it does | the promise that it breaks |", "|---|---|---|", *rows]


def _elsewhere() -> list[str]:
    """Those of the simulation that make no sense on one machine, by their reasons."""
    named: dict[str, list[str]] = {}
    for name, reason in ELSEWHERE.items():
        named.setdefault(reason, []).append(f"`{name}`")
    rows = [f"| {reason} | {', '.join(names)} |" for reason, names in named.items()]
    count = f"Of the {len(FOUND) + len(ELSEWHERE)} bugs of the simulation, {len(FOUND)} are found on one machine, too."
    return [f"{count} The others are not put in:", "", "| because | bugs |", "|---|---|", *rows]


def tables(record: dict[str, Any]) -> dict[str, str]:
    """Each part of the page that is made from the record, by the name in its comment."""
    parts = {
        "bugs": _bugs(record["bugs"]),
        "example": _example(record["bugs"]),
        "spaces": _spaces(record["spaces"]),
        "guards": _guards(record["guards"]),
        "rules": _rules(record["models"]),
        "machine": _machine(),
        "elsewhere": _elsewhere(),
    }
    return {name: "\n".join(lines) for name, lines in parts.items()}


def shown(page: str) -> dict[str, str]:
    """The parts as they are in the page."""
    return {found[1]: found[0].partition("-->\n")[2].strip() for found in PART.finditer(page)}


def written(page: str, record: dict[str, Any]) -> str:
    """The page with the parts that the record gives."""
    parts = tables(record)
    return PART.sub(lambda found: f"{found[1]} -->\n\n{parts[found[1]]}\n\n", page)
