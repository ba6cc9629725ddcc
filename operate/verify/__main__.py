"""`python -m operate.verify`: the acceptance of a deployed stack."""

import signal
import sys

from local.command.progress import console
from local.command.run import interrupt
from operate.verify.options import parse
from operate.verify.results.findings import exit_status
from operate.verify.results.report import show
from operate.verify.run import begin, verify


def main() -> int:
    """0 if everything that was asked for was checked and held, otherwise 1."""
    signal.signal(signal.SIGTERM, interrupt)
    session = begin(parse())
    try:
        verify(session)
    except KeyboardInterrupt:
        print("\nStopped. What was made is removed.")
        return 1
    show(session, console)
    return exit_status(session.findings)


if __name__ == "__main__":
    sys.exit(main())
