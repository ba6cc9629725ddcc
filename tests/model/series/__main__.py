"""The tables of a series, for `make model`."""

import sys

from tests.model.series.configurations import WHOLE
from tests.model.series.guards import GUARDS
from tests.model.series.search import search
from tests.model.tables import show

if __name__ == "__main__":
    sys.exit(show("a series", WHOLE, search, GUARDS))
