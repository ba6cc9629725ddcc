"""A Delayer in memory, to test your own code with (docs/testing.md)."""

from delayer_client.testing.attempts import Answer, Attempt
from delayer_client.testing.fake_delayer import FakeDelayer

__all__ = ["Answer", "Attempt", "FakeDelayer"]
