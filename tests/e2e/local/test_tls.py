"""Functions that call AWS over TLS, as they do there (ADR 0169)."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from delayer.schedule.instants import SECOND
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.e2e.client import StackClient, now

pytestmark = pytest.mark.thorough


@pytest.fixture
def stack() -> Iterator[EmulatedStack]:
    """One of its own."""
    with EmulatedStack(parameters={"DelayerPeriod": "60"}, metering=True, starts_functions=False, tls=True) as stack:
        yield stack


def test_a_schedule_fires_over_tls(stack: EmulatedStack, receiver: Receiver) -> None:
    """It takes seconds: a stack of its own, and what is due in one."""
    with closing(StackClient(stack, receiver)) as client:
        client.schedule("/over-tls", now() + SECOND, {"a": 1})
        assert client.arrivals("/over-tls")
        log = (stack.folder / "emulator.log").read_text()
        assert stack.meter()["requests"], "they are metered as well"
    assert "Traceback" not in log
