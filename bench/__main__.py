"""`python -m bench`: measures the stack on this machine."""

import signal
import sys

from bench.command.options import Options, parse
from bench.measure.lateness import NothingArrived
from bench.peers import report as peers_report
from bench.peers.names import OURS
from bench.peers.run import measure_peers
from bench.report.figures import write_json
from bench.report.tables import show
from bench.run import measure
from local.command.interrupts import interrupt
from local.command.progress import console
from local.errors import EmulatorError


def main() -> int:
    """1 if a schedule was early, lost or doubled, a call failed, or nothing could be measured; otherwise 0."""
    signal.signal(signal.SIGTERM, interrupt)
    try:
        options = parse()
        if options.peers:
            return compare(options)
        report = measure(options)
        show(report, options, console)
        if options.json:
            write_json(options.json, options, report)
    except (EmulatorError, NothingArrived) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Nothing was saved.")
        return 1
    return 0 if report.is_correct else 1


def compare(options: Options) -> int:
    """Measure Delayer beside other schedulers. 1 if Delayer broke a promise; otherwise 0, whatever the others did."""
    outcomes = measure_peers(options)
    peers_report.show(outcomes, console)
    if options.json:
        peers_report.write_json(options.json, options, outcomes)
    return 0 if all(one.is_correct for one in outcomes if one.name in OURS) else 1


if __name__ == "__main__":
    sys.exit(main())
