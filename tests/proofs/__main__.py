"""`make record`: writes down what the proofs find, so that a change of the code can be compared with it.

`tests/proofs/record.json` has each deliberate bug with the seed that finds it and the invariant it breaks, each guard
of the model with its violation, and the size of each of the model's spaces; `tests/proofs/test-ids.txt` has all tests.
The tables of `docs/decide/proof.md` are written from the record.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from os import cpu_count
from pathlib import Path
from typing import Any, Final

from tests.model.configurations import WHOLE
from tests.model.guards import GUARDS
from tests.model.search import search
from tests.proofs.tables import PAGE, RECORD, stored, written
from tests.simulation.__main__ import find
from tests.simulation.bugs import BUGS, BY_NAME
from tests.simulation.story.story import Story, play

TEST_IDS: Final = Path(__file__).with_name("test-ids.txt")
SEEDS: Final = 4000


def bug(name: str) -> dict[str, Any]:
    """The first seed that finds a deliberate bug, and what breaks."""
    found = find(name, SEEDS)
    return {"seed": found.seed, "breaks": found.broken.partition(":")[0], "says": found.broken}


def bug_again(name: str) -> dict[str, Any]:
    """The same; the story on record first, and the others only if that one does not find it any more."""
    known, seed = BY_NAME[name], stored()["bugs"].get(name, {}).get("seed")
    if seed is not None:
        with known.switched_in():
            broken = play(Story(seed=seed)).broken
        if broken and broken.invariant is known.breaks:
            return {"seed": seed, "breaks": str(broken).partition(":")[0], "says": str(broken)}
    return bug(name)


def bugs_again() -> dict[str, Any]:
    """The record, with its bugs brought up to date."""
    names = [one.name for one in BUGS]
    with ProcessPoolExecutor(cpu_count()) as pool:
        return {**stored(), "bugs": dict(zip(names, pool.map(bug_again, names), strict=True))}


def guard(name: str) -> dict[str, Any]:
    """What the model finds without a guard, and in how many steps."""
    found = next(guard for guard in GUARDS if guard.name == name).search()
    return {"violation": found.wrong, "steps": len(found.way)}


def space(name: str) -> dict[str, Any]:
    """The size of one whole space of the model."""
    found = search(WHOLE[name])
    return {"states": found.states, "steps": found.steps, "violation": found.wrong}


def record() -> dict[str, Any]:
    """All of it, on all processors."""
    parts = {
        "bugs": (bug, [one.name for one in BUGS]),
        "guards": (guard, [one.name for one in GUARDS]),
        "spaces": (space, list(WHOLE)),
    }
    with ProcessPoolExecutor(cpu_count()) as pool:
        return {part: dict(zip(names, pool.map(of, names), strict=True)) for part, (of, names) in parts.items()}


def test_ids() -> list[str]:
    """As pytest names them."""
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "tests"]
    printed = subprocess.run(collect, capture_output=True, text=True, check=True).stdout
    return sorted(line for line in printed.splitlines() if "::" in line)


def write_tables(found: dict[str, Any]) -> None:
    """The tables of the page, from the record."""
    PAGE.write_text(written(PAGE.read_text(), found))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make record", description=__doc__)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--ids", action="store_true", help="write only the list of tests")
    only.add_argument(
        "--bugs", action="store_true", help="only the deliberate bugs, and of each the story on record first (a minute)"
    )
    only.add_argument(
        "--tables",
        action="store_true",
        help="write only the tables of docs/decide/proof.md, from the record as it is stored",
    )
    given = parser.parse_args()
    if given.tables:
        write_tables(stored())
        return 0
    ids = test_ids()
    TEST_IDS.write_text("\n".join(ids) + "\n")
    print(f"{len(ids):,} tests")
    if not given.ids:
        found = bugs_again() if given.bugs else record()
        RECORD.write_text(json.dumps(found, indent=1) + "\n")
        write_tables(found)
        print(", ".join(f"{len(things)} {part}" for part, things in found.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
