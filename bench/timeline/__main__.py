"""`python -m bench.timeline`: where each millisecond of a firing goes, on this machine."""

import argparse
import sys
from collections.abc import Sequence

from bench.command.options import positive
from bench.scale import report
from bench.timeline import figures
from bench.timeline.measure import measure
from local.errors import EmulatorError
from local.project import PROJECT

PAGE = PROJECT / "docs/how-it-works/journey.md"


def main(argv: Sequence[str] | None = None) -> int:
    """1 if a schedule did not come through."""
    given = parser().parse_args(argv)
    try:
        measured = measure(given.schedules) if given.schedules else figures.read()
    except EmulatorError as error:
        print(error, file=sys.stderr)
        return 1
    print(figures.table(measured))
    if given.write:
        figures.write(measured)
        report.write(PAGE, figures.MARK, figures.table(measured))
    return 0


def count(text: str) -> int:
    """A whole number; otherwise the error that argparse expects."""
    return 0 if text == "0" else positive(text)


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.timeline",
        description="Starts a stack of its own on free ports and fires schedules in it, one after the other. Prints "
        "when each step was done, by the logs of the functions, the ledger, the target and the history. 40 schedules "
        "take about three minutes.",
    )
    parser.add_argument("--schedules", type=count, default=40, metavar="N", help="default: 40; 0 reads the stored file")
    parser.add_argument(
        "--write",
        action="store_true",
        help="store the figures in bench/timeline/figures.json, from which docs/how-it-works/journey.md shows the "
        "table and the picture",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
