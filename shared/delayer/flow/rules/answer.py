"""The answers of a line and of a room: a schedule that is due goes on, or is looked at again later."""

from typing import Generic, TypeVar

from attrs import frozen

from delayer.flow.rules.block import Block
from delayer.schedule.instants import Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage

Message = TypeVar("Message", DelayerMessage, ExecutorMessage)


@frozen(kw_only=True)
class Go(Generic[Message]):
    """Nothing is in its way."""

    message: Message  # with the turns that are booked for it, and its age
    at: Millis  # when its attempt may begin: its turn, or its due time; of `enter` up to PREPARE ahead
    is_probe: bool = False  # of `enter` alone: it is let through to see whether its target answers


@frozen(kw_only=True)
class Later(Generic[Message]):
    """Not now. It is held until then if that is near, else it is sent again with a delay."""

    message: Message  # as in Go
    at: Millis  # when it is to be looked at again
    why: Block | None  # None: it is only not due yet
