"""The tables of a decision, for `make model`."""

import sys

from tests.model.tables import show
from tests.model.timing.guards import GUARDS
from tests.model.timing.search import WHOLE, search

if __name__ == "__main__":
    sys.exit(show("a time that is decided", WHOLE, search, GUARDS))
