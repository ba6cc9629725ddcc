"""The tables of a circuit, for `make model`."""

import sys

from tests.model.circuit.guards import GUARDS
from tests.model.circuit.search import WHOLE, search
from tests.model.tables import show

if __name__ == "__main__":
    sys.exit(show("a circuit", WHOLE, search, GUARDS))
