"""One stack for all blocks of the pages, as `make local` starts it."""

from collections.abc import Iterator

import pytest

from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.e2e.docs.place import Place


@pytest.fixture(scope="session", autouse=True)
def scheduled_early() -> None:
    """Nothing: what the tests above schedule early is on stacks of their own, which are not needed here."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with Receiver() as receiver, EmulatedStack() as stack:
        yield Place(stack=stack, receiver=receiver, folder=tmp_path_factory.mktemp("docs"))
