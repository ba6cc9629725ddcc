"""An engine and a stack for the blocks of the pages, as `make local` and `make local-aws` start them."""

from collections.abc import Iterator

import pytest

from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.e2e.docs.place import Place, PlaceOnAws
from tests.e2e.engine import RunningEngine


@pytest.fixture(scope="module")
def place(engine: RunningEngine, receiver: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Where `make local` runs."""
    return Place(served=engine, data=engine.folder, receiver=receiver, folder=tmp_path_factory.mktemp("docs"))


@pytest.fixture(scope="module")
def place_on_aws(receiver: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaceOnAws]:
    """Where `make local-aws` runs."""
    with EmulatedStack(starts_functions=False) as stack:
        yield PlaceOnAws(served=stack, data=stack.folder, receiver=receiver, folder=tmp_path_factory.mktemp("docs"))
