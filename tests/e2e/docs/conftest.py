"""One stack for the blocks of a module, as `make local-aws` starts it, and the readers who run them."""

from collections.abc import Iterator

import pytest

from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.e2e.docs.place import Place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with Receiver() as receiver, EmulatedStack(starts_functions=False) as stack:
        yield Place(stack=stack, receiver=receiver, folder=tmp_path_factory.mktemp("docs"))
