"""`make defects`: makes each change of a list in a copy of the tree, and says which test finds it.

`draw` writes a list; `run` measures it. A change is found if one of the tests that run its line fails, or the template's
tests, the lint, the stories of the simulation, or the end-to-end tests of its part do, in this order.
"""

import argparse
import sys
from pathlib import Path

from tests.defects import stored
from tests.defects.draw import draw


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make defects", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="draw a list of changes, and write it")
    drawing.add_argument("name")
    drawing.add_argument("--number", type=int, required=True)
    drawing.add_argument("--seed", type=int, required=True)
    given = parser.parse_args()
    known = frozenset(
        change for path in stored.FOLDER.glob("*.json") if path.stem != given.name for change in stored.read(path.stem)
    )
    stored.write(given.name, draw(Path.cwd(), given.number, given.seed, known))
    return 0


if __name__ == "__main__":
    sys.exit(main())
