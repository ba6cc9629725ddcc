"""A standard SQS queue, as its senders and its consumers see it."""

from collections.abc import Sequence
from typing import Protocol

from attrs import field, frozen
from attrs.validators import ge, le

from delayer.core.schedule.instants import Millis
from delayer.core.schedule.margins import MAX_DELAY_SECONDS


@frozen(kw_only=True)
class Outgoing:
    """A message to be sent."""

    body: str
    delay_seconds: int = field(default=0, validator=[ge(0), le(MAX_DELAY_SECONDS)])
    message_group: str = ""  # a backlog of one group does not hold up the others; empty: a group of its own
    once: str = ""  # for a FIFO queue, which takes one of all messages with the same text here


@frozen(kw_only=True)
class ReceivedMessage:
    """A message as a function receives it."""

    message_id: str
    body: str
    source: str = ""  # the name of its queue
    sent_at: Millis = 0  # when it was sent; 0 if that is not known
    origin: str = ""  # the name of the queue from which SQS has moved it, if it has
    receives: int = 1  # about how often it was received, with this time; perhaps no function has seen it before
    receipt: str = ""  # with which it is deleted or given back


class NotBegun(str):
    """The id of a message with which nothing was done at all, for want of time: it may come again at once."""


class SendsMessages(Protocol):
    """Part of Queue."""

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        """Sends all, in as few requests as may be. Returns the positions of those not known to be sent."""
        ...


class GivesBack(Protocol):
    """Part of Queue."""

    def give_back(self, messages: Sequence[ReceivedMessage], seconds: int = 0) -> None:
        """They were not handled: others may receive them after so many seconds.

        Up to ten. If that fails, others may after the visibility timeout.
        """
        ...


class PullsMessages(GivesBack, Protocol):
    """Part of Queue."""

    def pull(self, at_most: int) -> list[ReceivedMessage]:
        """Up to ten that are visible, at once: none if SQS finds none right now. Raises Unavailable."""
        ...

    def delete(self, received: ReceivedMessage) -> None:
        """It was handled. If that fails, it comes again, and its ledger row says that it was."""
        ...


class MeasuresBacklog(Protocol):
    """Part of Queue."""

    def visible(self) -> int:
        """About how many messages wait to be received, delayed ones not counted."""
        ...


class CountsMessages(MeasuresBacklog, Protocol):
    """Part of Queue."""

    def delayed(self) -> int:
        """About how many messages are there that cannot be received yet, because they were sent with a delay."""
        ...


class Queue(SendsMessages, PullsMessages, CountsMessages, Protocol):
    """All of it."""
