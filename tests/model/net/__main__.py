"""The tables of the net under the events of series, for `make model`."""

import sys

from tests.model.net.configurations import WHOLE
from tests.model.net.guards import GUARDS
from tests.model.net.search import search
from tests.model.tables import show

if __name__ == "__main__":
    sys.exit(show("the net", WHOLE, search, GUARDS))
