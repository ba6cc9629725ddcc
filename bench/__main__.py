"""`python -m bench`: measures the stack on this machine."""

import signal
import sys

from bench.lateness import NothingArrived
from bench.measurements import measure
from bench.options import parse
from bench.report import write_json
from bench.table import show
from local.__main__ import interrupt
from local.errors import LocalStackError
from local.progress import console


def main() -> int:
    """1 if a schedule was early, lost or doubled, a call failed, or nothing could be measured; else 0."""
    signal.signal(signal.SIGTERM, interrupt)
    try:
        options = parse()
        report = measure(options)
        show(report, options, console)
        if options.json:
            write_json(options.json, options, report)
    except (LocalStackError, NothingArrived) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; nothing was kept.")
        return 1
    return 0 if report.is_correct else 1


if __name__ == "__main__":
    sys.exit(main())
