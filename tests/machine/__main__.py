"""`python -m tests.machine`: plays many stories, or one that is told."""

import argparse
import sys
import time
from collections import Counter
from contextlib import nullcontext

from tests.machine.bugs import BUGS, BY_NAME, find
from tests.machine.story import play


def main() -> int:
    """The command line. The exit code is 1 if a promise was broken, or a bug was not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.machine", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many (%(default)s)")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, help="this one, told")
    parser.add_argument("--bug", choices=BY_NAME, help="with this deliberate bug")
    parser.add_argument("--bugs", action="store_true", help="look for each deliberate bug")
    given = parser.parse_args()
    if given.bugs:
        return _bugs(given.bug, given.first, given.seeds)
    if given.seed is not None:
        with BY_NAME[given.bug].switched_in() if given.bug else nullcontext():
            played = play(given.seed, BY_NAME[given.bug].weather if given.bug else None)
        print(played.transcript)
        return int(played.broken is not None)
    began, broken, lives, turns = time.monotonic(), Counter[str](), 0, 0
    with BY_NAME[given.bug].switched_in() if given.bug else nullcontext():
        for seed in range(given.first, given.first + given.seeds):
            played = play(seed, BY_NAME[given.bug].weather if given.bug else None)
            lives, turns = lives + played.world.lives, turns + played.world.turns
            if played.broken:
                broken[played.broken.promise] += 1
                print(f"{seed}: {played.broken}", flush=True)
    took = time.monotonic() - began
    print(f"{given.seeds} stories, {lives} lives, {turns} turns, {took:.0f} s, broken: {dict(broken)}")
    return int(bool(broken))


def _bugs(name: str | None, first: int, seeds: int) -> int:
    missing = 0
    for bug in [BY_NAME[name]] if name else BUGS:
        began = time.monotonic()
        found = find(bug, range(first, first + seeds))
        print(f"{bug.name}: {found and (found.seed, str(found.broken))} ({time.monotonic() - began:.0f} s)", flush=True)
        missing += found is None
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
