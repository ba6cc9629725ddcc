"""A Delayer in memory, to test your own code with (docs/use/testing.md)."""

try:
    from delayer_client.testing.attempts import Answer, Attempt
    from delayer_client.testing.fake_delayer import FakeDelayer
except ModuleNotFoundError as error:
    error.add_note("FakeDelayer needs the extra `testing` of delayer-client (docs/use/testing.md).")
    raise

__all__ = ["Answer", "Attempt", "FakeDelayer"]
