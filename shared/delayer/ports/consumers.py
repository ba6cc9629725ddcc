"""The functions that handle suspects, as suspects-dispatcher asks them (ADR 0156)."""

from typing import Protocol

from delayer.ports.queue import ReceivedMessage


class Absent(Exception):
    """There is no such function."""


class Consumers(Protocol):
    """Those that read a queue whose messages become suspects."""

    def handle(self, function: str, message: ReceivedMessage) -> bool:
        """Has a function handle a message as one of the queue of suspects; whether it is done.

        Raises Absent; Unavailable if it could not be asked, Died if it did not come to its end, or not in time.
        """
        ...


class Died(Exception):
    """The function died of these records."""
