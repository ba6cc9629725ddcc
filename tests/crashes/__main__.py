"""`make crashes`: plays a story once, and cuts the power at each point of it. Prints the points that break a promise.

A recording with a broken promise is kept, so that one point of it can be tried alone.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import gettempdir
from typing import Final

from tests.crashes.images import Case, cases, chosen
from tests.crashes.store_story import StoreStory
from tests.crashes.trying import CrashStory, keep, kept, recorded, scratch, summary, try_on_all_processors
from tests.machine.crash_story import MachineStory

STORIES: Final[Mapping[str, Callable[[], CrashStory]]] = {"store": StoreStory, "machine": MachineStory}


def main() -> int:
    """The command line. The exit code is 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="make crashes", description=__doc__)
    parser.add_argument("--story", choices=list(STORIES), default=next(iter(STORIES)), help="which (%(default)s)")
    parser.add_argument("--at-most", type=int, help="try only so many points, some of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the choice (%(default)s)")
    parser.add_argument("--seeds", type=int, default=1, help="images of chance for each point (%(default)s)")
    parser.add_argument("--faults", type=int, default=10, help="stop after so many broken points (%(default)s)")
    parser.add_argument("--case", type=Case.from_text, help="try this point alone, with --recording")
    parser.add_argument("--recording", type=Path, help="of an earlier run, in place of a new one")
    given = parser.parse_args()
    if given.case and not given.recording:
        parser.error("--case needs --recording: a story may not run the same twice")
    story = STORIES[given.story]()
    began = time.monotonic()
    with scratch() as folder:
        recording = recorded(story, folder)
    if given.recording:
        recording = kept(given.recording)
    wanted = [given.case] if given.case else cases(recording, given.seeds)
    if given.at_most:
        wanted = chosen(recording, given.at_most, given.seed, given.seeds)
    tally = try_on_all_processors(story, recording, wanted, faults=given.faults)
    took = f"{len(recording.operations):,} operations, {tally.tried:,} crash points, {time.monotonic() - began:.0f} s"
    if not tally.faults:
        print(f"{story.name}: {took}: no promise was broken.")
        return 0
    path = given.recording or Path(gettempdir()) / f"crashes-{story.name}.recording"
    keep(recording, path)
    print(f"{story.name}: {took}, {len(tally.faults)} broken:\n{summary(tally.faults)}")
    print(f'Again: make crashes ARGS="--story {story.name} --recording {path} --case {tally.faults[0].case}"')
    return 1


if __name__ == "__main__":
    sys.exit(main())
