"""`python -m operate.verify`: the acceptance of a deployed stack."""

import signal
import sys

from delayer_client.operator.verify import Verification
from local.command.interrupts import interrupt
from local.command.progress import console, step
from operate.verify.options import parse
from operate.verify.tables import show


def main() -> int:
    """0 if everything that was asked for was checked and held, otherwise 1."""
    signal.signal(signal.SIGTERM, interrupt)
    try:
        report = Verification(parse(), step=step, say=lambda line: console.print(line, markup=False)).run()
    except KeyboardInterrupt:
        print("\nStopped. What was made is removed.")
        return 1
    show(report, console)
    return report.exit_status


if __name__ == "__main__":
    sys.exit(main())
