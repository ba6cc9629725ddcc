"""The tables of the seats of a limit, for `make model`."""

import sys

from tests.model.seats.guards import GUARDS
from tests.model.seats.search import WHOLE, search
from tests.model.tables import show

if __name__ == "__main__":
    sys.exit(show("seats", WHOLE, search, GUARDS))
