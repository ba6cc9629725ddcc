"""The tables of a call that the client repeats, for `make model`."""

import sys

from tests.model.repeats.guards import GUARDS
from tests.model.repeats.search import WHOLE, search
from tests.model.tables import show

if __name__ == "__main__":
    sys.exit(show("a call that the client repeats", WHOLE, search, GUARDS))
