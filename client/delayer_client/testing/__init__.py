"""A Delayer in memory, to test your own code with (docs/use/testing.md)."""

from delayer_client.errors import install

try:
    from delayer_client.testing.attempts import Answer, Attempt
    from delayer_client.testing.fake_delayer import FakeDelayer
except ModuleNotFoundError as error:
    error.add_note(f"FakeDelayer needs the package {error.name} (docs/use/testing.md). {install('testing')}")
    raise

__all__ = ["Answer", "Attempt", "FakeDelayer"]
