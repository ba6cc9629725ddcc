"""The tables of messages that come back, for `make model`."""

import sys

from tests.model.suspects.guards import GUARDS
from tests.model.suspects.search import WHOLE, search
from tests.model.tables import show

if __name__ == "__main__":
    sys.exit(show("messages that come back", WHOLE, search, GUARDS))
