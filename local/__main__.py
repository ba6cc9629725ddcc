"""`python -m local`: the whole stack on this machine, until Ctrl-C."""

import sys

from local.command.run import main

if __name__ == "__main__":
    sys.exit(main())
