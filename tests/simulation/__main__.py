"""`make simulate`: plays many stories. Prints the shortest version of the first one that fails.

Or it shows that each deliberate bug is found.
"""

import argparse
import sys
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing
from os import cpu_count

from attrs import frozen

from tests.simulation.bugs import BUGS, BY_NAME
from tests.simulation.bugs.bug import BrokenBug, Bug
from tests.simulation.oracle.invariant import Invariant
from tests.simulation.story.shrink import shrink
from tests.simulation.story.story import Played, Story, play
from tests.simulation.story.transcript import transcript

CHUNK = 25  # stories that a process plays at a time


@frozen
class Chunk:
    """What became of some stories."""

    played: int
    steps: int
    failing: tuple[Played, ...]


def play_some(seeds: Sequence[int]) -> Chunk:
    """Plays them one after the other."""
    all_played = [play(Story(seed=seed)) for seed in seeds]
    return Chunk(
        len(seeds), sum(played.steps for played in all_played), tuple(played for played in all_played if played.broken)
    )


def play_all(first: int, number: int) -> Generator[Chunk, None, None]:
    """On all processors; in the order of the seeds, so that the same seed is reported each time."""
    chunks = [range(start, min(start + CHUNK, first + number)) for start in range(first, first + number, CHUNK)]
    pool = ProcessPoolExecutor(cpu_count())
    try:
        yield from pool.map(play_some, chunks)
    finally:
        pool.shutdown(cancel_futures=True)


def simulate(first: int, number: int) -> int:
    """Plays the stories, and prints the first one that fails. The exit code."""
    if number < 1:
        print("Nothing to play: SEEDS must be 1 or more.", file=sys.stderr)
        return 2
    began, done, steps = time.monotonic(), 0, 0
    with closing(play_all(first, number)) as chunks:
        for chunk in chunks:
            done, steps = done + chunk.played, steps + chunk.steps
            if chunk.failing:
                break
            _progress(f"{done:,} of {number:,} stories, {time.monotonic() - began:.0f} s")
    _progress("")
    if chunk.failing:
        worst = chunk.failing[0]
        print(f"Seed {worst.story.seed} fails: {worst.broken}. It is made short now.", flush=True)
        print(transcript(shrink(worst)))
        return 1
    print(f"{number:,} stories, {steps:,} steps, {time.monotonic() - began:.0f} s: no invariant was broken.")
    return 0


def replay(seed: int, bug: Bug | None) -> int:
    """Prints one story; its shortest version, if it fails."""
    with bug.switched_in() if bug else ExitStack():
        played = play(Story(seed=seed), aloud=True)
        again = f' ARGS="--bug {bug.name}"' if bug else ""
        print(transcript(shrink(played) if played.broken else played, again))
    return 1 if played.broken else 0


@frozen
class Found:
    """By which seed a bug was found, and how."""

    seed: int | None
    broken: str


def find(name: str, seeds: int) -> Found:
    """Switches the bug in, and plays until the invariant is broken that it must break."""
    bug = BY_NAME[name]
    with bug.switched_in():
        for seed in range(seeds):
            broken = play(Story(seed=seed)).broken
            if broken and broken.invariant is Invariant.NO_DEFECT:
                raise BrokenBug(f"{name}, seed {seed}: {broken.what}")
            if broken and broken.invariant is bug.breaks:
                return Found(seed, str(broken))
    return Found(None, "")


def find_all(seeds: int) -> int:
    """The table of bugs, as it is in the documentation. The exit code."""
    print("| bug | what it does | a defect of | found by seed | which says |\n|---|---|---|---:|---|")
    missed = 0
    with ProcessPoolExecutor(cpu_count()) as pool:
        for bug, found in zip(BUGS, pool.map(find, BY_NAME, [seeds] * len(BUGS)), strict=True):
            missed += found.seed is None
            seed = "not found" if found.seed is None else str(found.seed)
            print(f"| `{bug.name}` | {bug.what} | {bug.whose} | {seed} | {found.broken} |", flush=True)
    return 1 if missed else 0


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument("--seeds", type=int, default=500, help="how many stories to play (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (%(default)s)")
    parser.add_argument("--seed", type=int, help="print this one story")
    parser.add_argument("--bug", choices=list(BY_NAME), help="with --seed: play the story with this bug")
    parser.add_argument("--bugs", action="store_true", help="find each deliberate bug, and print the table")
    given = parser.parse_args()
    if given.bug and given.seed is None:
        parser.error("--bug needs --seed; --bugs prints which seed finds it")
    if given.seed is not None:
        return replay(given.seed, BY_NAME.get(given.bug))
    return find_all(given.seeds) if given.bugs else simulate(given.first, given.seeds)


if __name__ == "__main__":
    sys.exit(main())
