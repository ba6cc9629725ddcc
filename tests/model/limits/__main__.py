"""The tables of a limit, for `make model`."""

import sys

from tests.model.limits.guards import GUARDS
from tests.model.limits.search import WHOLE, search
from tests.model.tables import show

if __name__ == "__main__":
    sys.exit(show("a limit", WHOLE, search, GUARDS))
