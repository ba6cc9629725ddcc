"""The tables of the relaxed lane, for `make model`."""

import sys

from tests.model.relaxed.guards import GUARDS
from tests.model.relaxed.search import CHOICES, search
from tests.model.tables import show

if __name__ == "__main__":
    sys.exit(show("a relaxed schedule", CHOICES, search, GUARDS))
