"""`make record`: writes down what the proofs find, so that a change of the code can be compared with it.

`tests/proofs/record.json` has each deliberate bug with the invariant it breaks, the seed that finds it and the short
story that is left of that seed's; the first stories, with their steps and a digest of their events; each guard of a
model with its violation, and the size of each space; and how many tests there are in each folder. The tables of
`docs/decide/proof.md` are written from the record.
"""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from os import cpu_count
from typing import Any, Final

from tests.model.configurations import WHOLE
from tests.model.guards import GUARDS
from tests.model.models import MODELS
from tests.model.search import search
from tests.proofs.stored import RECORD, as_text, short_story, stored
from tests.proofs.tables import PAGE, written
from tests.simulation.__main__ import find
from tests.simulation.bugs import BY_NAME
from tests.simulation.story.digest import digest
from tests.simulation.story.shrink import shrink
from tests.simulation.story.story import Played, Story, play

SEEDS: Final = 4000
STORIES: Final = 400  # `make test` plays those of them that are not long
WITH_DIGEST: Final = 100
WORK: Final = 60_000  # steps to make a story short: that it can be played in a second is enough


def bug(name: str) -> dict[str, Any]:
    """The first seed that finds a deliberate bug, and what is left of its story."""
    found = find(name, SEEDS)
    if found.seed is None:
        return {"seed": None, "breaks": "", "says": "", "acts": [], "surprises": [], "steps": 0}
    return _shortened(name, found.seed) or {}


def bug_again(name: str) -> dict[str, Any]:
    """That on record, as long as it finds its bug; then another of its seed; then whatever is found."""
    on_record = stored()["bugs"].get(name, {})
    if on_record.get("acts") is not None and on_record["seed"] is not None:
        with BY_NAME[name].switched_in():
            played = play(short_story(on_record))
        if _finds(name, played):
            return _entry(played)
    if on_record.get("seed") is not None and (entry := _shortened(name, on_record["seed"])):
        return entry
    return bug(name)


def _shortened(name: str, seed: int) -> dict[str, Any] | None:
    """None if the seed does not find it."""
    with BY_NAME[name].switched_in():
        played = play(Story(seed=seed))
        return _entry(shrink(played, max(WORK, 3 * played.steps))) if _finds(name, played) else None


def _finds(name: str, played: Played) -> bool:
    return played.broken is not None and played.broken.invariant is BY_NAME[name].breaks


def _entry(played: Played) -> dict[str, Any]:
    says = str(played.broken)
    return {
        "seed": played.story.seed,
        "breaks": says.partition(":")[0],
        "says": says,
        "acts": list(played.story.acts or ()),
        "surprises": [list(one) for one in sorted(played.story.surprises or ())],
        "steps": played.steps,
    }


def story(seed: int) -> tuple[int, str]:
    """How many steps it takes, and the digest of its events."""
    played = play(Story(seed=seed), aloud=True)
    return played.steps, digest(played)


def guard(name: str) -> dict[str, Any]:
    """What the model finds without a guard, and in how many steps."""
    return _violation(next(guard for guard in GUARDS if guard.name == name).search(search))


def space(name: str) -> dict[str, Any]:
    """The size of one whole space of the model."""
    found = search(WHOLE[name])
    return {"states": found.states, "steps": found.steps, "violation": found.wrong}


def model(name: str) -> dict[str, Any]:
    """The same of another model."""
    one = MODELS[name]
    found = {choice: one.search(budget) for choice, budget in one.spaces.items()}
    return {
        "spaces": {choice: {"states": each.states, "steps": each.steps} for choice, each in found.items()},
        "guards": {each.name: _violation(each.search(one.search)) for each in one.guards},
    }


def _violation(found: Any) -> dict[str, Any]:
    return {"violation": found.wrong, "steps": len(found.way), "states": found.states}


def count_tests() -> dict[str, int]:
    """How many tests there are in each folder, as pytest collects them."""
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "tests"]
    printed = subprocess.run(collect, capture_output=True, text=True, check=True).stdout
    folders = (
        line.partition("::")[0].rpartition("/")[0]
        for line in printed.splitlines()
        if line.startswith("tests/") and "::" in line
    )
    return dict(sorted(Counter(folders).items()))


def _all(of: Callable[[Any], Any], things: Iterable[Any]) -> list[Any]:
    """Of each, on all processors."""
    with ProcessPoolExecutor(cpu_count()) as pool:
        return list(pool.map(of, things))


def _by_name(of: Callable[[str], Any], names: Iterable[str]) -> dict[str, Any]:
    given = list(names)
    return dict(zip(given, _all(of, given), strict=True))


def _stories() -> dict[str, Any]:
    played = _all(story, range(STORIES))
    return {"steps": [steps for steps, _ in played], "digests": [digest for _, digest in played[:WITH_DIGEST]]}


PARTS: Final[dict[str, tuple[str, Callable[[], dict[str, Any]]]]] = {
    "bugs": ("the deliberate bugs; the story on record first", lambda: _by_name(bug_again, BY_NAME)),
    "guards": ("what the model finds without each guard", lambda: _by_name(guard, (one.name for one in GUARDS))),
    "spaces": ("the size of each space of the model (minutes)", lambda: _by_name(space, WHOLE)),
    "models": ("the spaces and the guards of the other models", lambda: _by_name(model, MODELS)),
    "stories": ("the steps of the first stories, and digests of their events", _stories),
    "tests": ("how many tests there are in each folder", count_tests),
}


def write_tables(found: dict[str, Any]) -> None:
    """The tables of the page, from the record."""
    PAGE.write_text(written(PAGE.read_text(), found))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make record", description=__doc__)
    for part, (what, _) in PARTS.items():
        parser.add_argument(f"--{part}", action="store_true", help=f"only {what}")
    parser.add_argument(
        "--tables",
        action="store_true",
        help="write only the tables of docs/decide/proof.md, from the record as it is stored",
    )
    given = vars(parser.parse_args())
    if given.pop("tables"):
        write_tables(stored())
        return 0
    found = stored()
    for part in [part for part in PARTS if given[part]] or PARTS:
        found[part] = PARTS[part][1]()
        RECORD.write_text(as_text(found))
        print(f"{part}: {len(found[part])}", flush=True)
    write_tables(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
