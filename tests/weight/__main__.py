"""`make weight`: how much there is to read, beside what it may be and what it is to become."""

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cfn import ROOT
from tests.weight.figures import Limit, figures, limits, shown, verdict
from tests.weight.stack import added


def table(found: Mapping[str, float], may: Mapping[str, Limit]) -> str:
    """A line for each figure, and below them what is to be done."""
    rows = [f"{'figure':24}{'now':>9}{'limit':>9}{'goal':>9}  what it counts"]
    for name, limit in may.items():
        goal = "" if limit.goal is None else shown(limit.goal)
        rows.append(f"{name:24}{shown(found[name]):>9}{shown(limit.limit):>9}{goal:>9}  {limit.what}")
    said = [text for name, limit in may.items() if (text := verdict(name, found[name], limit))]
    return "\n".join([*rows, *([""] if said else []), *said])


def main(argv: Sequence[str] | None = None) -> int:
    """1 if a figure does not keep its limit."""
    parser = argparse.ArgumentParser(prog="python -m tests.weight", description=__doc__)
    parser.add_argument("tree", nargs="?", type=Path, default=ROOT, help="of another revision; default: this one")
    root = parser.parse_args(argv).tree.resolve()
    logging.getLogger("samtranslator").setLevel(logging.ERROR)  # it misses the metrics that nobody wants of it
    may = {name: limit.after(added(root)) for name, limit in limits().items()}
    found = figures(root)
    print(table(found, may))
    return 0 if all(limit.is_kept_by(found[name]) for name, limit in may.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
