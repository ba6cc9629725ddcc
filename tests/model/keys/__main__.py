"""The tables of an idempotency key, for `make model`."""

import sys

from tests.model.keys.guards import GUARDS
from tests.model.keys.search import WHOLE, search
from tests.model.tables import show

if __name__ == "__main__":
    sys.exit(show("an idempotency key", WHOLE, search, GUARDS))
