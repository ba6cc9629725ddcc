"""`make kills`: kills the real `delayer serve` under load again and again, and says what was promised and broken."""

import argparse
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.crashes.killing import kill_often
from tests.crashes.served import served
from tests.crashes.trying import Broken


def main() -> int:
    """The command line. The exit code is 1 if a promise was broken; then the folder is kept."""
    parser = argparse.ArgumentParser(prog="make kills", description=__doc__)
    parser.add_argument("--times", type=int, default=200, help="how many kills (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (%(default)s)")
    parser.add_argument("--folder", type=Path, help="an empty one for the data and the output, which is kept")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="kills-") as temporary:
        victim, clients = served(given.folder or Path(temporary), given.times)
        began = time.monotonic()
        with closing(clients.target):
            try:
                longest = kill_often(victim, given.times, given.seed)
            except Broken as error:
                print(f"A promise is broken {error}\nAgain: make kills ARGS='--seed {given.seed} --folder DIR'")
                return 1
        print(
            f"{given.times} kills ({clients.target.life} lives) in {time.monotonic() - began:.0f} s: "
            f"{len(clients.wanted):,} accepted, {len(clients.cancelled):,} cancelled or replaced, "
            f"{len(clients.target.arrivals):,} attempts, {clients.doubled():,} of them made again, 0 lost, "
            f"0 after a cancel; ready again after {longest:.1f} s at most."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
