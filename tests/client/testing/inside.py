"""A FakeDelayer, and the machine in it: for tests of what operates a machine."""

from typing import Any
from unittest.mock import patch

from delayer.serve.turns.machine import Machine
from delayer_client.testing import FakeDelayer, fake_delayer
from delayer_client.testing.stack import FakeStack


def fake_and_machine() -> tuple[FakeDelayer, Machine]:
    """Of one another."""
    made: list[FakeStack] = []

    def kept(**settings: Any) -> FakeStack:
        made.append(FakeStack(**settings))
        return made[-1]

    with patch.object(fake_delayer, "FakeStack", kept):
        fake = FakeDelayer()
    return fake, made[0].machine
