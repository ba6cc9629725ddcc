"""An account of moto with nothing in it, whatever other tests of this process have left in theirs."""

from collections.abc import Iterator
from contextlib import contextmanager

from moto import mock_aws
from moto.core.base_backend import BackendDict


@contextmanager
def empty_account() -> Iterator[None]:
    """Mocks AWS. moto by itself empties its account only when the outermost of several mocks begins."""
    with mock_aws():
        BackendDict.reset()
        yield
